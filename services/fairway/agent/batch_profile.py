"""Whether pods on batch resources are converted in this member: by Koordinator's webhook, where a join made the
ClusterColocationProfile that selects them. Anywhere else they would take the cpu and memory of online pods."""

from fairway.domain.batch_resources import PROFILE, PROFILE_KIND
from fairway.runtime.cluster_port import Cluster, ClusterRefused


async def converts(cluster: Cluster) -> bool:
    """Raises Unreachable. What may not be read is not there."""
    try:
        return await cluster.get(PROFILE_KIND, "", PROFILE) is not None
    except ClusterRefused:
        return False
