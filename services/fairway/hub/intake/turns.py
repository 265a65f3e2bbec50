"""Which objects are to be submitted, and when: a part of the memory."""

from collections.abc import Iterable, Mapping
from operator import itemgetter

from msgspec import Struct

from fairway.domain.tenancy.submission_limits import Limits, SubmissionPace, limit_for
from fairway.hub.intake.submission_delay import SubmissionDelay
from fairway.hub.intake.waiting_objects import WaitingObjects
from fairway.hub.settings.settings_in_force import SettingsInForce
from fairway.workloads.hub.objects import HubObject

# Objects that are submitted together.
MOST = 256


class TurnRows(Struct):
    """As far as it was asked: the jobs that have a name, by its key, and the uids of objects whose name a job has that
    is `unread`; the newest job of a client, by its key; how many jobs are pending, by tenant."""

    names: dict[str, str] = {}
    clients: dict[str, str] = {}
    pending: dict[str, int] = {}
    unread: frozenset[str] = frozenset()


class SubmissionTurns:
    """`ready` are the objects that may be submitted, as far as is known, by uid; `until` when it is worth looking at
    one again that had to wait (ms), `holders` the jobs for whose end some wait, because they have their names.
    `batch` are those in hand, and `next_at` is when the next turn comes (None: none is to come). `rows` were
    read for them. `freed_now`: a message in hand says that a name is free."""

    def __init__(self, settings: SettingsInForce) -> None:
        self._settings = settings
        self.delay = SubmissionDelay(settings.room.named, settings.has)
        self.ready: dict[str, HubObject] = {}
        self.until: dict[str, int] = {}
        self.holders: dict[str, set[str]] = {}
        self.pace = SubmissionPace()
        self.batch: tuple[HubObject, ...] = ()
        self.next_at: int | None = None
        self.rows = TurnRows()
        self.freed_now = False

    @property
    def room(self) -> WaitingObjects:
        return self._settings.room

    def put(self, one: HubObject, until: int = 0) -> None:
        """It is to be looked at, and not before `until`."""
        if one.uid in self.room.waiting:
            self.room.leave(one.uid)
        self.ready[one.uid] = one
        if until:
            self.until[one.uid] = until
        else:
            self.until.pop(one.uid, None)

    def wait(self, one: HubObject, lacks: tuple[str, str] | None = None) -> None:
        """For a policy, or another setting."""
        self.ready.pop(one.uid, None)
        self.until.pop(one.uid, None)
        self.room.wait(one, lacks)

    def leave(self, one: HubObject) -> None:
        """It was submitted, or is gone."""
        self.ready.pop(one.uid, None)
        self.until.pop(one.uid, None)
        self.delay.submitted(one)
        if one.uid in self.room.waiting:
            self.room.leave(one.uid)

    def wait_for(self, job: str, one: HubObject) -> None:
        self.holders.setdefault(job, set()).add(one.uid)

    def freed(self, job: str) -> bool:
        """A job is over: those that waited for its name are looked at again. Whether there are any."""
        uids = self.holders.pop(job, set())
        for uid in uids:
            self.until.pop(uid, None)
        return bool(uids)

    def ripe_of(self, one: HubObject, now: int) -> int:
        return max(self.delay.ripe_at(one, self._settings.changed_at, now), self.until.get(one.uid, 0))

    def ripe(self, now: int) -> tuple[HubObject, ...]:
        """Those that nothing is awaited for, in turn of their tenants."""
        return tuple(in_turn(one for one in self.ready.values() if self.ripe_of(one, now) <= now)[:MOST])

    def ripe_at(self, now: int) -> int | None:
        """When the first of them is ripe; None: there is none."""
        return min((self.ripe_of(one, now) for one in self.ready.values()), default=None)


def in_turn(objects: Iterable[HubObject]) -> list[HubObject]:
    """The first of each tenant, then the second of each, and so on."""
    counts: dict[str, int] = {}
    turns: list[tuple[int, HubObject]] = []
    for one in objects:
        turn = counts[one.namespace] = counts.get(one.namespace, 0) + 1
        turns.append((turn, one))
    return [one for _, one in sorted(turns, key=itemgetter(0))]


def limited(objects: Iterable[HubObject], limits: Mapping[str, Limits]) -> bool:
    """Whether the number of pending jobs of any of their tenants counts."""
    return any(limit_for(tenant, limits).pending for tenant in {one.namespace for one in objects})
