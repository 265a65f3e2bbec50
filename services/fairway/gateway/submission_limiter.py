"""How much each tenant may submit through this gateway."""

from collections.abc import Callable, Iterable, Mapping

from fairway.domain import decision
from fairway.domain.tenancy.submission_limits import Limits, Refusal, SubmissionPace, limit_for, too_many
from fairway.gateway.reader import Reader
from fairway.runtime.ports import Wanted, World

# Nobody knows when a pending job goes: it is worth another look after this long (ms).
PENDING_MS = 5_000


class Limiter:
    """`limits` gives those of the tenants that have any, as they are now. Jobs on their way to admission do not count
    as pending yet: by so many a tenant may have more."""

    def __init__(self, world: World, limits: Callable[[], Mapping[str, Limits]]) -> None:
        self._limits = limits
        self._clock = world.clock
        self._rows = Reader(world.store)
        self._pace = SubmissionPace()

    async def pending(self, tenants: Iterable[str]) -> dict[str, int]:
        """How many jobs are, by tenant, if any of these is limited by it. Raises Unreachable."""
        if not any(limit_for(tenant, self._limits()).pending for tenant in tenants):
            return {}
        found = await self._rows.read(Wanted(whole=(decision.PENDING,)))
        return found.counters.get(decision.PENDING, {})

    def take(self, tenant: str, size: int, pending: dict[str, int]) -> Refusal | None:
        """None: one more job of so many bytes may be submitted, and counts as such."""
        limit = limit_for(tenant, self._limits())
        if why := too_many(tenant, limit, pending.get(tenant, 0)):
            return Refusal(why, PENDING_MS)
        if refusal := self._pace.refusal(tenant, limit, size, self._clock.now()):
            return refusal
        pending[tenant] = pending.get(tenant, 0) + 1
        return None
