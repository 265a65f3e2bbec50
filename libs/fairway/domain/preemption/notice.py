"""How long an attempt that is evicted has: a notice before its deletion, then grace for its pods. Pure."""

from msgspec import Struct

from fairway.domain.job import Job, State

# A pod without any would be gone from its cluster's API while what it runs may go on (ms).
_LEAST_GRACE_MS = 1_000


class EvictionTimes(Struct, frozen=True):
    """It is deleted no sooner than `delete_at` (0: at once); then its pods have `grace` ms at most."""

    delete_at: int
    grace: int


def eviction_times(job: Job, most: int, now: int) -> EvictionTimes:
    """Together they are no longer than `most` ms. What does not run yet has nothing to save, and gets no notice."""
    asked = job.spec.evict_notice if job.spec is not None and job.state is State.RUNNING else 0
    notice = min(asked, most)
    return EvictionTimes(now + notice if notice else 0, max(_LEAST_GRACE_MS, most - notice))
