"""The hub's schedules and their runs. A part of the memory."""

from msgspec import Struct, field

from fairway.hub.schedules.work_due import NOTHING, Before, WorkDue, work_due
from fairway.wire.reasons import Reason, Refused
from fairway.workloads.hub.ends import end_of
from fairway.workloads.hub.objects import HubObject
from fairway.workloads.schedules.registry import SCHEDULES
from fairway.workloads.schedules.schedule import Run, Schedule


class ScheduleObject(Struct):
    """`place` is that of what was seen last, `before` what came of the looks before. `looked` is for when the next look
    at it is meant (0: none is under way), and `number` that of the look. `told` is the digest of what its owner was
    told is wrong."""

    one: HubObject
    place: int = 0
    runs: dict[str, Run] = field(default_factory=dict)
    before: Before = NOTHING
    looked: int = 0
    number: int = 0
    told: str = ""

    def read(self) -> tuple[Schedule | None, tuple[Reason, ...]]:
        try:
            return SCHEDULES[self.one.kind].read(self.one.manifest), ()
        except Refused as error:
            return None, error.reasons

    def work(self, now: int) -> WorkDue:
        """Nothing for one that cannot be read."""
        known, _ = self.read()
        if known is None:
            return WorkDue()
        return work_due(known, tuple(self.runs.values()), now, self.before)


class KnownSchedules:
    """By uid. `left` are those that were deleted and whose runs are still to be removed; `stirred` are those of which a
    run has ended, or is gone, with the message in hand."""

    def __init__(self) -> None:
        self.there: dict[str, ScheduleObject] = {}
        self.left: dict[str, ScheduleObject] = {}
        self.stirred: set[str] = set()

    def get(self, uid: str) -> ScheduleObject | None:
        return self.there.get(uid)

    def see(self, one: HubObject, place: int, gone: bool) -> None:
        known = self.there.get(one.uid)
        if known is not None and place < known.place:
            return
        if gone:
            if known is not None:
                self.left[one.uid] = self.there.pop(one.uid)
        elif known is None:
            self.there[one.uid] = ScheduleObject(one, place)
        else:
            known.one = one
            known.place = place

    def see_run(self, one: HubObject, gone: bool) -> None:
        """An object that a schedule made, or its controller. Who says so of an object elsewhere would have others'
        runs forbidden, or removed."""
        known = self.there.get(_owner(one))
        if known is None or known.one.namespace != one.namespace or SCHEDULES[known.one.kind].run != one.kind:
            return
        before = known.runs.pop(one.uid, None)
        if gone:
            self.stirred.add(known.one.uid)
            return
        end = end_of(one)
        known.runs[one.uid] = Run(one.name, one.uid, one.created, bool(end), end == "succeeded")
        if end and (before is None or not before.ended):
            self.stirred.add(known.one.uid)


def _owner(one: HubObject) -> str:
    """The uid of the schedule that controls it; empty without any."""
    owners = (one.manifest.get("metadata") or {}).get("ownerReferences") or []
    found = (
        str(owner.get("uid") or "")
        for owner in owners
        if owner.get("controller") and f"{owner.get('kind')}.{owner.get('apiVersion')}" in SCHEDULES
    )
    return next(found, "")
