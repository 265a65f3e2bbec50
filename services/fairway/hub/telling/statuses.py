"""The status of a job's object on the hub: the member's own while an attempt lives, the record's word when one is over.

A member shows a failed attempt as a failed job. On the hub that would be a lie while another attempt follows: whoever
waits for the end would take it for one. So only what the record calls final is an end there. Pure.
"""

from typing import Any

import msgspec

from fairway.domain.held_object import HeldObject
from fairway.domain.job import Job, State
from fairway.explain.wording import rfc3339
from fairway.hub.job_object import JobObject, ObjectStatus, WantedStatus
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.wire.workload import Workload
from fairway.workloads.gangs.pods import own_status
from fairway.workloads.hub_status import StatusWord, as_seen
from fairway.workloads.kinds.phase import FAILED, SUCCEEDED
from fairway.workloads.kinds.registry import KINDS, status

Json = dict[str, Any]
# Pods of a gang come up one after another, and each is a change: those of one moment are one write (ms).
SETTLE_MS = 50
# A job that goes at once shows that, and never that it waited (ms).
WAITS_MS = 1_000
# Who runs jobs on the hub itself has written a status of its own by then.
HELD_MS = 2_000
_OVER = (SUCCEEDED, FAILED)
_LIVES = (State.RESERVED, State.DISPATCHED, State.RUNNING)
_STARTS = (State.ADMITTED, State.QUEUED, State.DEQUEUED, State.PLACED)
# A status that is not taken so often, each time made anew on what is shown, is left out.
_TRIES = 3
_OfMember = wire.Running | wire.Succeeded | fleet.Shown
_encode = msgspec.json.Encoder().encode


def hear(one: JobObject, job: Job, message: wire.JobMessage, now: int) -> None:
    """What follows from a word of the record on the job, as that is now."""
    if one.shown.wanted is not None and _went_on(one, one.shown.wanted, job):
        one.shown.wanted = None
    match message:
        case wire.Running() | wire.Succeeded() if message.status:
            _see(one, job, message, "", now)
        case wire.Failed() | wire.Lost() | wire.Rejected() | wire.Cancelled():
            _over(one, job, message, now)
        case wire.Queue() | wire.Blocked():
            word = _word(message.why or Reason(Code.QUEUED, f"waits its turn in queue {job.queue}"), message.at)
            _put(one, WantedStatus(message.attempt, word=word, queued=True), now + WAITS_MS)


def hold(one: JobObject, held: HeldObject | None) -> None:
    """It is not submitted, for this reason."""
    if one.leader:
        return  # it shows what its job says
    if held is not None:
        word = _word(held.why, held.since)
        _put(one, WantedStatus(0, word=word, queued=True), held.since + HELD_MS)
    elif one.shown.wanted is not None and one.shown.wanted.queued:
        one.shown.wanted = None


def see(one: JobObject, job: Job, message: fleet.Shown, now: int) -> None:
    """What follows from what the member's object shows."""
    _see(one, job, message, message.version, now)


def _see(one: JobObject, job: Job, message: _OfMember, version: str, now: int) -> None:
    shown = one.shown
    attempt = message.attempt
    if job.id != one.job or (job.attempt, job.cluster) != (attempt, message.cluster) or not _speaks(job):
        return
    state = end_of(one.one.kind, message.status)
    over = state in _OVER
    if attempt < shown.attempt or (job.ended and not over) or (state == FAILED and not job.ended):
        return  # late, or a failure of which the record has not said yet whose it is
    seen = own_status(one.one.name, bool(one.leader), message.status, over)
    if not seen or (over and end_of(one.one.kind, seen) not in _OVER):
        return
    before = shown.wanted
    if before is not None and before.ends and not over:
        return
    newest = (before.version if before and before.attempt == attempt else "") or shown.version
    if attempt == shown.attempt and _older(version, newest):
        return
    shown.attempt = attempt
    _put(one, WantedStatus(attempt, seen=seen, ends=over, version=version or newest), now + SETTLE_MS)


def _over(one: JobObject, job: Job, message: Any, now: int) -> None:
    """An attempt is over, or the job with it."""
    shown = one.shown
    why, final = _end(job, message)
    further = job.state in (State.DISPATCHED, State.RUNNING) or job.ended
    if job.id != one.job or message.attempt < shown.attempt or (not final and further):
        return
    if shown.wanted is not None and shown.wanted.ends:
        return
    own = isinstance(message, wire.Failed) and why.code is Code.JOB_FAILED
    failed = own and final and end_of(one.one.kind, message.status) == FAILED
    seen = own_status(one.one.name, bool(one.leader), message.status, True) if failed else None
    if seen and end_of(one.one.kind, seen) not in _OVER:
        seen = None  # another pod of its gang failed, and it went with that
    shown.attempt = message.attempt + (0 if final and own else 1)
    shown.version = ""
    word = _word(why, message.at)
    _put(one, WantedStatus(message.attempt, seen=seen or None, word=word, fails=final, ends=final), now + SETTLE_MS)


def _end(job: Job, message: Any) -> tuple[Reason, bool]:
    match message:
        case wire.Rejected():
            return message.reasons[0], True
        case wire.Cancelled():
            return job.why or Reason(Code.CANCELLED, "it was cancelled"), True
    return message.why, message.final


def _put(one: JobObject, wanted: WantedStatus, due: int) -> None:
    before = one.shown.wanted
    if before is not None and wanted.queued and not before.queued:
        return  # that it waits again is said by its queue after what it waits for
    if before is None or not (wanted.queued and before.queued):
        one.shown.due = due
    one.shown.wanted = wanted
    one.shown.tries = 0


def _word(why: Reason, at: int) -> StatusWord:
    return StatusWord(why.code.value, why.text, rfc3339(at))


def next_status(one: JobObject, job: Job | None) -> Json | None:
    """What the object is to show now; None: what it shows."""
    wanted = one.shown.wanted
    if wanted is None or one.shown.tries >= _TRIES:
        return None
    if _went_on(one, wanted, job):
        return None
    shown = _status_of(one.shown)
    ends = KINDS[one.one.kind].ends
    # What somebody else runs on the hub is not said to wait.
    if one.held is not None and not one.leader and not ends.untouched(shown):
        return None
    if wanted.seen is not None:
        new = ends.shows(shown, wanted.seen)
    elif wanted.word is None:
        return None
    elif wanted.queued:
        new = ends.queued(shown, wanted.word) if ends.queued is not None else shown
    else:
        new = (ends.fails if wanted.fails else ends.waits)(shown, wanted.word)
    return None if new == shown or not _follows(one, shown, new) else new


def _went_on(one: JobObject, wanted: WantedStatus, job: Job | None) -> bool:
    """It was to show that it waits, and does not any more."""
    return wanted.queued and (one.held is None or bool(one.leader)) and (job is None or job.state not in _STARTS)


def _follows(one: JobObject, shown: Json, new: Json) -> bool:
    """An end stays that end; an operator may still count the last pods after it. The end of a job that stood for the
    object before does not count."""
    kind = one.one.kind
    before = end_of(kind, shown)
    if before not in _OVER:
        return True
    after = end_of(kind, new)
    if after not in _OVER:
        return one.shown.ends != one.job
    return after == before and grows(kind)


def written(one: JobObject, job: str, status: Json) -> None:
    """The object shows this now."""
    one.shown.status = _encode(status)
    one.shown.ends = job if end_of(one.one.kind, status) in _OVER else ""
    if one.shown.wanted is not None:
        one.shown.version = one.shown.wanted.version or one.shown.version


def not_written(one: JobObject, found: Json | None) -> None:
    """It was not taken: the object shows something else than was thought."""
    one.shown.tries += 1
    if found is not None:
        one.shown.status = _encode(found) if found else b""


def _status_of(shown: ObjectStatus) -> Json:
    return msgspec.json.decode(shown.status) if shown.status else {}


def _speaks(job: Job) -> bool:
    """Whether the member's object of the present attempt speaks for the job: it lives there and is not being taken
    out, or it ended there by itself."""
    return (job.state in _LIVES and not job.removing) or job.state in (State.SUCCEEDED, State.FAILED)


def _older(version: str, newest: str) -> bool:
    return version.isdecimal() and newest.isdecimal() and int(version) < int(newest)


def grows(kind: str) -> bool:
    """Whether the status may change after the end; that of a batch Job may not."""
    return KINDS[kind].ends.shows is as_seen


def end_of(kind: str, shown: Json) -> str:
    """What a status of that kind means, by itself."""
    name, _, api_version = kind.partition(".")
    nobody = Workload(api_version, name, "", "", (), 0)
    return status({"apiVersion": api_version, "kind": name}, nobody, shown).state
