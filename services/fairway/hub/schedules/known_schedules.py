"""The hub's schedules and their runs. A part of the memory."""

from collections.abc import Sequence

from msgspec import Struct, field

from fairway.hub.calls import FoundObject, Place
from fairway.hub.schedules.work_due import NOTHING, PATIENCE_MS, Before, WorkDue, last_is_ours, work_due
from fairway.wire.reasons import Reason, Refused
from fairway.workloads.hub.ends import end_of
from fairway.workloads.hub.objects import HubObject, hub_object, leaving
from fairway.workloads.schedules.registry import SCHEDULES, controlled_by
from fairway.workloads.schedules.schedule import Run, Schedule, unlike


class FoundOnHub(Struct):
    """What the hub itself has, asked before a run is made: the schedule as it is, unless it is `gone`, and runs that no
    watch has shown. It holds until another version of the schedule is seen than that of `place`."""

    place: int = -1
    one: HubObject | None = None
    gone: bool = False
    runs: dict[str, Run] = {}


class ScheduleObject(Struct):
    """`place` is that of what was seen last, `before` what came of the looks before. Its runs are `listed` when all
    that were there have been shown; `made` is the name of the last one until it has been, and `found` what was asked
    for by the look that is under way. `looked` is for when the next look at it is meant (0: none is under way), and
    `number` that of the look. `told` is the digest of what its owner was told is wrong."""

    one: HubObject
    place: int = 0
    runs: dict[str, Run] = field(default_factory=dict)
    listed: bool = False
    made: str = ""
    found: FoundOnHub = field(default_factory=FoundOnHub)
    before: Before = NOTHING
    looked: int = 0
    number: int = 0
    told: str = ""

    @property
    def newest(self) -> HubObject:
        return self.found.one if self.found.one and self.found.place == self.place else self.one

    @property
    def gone(self) -> bool:
        return self.found.gone and self.found.place == self.place

    def read(self) -> tuple[Schedule | None, tuple[Reason, ...]]:
        try:
            return SCHEDULES[self.one.kind].read(self.newest.manifest), ()
        except Refused as error:
            return None, error.reasons

    def known_runs(self) -> Sequence[Run]:
        return tuple({**self.found.runs, **self.runs}.values())

    def work(self, now: int) -> WorkDue:
        """Nothing for one that cannot be read, or is gone, or of whose runs some may not be known."""
        known, _ = self.read()
        if known is None or not self.listed or self.gone:
            return WorkDue()
        return work_due(known, self.known_runs(), now, self.before)

    def status_due(self, now: int) -> int | None:
        """When its status is to be written: what a controller of the hub may write is left to it for a while. None: it
        says what is so, or has been written to say so."""
        wanted = SCHEDULES[self.one.kind].status(self.known_runs(), self.one.namespace)
        silent = not self.listed or self.gone or wanted == self.before.wrote
        if silent or not unlike(self.newest.manifest.get("status"), wanted):
            return None
        known, _ = self.read()
        ours = known is not None and last_is_ours(known, self.before)
        return now if ours else (self.before.unlike or now) + PATIENCE_MS

    def unknown(self) -> tuple[Place, ...]:
        """The runs that should be there, and that nobody has shown: those that its status names, and the last one."""
        kind = SCHEDULES[self.one.kind]
        names = {one.name for one in self.known_runs()}
        wanted = dict.fromkeys((*kind.active_names(self.newest.manifest), self.made))
        return tuple(Place(kind.run, self.one.namespace, name, "") for name in wanted if name and name not in names)

    def find(self, body: FoundObject) -> None:
        """What the hub has of it, or of a run of it."""
        if body.manifest is None:
            return
        kind = f"{body.manifest.get('kind')}.{body.manifest.get('apiVersion')}"
        one = hub_object(kind, body.manifest)
        if controller_of(one) == self.one.uid and not leaving(one):
            self.found.runs[one.uid] = run_of(one)

    def find_itself(self, body: FoundObject) -> None:
        one = hub_object(self.one.kind, body.manifest or {})
        self.found.gone = one.uid != self.one.uid or leaving(one)
        if not self.found.gone:
            self.found.one = one


class KnownSchedules:
    """By uid. `left` are those that were deleted and whose runs are still to be removed; `stirred` are those that are
    to be looked at with the message in hand: a run was made, has ended, or is gone, or all runs are known. `listed` are
    the kinds of runs of which all that were there have been shown, and `place` is that of what was seen last."""

    def __init__(self) -> None:
        self.there: dict[str, ScheduleObject] = {}
        self.left: dict[str, ScheduleObject] = {}
        self.stirred: set[str] = set()
        self.listed: set[str] = set()
        self.place = 0

    def get(self, uid: str) -> ScheduleObject | None:
        return self.there.get(uid)

    def see(self, one: HubObject, place: int, gone: bool) -> None:
        known = self.there.get(one.uid)
        newest = self.place
        self.place = max(newest, place)
        if place < (newest if known is None else known.place):
            return  # it was put off, and is another one, or gone, since
        if gone:
            if known is not None:
                self.left[one.uid] = self.there.pop(one.uid)
        elif known is None:
            self.there[one.uid] = ScheduleObject(one, place, listed=SCHEDULES[one.kind].run in self.listed)
        else:
            known.one = one
            known.place = place

    def see_run(self, one: HubObject, gone: bool) -> None:
        """An object that a schedule made, or its controller. Who says so of an object elsewhere would have others'
        runs forbidden, or removed."""
        uid = controller_of(one)
        known = self.there.get(uid) or self.left.get(uid)
        if known is None or known.one.namespace != one.namespace or SCHEDULES[known.one.kind].run != one.kind:
            return
        before = known.runs.pop(one.uid, None)
        if known.made == one.name:
            known.made = ""
        if not gone:
            known.runs[one.uid] = run_of(one)
        if known.runs.get(one.uid) != before:
            self.stirred.add(uid)

    def list(self, kind: str) -> None:
        """All runs of that kind that were there have been shown."""
        self.listed.add(kind)
        for one in (*self.there.values(), *self.left.values()):
            if SCHEDULES[one.one.kind].run == kind:
                one.listed = True
                self.stirred.add(one.one.uid)


def run_of(one: HubObject) -> Run:
    end = end_of(one)
    return Run(one.name, one.uid, one.created, bool(end), end == "succeeded")


def controller_of(one: HubObject) -> str:
    """The uid of the schedule that controls it; empty without any."""
    return str(controlled_by(one.manifest).get("uid") or "")
