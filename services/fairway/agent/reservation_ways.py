"""How room can be held in this member beside the ledger: asked of its schedulers' leases, or told by its settings."""

from datetime import datetime

from fairway.runtime.cluster_port import Cluster, ClusterRefused
from fairway.wire.capacity import AUTO, LEDGER, PLACEHOLDERS, RESERVATIONS

_LEASE = "Lease.coordination.k8s.io/v1"
# A scheduler renews its lease every two seconds; clocks of two machines differ.
_FRESH_MS = 60_000
# Where a scheduler's lease lies: kube-scheduler's own place, and those of Koordinator's chart.
_SCHEDULERS = (
    (RESERVATIONS, ("koordinator-system", "kube-system"), "koord-scheduler"),
    (PLACEHOLDERS, ("kube-system",), "kube-scheduler"),
)


async def ways(cluster: Cluster, reserve: str, now: int) -> tuple[str, ...]:
    """The best first. `reserve` is one of wire.capacity.RESERVE: a way that is named is taken at its word. Raises
    Unreachable; a lease that may not be read is none."""
    if reserve != AUTO:
        return () if reserve == LEDGER else (reserve,)
    return tuple([way for way, places, name in _SCHEDULERS if await _alive(cluster, places, name, now)])


async def _alive(cluster: Cluster, places: tuple[str, ...], name: str, now: int) -> bool:
    for namespace in places:
        try:
            lease = await cluster.get(_LEASE, namespace, name)
        except ClusterRefused:
            continue
        if lease is not None and now - _renewed(lease) < _FRESH_MS:
            return True
    return False


def _renewed(lease: dict[str, object]) -> int:
    """Milliseconds; 0 when it does not say."""
    spec = lease.get("spec")
    text = spec.get("renewTime") if isinstance(spec, dict) else None
    try:
        return int(datetime.fromisoformat(str(text)).timestamp() * 1000)
    except (ValueError, OverflowError):  # a time that no calendar has
        return 0
