"""Says of a member whose calls come to nothing that it does, for whoever looks for what holds jobs up."""

import structlog

from fairway.runtime.ports import Clock

log = structlog.get_logger()
# Every call is tried again each second, of each job: the same is said of a cluster this often at most.
_AGAIN_MS = 10_000


class Unanswered:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._told: dict[str, int] = {}

    def by(self, cluster: str, job: str, cause: str) -> None:
        now = self._clock.now()
        last = self._told.get(cluster)
        if last is None or now >= last + _AGAIN_MS:
            self._told[cluster] = now
            log.warning("tried again", service="propagator", cluster=cluster, job=job, cause=cause[:500])
