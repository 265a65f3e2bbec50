"""From what a cluster shows to what is true of the job: attempt by attempt, and the end only once."""

from fairway.domain.attempts.retry import attempt_over
from fairway.domain.decision import NOTHING, Call, Decision, Heard, Outcome, Step
from fairway.domain.events import Teller
from fairway.domain.job import Job, State
from fairway.watcher import batch_shrunk, freeze, missing, object_owner, shown
from fairway.watcher.missing import AGAIN_MS, SERVICE, Emptied, Late, Listed, View
from fairway.watcher.object_checks import COMPARE, compare
from fairway.watcher.object_owner import Observed
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.workloads.kinds.phase import FAILED, SUCCEEDED, Phase
from fairway.workloads.kinds.registry import status

Hears = wire.Dispatched | fleet.Stranded | Observed | Listed | Emptied | Late


def decide(view: View, heard: Heard[Hears], now: int) -> Decision:
    """What is to be said, if nothing is given up by it, or nothing is frozen."""
    return freeze.frozen_first(view.silence, heard) or freeze.held_back(view.silence, heard, _decided(view, heard, now))


def _decided(view: View, heard: Heard[Hears], now: int) -> Decision:
    match message := heard.message:
        case Observed():
            return shown.with_status(view, heard, message, _observed(view, heard, message, now), now)
        case Listed():
            return missing.listed(view, heard, message, now)
        case Emptied():
            return missing.emptied(view, heard, message, now)
        case Late():
            return missing.late(view, heard, now)
        case fleet.Stranded():
            return missing.stranded(view, heard, message, now)
    return NOTHING  # dispatched: its deadline is remembered


def _observed(view: View, heard: Heard[object], message: Observed, now: int) -> Decision:
    job = view.jobs.get(message.job)
    seen = object_owner.identified(job, message) if job is not None else None
    if job is None or seen is None:
        return NOTHING  # somebody else's, whatever it says; a Job that a JobSet made carries its labels, too
    if job.attempt != seen.attempt or job.cluster != seen.cluster or job.ended or job.state is State.QUEUED:
        return _stray(view, heard, seen, job, now)
    if job.cancelling or job.recalled == job.attempt or job.state not in missing.PRESENT:
        return NOTHING
    if seen.place < view.newest.get(job.id, 0) and not seen.gone and seen.doubt is None:
        return NOTHING  # it was put off until its dispatch was known, and has changed since
    if job.removing or job.state is State.RESERVED:
        return missing.early(job, seen.manifest if seen.whole else None, seen.doubt)
    teller = Teller(view, SERVICE, heard, now, job.id)
    if object_owner.unknown(job) and seen.whole:
        return _found_again(teller, job, seen)
    return _lives(teller, job, seen, heard)


def _found_again(teller: Teller, job: Job, seen: Observed) -> Decision:
    """Which object it is was not kept, or the word of it was lost with a working set: from now on its uid counts."""
    said = teller.say(wire.Dispatched, cluster=job.cluster, uid=object_owner.uid_of(seen.manifest), adopted=True)
    return Decision((said.step(),), again_in=missing.SOON_MS)


def _lives(teller: Teller, job: Job, seen: Observed, heard: Heard[object]) -> Decision:
    """An attempt that is to be there. What is not as it should be is looked at closer before anything is said of it."""
    assert job.spec is not None, "a job with an attempt was admitted"
    phase = status(seen.manifest, job.spec.workload, seen.manifest.get("status")) if seen.whole else None
    question = _question(job, seen, phase)
    if question and not heard.outcomes:
        return Decision(calls=(question,))
    step = _said(teller, job, phase, heard.outcomes[-1] if heard.outcomes else None)
    if step is None and question and not heard.outcomes[-1].ok:
        return Decision(again_in=AGAIN_MS)
    return Decision((step,)) if step else NOTHING


def _question(job: Job, seen: Observed, phase: Phase | None) -> Call | None:
    if phase is None:
        return missing.look(job, object_owner.uid_of(seen.manifest))
    if seen.doubt is None or phase.state in (SUCCEEDED, FAILED) or job.spec is None:
        return None
    return Call(COMPARE, seen.cluster, job.id, job.attempt, compare(job.spec, seen.manifest, seen.doubt))


def _said(teller: Teller, job: Job, phase: Phase | None, answer: Outcome | None) -> Step | None:
    if phase is None:
        why = missing.vanished(job, answer)
        return attempt_over(teller, wire.Lost, why).step() if why else None
    if answer is not None and answer.ok and answer.body:
        return attempt_over(teller, wire.Lost, missing.edited(job, answer)).step()
    if phase.state == SUCCEEDED:
        return teller.say(wire.Succeeded, cluster=job.cluster, text=phase.text).step()
    if phase.state == FAILED:
        why = Reason(Code.JOB_FAILED, phase.text or "it failed and gave no reason")
        return attempt_over(teller, wire.Failed, why, phase.left).step()
    if job.state is State.DISPATCHED and batch_shrunk.is_up(job, phase):
        return teller.say(wire.Running, cluster=job.cluster, text=phase.text).step()
    return None


def _stray(view: View, heard: Heard[object], seen: Observed, job: Job, now: int) -> Decision:
    """An object of an attempt that is over: one that nobody is removing yet is recalled."""
    if seen.gone or not _over(seen, job) or (job.removing and job.recalled == seen.attempt):
        return NOTHING
    if job.removing:
        return Decision(again_in=AGAIN_MS)  # one at a time
    why = Reason(Code.VANISHED, f"attempt {seen.attempt} is over, but its object is in {seen.cluster}")
    teller = Teller(view, SERVICE, heard, now, job.id)
    return Decision((teller.say(wire.Recall, attempt=seen.attempt, cluster=seen.cluster, why=why).step(),))


def _over(seen: Observed, job: Job) -> bool:
    """Whether this attempt may no longer run. Of a job that ended by itself, what is finished stays to be looked at."""
    if seen.attempt < job.attempt or job.state is State.CANCELLED:
        return True
    if job.state is not State.FAILED or job.spec is None:
        return False
    return status(seen.manifest, job.spec.workload, seen.manifest.get("status")).state not in (FAILED, SUCCEEDED)
