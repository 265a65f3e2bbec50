"""How much each tenant may submit through this gateway, over HTTP and from the hub together."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter

from msgspec import Struct

from fairway.domain import decision
from fairway.domain.decision import Say
from fairway.domain.tenancy.submission_limits import Limits, SubmissionRate, limit_for, too_fast, too_many
from fairway.gateway.hub.objects import HubObject
from fairway.gateway.hub.pending_updates import PendingUpdates
from fairway.gateway.reader import Reader
from fairway.runtime.ports import Wanted, World
from fairway.wire.reasons import Reason

# Nobody knows when a pending job goes: it is worth another look after this long (ms).
PENDING_MS = 5_000
# What comes from the hub is looked at in pieces: not for each single one that may go (ms).
_LEAST_MS = 250


class TooMuch(Struct, frozen=True):
    """Why not now, and after how many milliseconds to ask again."""

    why: Reason
    wait_ms: int


class Limiter:
    """`limits` gives those of the tenants that have any, as they are now. Jobs on their way to admission do not count
    as pending yet: by so many a tenant may have more. `kept` are the hub's objects that wait, by uid."""

    def __init__(self, world: World, limits: Callable[[], Mapping[str, Limits]]) -> None:
        self._limits = limits
        self._clock = world.clock
        self._rows = Reader(world.store)
        self._pace = SubmissionRate()
        self._until: dict[str, int] = {}
        self.kept: dict[str, Reason] = {}

    async def pending(self, tenants: Iterable[str]) -> dict[str, int]:
        """How many jobs are, by tenant, if any of these is limited by it. Raises Unreachable."""
        if not any(limit_for(tenant, self._limits()).pending for tenant in tenants):
            return {}
        found = await self._rows.read(Wanted(whole=(decision.PENDING,)))
        return found.counters.get(decision.PENDING, {})

    def take(self, tenant: str, pending: dict[str, int]) -> TooMuch | None:
        """None: one more job may be submitted, and counts as such."""
        limit = limit_for(tenant, self._limits())
        now = self._clock.now()
        too_much = None
        if why := too_many(tenant, limit, pending.get(tenant, 0)):
            too_much = TooMuch(why, PENDING_MS)
        elif wait_ms := self._pace.wait(tenant, limit.rate, now):
            too_much = TooMuch(too_fast(tenant, limit), wait_ms)
        if too_much is None:
            pending[tenant] = pending.get(tenant, 0) + 1
        else:
            self._until = {name: until for name, until in self._until.items() if until > now}
            self._until[tenant] = now + max(too_much.wait_ms, _LEAST_MS)
        return too_much

    async def let_in(
        self, said: Sequence[tuple[HubObject, Say]], updates: PendingUpdates
    ) -> tuple[list[Say], list[HubObject]]:
        """What may be said now, and the objects that have to wait: the hub keeps them. Each is told so once. Raises
        Unreachable."""
        pending = await self.pending({one.namespace for one, _ in said})
        words = list[Say]()
        kept = list[HubObject]()
        for one, say in said:
            if (too_much := self.take(one.namespace, pending)) is None:
                updates.unclaimed.pop(one.uid, None)
                self.kept.pop(one.uid, None)
                words.append(say)
                continue
            kept.append(one)
            if self.kept.setdefault(one.uid, too_much.why) is too_much.why:
                updates.lacks(one, too_much.why, self._clock.now())
        return words, kept

    def until(self, tenant: str) -> int:
        """When it is worth asking again; 0: at once."""
        return self._until.get(tenant, 0)


def in_turn(objects: Iterable[HubObject]) -> list[HubObject]:
    """The first of each tenant, then the second of each, and so on."""
    counts: dict[str, int] = {}
    turns: list[tuple[int, HubObject]] = []
    for one in objects:
        turn = counts[one.namespace] = counts.get(one.namespace, 0) + 1
        turns.append((turn, one))
    return [one for _, one in sorted(turns, key=itemgetter(0))]
