"""What the record says of an attempt's end, for the job's object on the hub: only what it calls final is an end there.

A member shows a failed attempt as a failed job. On the hub that would be a lie while another attempt follows: whoever
waits for the end would take it for one. So the word of a failure comes from the record, and what no member shows (an
attempt that never started, a refusal, a cancellation) comes from there too.
"""

from msgspec import Struct

from fairway.domain.decision import NOTHING, Call, Decision, Heard
from fairway.domain.events import JobRows
from fairway.domain.job import Job, State
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.workloads.kinds.registry import KINDS

SERVICE = "watcher-hub"
SHOW = "show"
# The hub does not answer: asked again after this long (ms).
_AGAIN_MS = 1_000


class HubPlace(Struct, frozen=True):
    """An object of the hub; another `uid` under the same name is another object."""

    kind: str
    namespace: str
    name: str
    uid: str


class FinalWord(Struct, frozen=True):
    """For an object of the hub. `final`: the job has ended and will not run again; `failed`: the member
    itself says so, and its own words are better than ours: those of the object with uid `there`."""

    place: HubPlace
    why: Reason
    at: int
    final: bool = False
    failed: bool = False
    there: str = ""


Hears = wire.Failed | wire.Lost | wire.Rejected | wire.Cancelled


def decide(view: JobRows, heard: Heard[Hears], now: int) -> Decision:
    if heard.outcomes:
        return NOTHING if heard.outcomes[-1].ok else Decision(again_in=_AGAIN_MS)
    message = heard.message
    word = _word(view.jobs.get(message.job), message) or _refusal(message)
    cluster = getattr(message, "cluster", "")
    return Decision(calls=(Call(SHOW, cluster, message.job, message.attempt, word),)) if word else NOTHING


def _refusal(message: Hears) -> FinalWord | None:
    """Of what was refused at the door there is no more than the message."""
    if not isinstance(message, wire.Rejected) or message.hub is None:
        return None
    kind = f"{message.kind}.{message.api_version}"
    if kind not in KINDS or not message.name:
        return None
    place = HubPlace(kind, message.tenant, message.name, message.hub.uid)
    return FinalWord(place, message.reasons[0], message.at, final=True)


def _word(job: Job | None, message: Hears) -> FinalWord | None:
    """None: there is no object on the hub, or the job is further than this message."""
    if job is None or job.spec is None or job.spec.hub is None:
        return None
    match message:
        case wire.Failed() | wire.Lost():
            why = message.why
            final = message.final
        case wire.Rejected():
            why = message.reasons[0]
            final = True
        case wire.Cancelled():
            why = job.why or Reason(Code.CANCELLED, "it was cancelled")
            final = True
        case _:
            return None
    if not final and (job.state in (State.DISPATCHED, State.RUNNING) or job.ended):
        return None
    work = job.spec.workload
    failed = isinstance(message, wire.Failed) and why.code is Code.JOB_FAILED
    place = HubPlace(work.key, work.namespace, work.name, job.spec.hub.uid)
    there = next((one.uid for one in job.attempts if one.number == message.attempt), "")
    return FinalWord(place, why, message.at, final, failed, there)
