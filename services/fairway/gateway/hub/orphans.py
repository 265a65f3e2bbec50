"""Jobs whose object on the hub is gone."""

from collections.abc import Container

from fairway.domain.job import Job
from fairway.runtime.cluster_port import Cluster


async def orphaned(hub: Cluster, job: Job, present: Container[str]) -> bool:
    """Whether the object of a hub's job is gone for certain: if its uid is not `present`, the hub itself is asked."""
    if job.spec is None or job.spec.hub is None or job.ended or job.cancelling:
        return False
    if job.spec.hub.uid in present:
        return False
    work = job.spec.workload
    there = await hub.get(work.key, work.namespace, work.name)
    if there is not None:
        return bool(there["metadata"].get("uid") != job.spec.hub.uid)
    return work.key in await hub.served()
