"""Where those of a turn wait that were not submitted, and until when."""

from fairway.domain import decision
from fairway.domain.decision import Decision, Put
from fairway.domain.held_object import HeldObject
from fairway.hub.intake.submit import lacking
from fairway.hub.job_object import JobObject
from fairway.hub.telling.pending_update import UNCLAIMED_MS, touch
from fairway.hub.view import View
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from fairway.workloads.hub.ends import ended

# Nobody knows when a pending job goes, or a name is free: it is worth another look after this long (ms).
PENDING_MS = 5_000
# What comes from the hub is looked at in pieces: not for each single one that may go (ms).
_LEAST_MS = 250
_LATER = {
    Code.TOO_MANY_PENDING: PENDING_MS,
    Code.DUPLICATE: PENDING_MS,
    Code.TOO_FAST: _LEAST_MS,
    Code.TOO_MANY_BYTES: PENDING_MS,
}


def after_turn(view: View, made: Decision, now: int) -> None:
    writes = {write.key: write for step in made.steps for write in step.writes if isinstance(write, Put)}
    words = [say.message for step in made.steps for say in step.events]
    gone_in = {message.hub.uid for message in words if isinstance(message, wire.Submitted) and message.hub}
    for one in view.turns.batch:
        known = view.objects.get(one.uid)
        if known is None or (not known.refused and (known.submitted or ended(one))):
            view.turns.leave(one)
        elif one.uid not in gone_in:
            write = writes.get(one.uid)
            change = write.value if write is not None and write.table == decision.HELD else known.held
            if write is not None:
                touch(known.pending, now + UNCLAIMED_MS)
            _waits(view, known, change, now)


def _waits(view: View, known: JobObject, held: HeldObject | None, now: int) -> None:
    one = known.one
    code = held.why.code if held is not None and not known.refused else None
    if code is Code.SUSPENDED or known.leader:
        view.turns.leave(one)
    elif code in _LATER and held is not None:
        view.turns.until[one.uid] = now + _LATER[code]
        if held.holder:
            view.turns.wait_for(held.holder, one)
    elif not known.refused and one.uid in view.turns.rows.unread:
        view.turns.until[one.uid] = now + _LEAST_MS  # who has its name is read then
    else:
        lacks = lacking(view, one)
        if code is Code.GANG_OF_PODS and lacks is None:
            view.turns.until[one.uid] = now + PENDING_MS  # what another of its pods lacks
            return
        view.turns.wait(one, lacks[0] if lacks else None)
