"""Changes the object of an attempt in place: first the call, then what its outcome means. Pure."""

from fairway.domain.decision import NOTHING, Call, Decision, Heard, Outcome
from fairway.domain.events import JobRows, Teller, aside
from fairway.domain.job import STARTED, Job
from fairway.propagator.calls import ADJUST, AGAIN_MS, Adjustment, copy_of
from fairway.propagator.view import SERVICE
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.wire.spec import ManifestRef

_AGAIN = "make the change while the job waits, or when it runs again"
_ANEW = "cancel it and apply it anew, or make the change while it waits in its queue"


def adjust(view: JobRows, heard: Heard[object], message: wire.Adjust, now: int) -> Decision:
    job = view.jobs.get(message.job)
    if job is None or job.spec is None or job.ended or job.cancelling:
        return NOTHING
    older = message.spec.manifest.sequence <= job.spec.manifest.sequence
    if not _present(job, message):
        text = f"attempt {message.attempt} in {message.cluster} was over before its object was changed"
        return NOTHING if older else _unchanged(heard, message, now, Reason(Code.OVERTAKEN, text, remedy=_AGAIN))
    outcome = heard.outcomes[-1] if heard.outcomes else None
    if outcome is not None and not outcome.ok:
        return _refused(heard, message, outcome, now)
    if older:
        return _overtaken(job, message, outcome)
    if outcome is None or outcome.body.before != job.spec.manifest:
        return _asked(job, job.spec.manifest, message.spec.manifest)
    said = Teller(view, SERVICE, heard, now, job.id).say(wire.Amended, spec=message.spec, cluster=job.cluster)
    return Decision((said.step(),))


def _present(job: Job, message: wire.Adjust) -> bool:
    here = (job.attempt, job.cluster) == (message.attempt, message.cluster)
    return job.state in STARTED and here and job.recalled != job.attempt


def _overtaken(job: Job, message: wire.Adjust, outcome: Outcome | None) -> Decision:
    """A later manifest counts. What this one did to the object meanwhile is put right."""
    assert job.spec is not None, "a job with an attempt was admitted"
    if outcome is None or outcome.body.after == job.spec.manifest:
        return NOTHING
    return _asked(job, message.spec.manifest, job.spec.manifest)


def _asked(job: Job, before: ManifestRef, after: ManifestRef) -> Decision:
    body = Adjustment(copy_of(job, manifest=before), after)
    return Decision(calls=(Call(ADJUST, job.cluster, job.id, job.attempt, body),))


def _refused(heard: Heard[object], message: wire.Adjust, outcome: Outcome, now: int) -> Decision:
    """No code: nobody knows whether it was changed."""
    if not outcome.code:
        return Decision(again_in=AGAIN_MS)
    text = f"{message.cluster} refused the change: {outcome.text}"
    return _unchanged(heard, message, now, Reason(Code.APPLY_REFUSED, text, remedy=_ANEW))


def _unchanged(heard: Heard[object], message: wire.Adjust, now: int, why: Reason) -> Decision:
    said = wire.Unchanged(
        job=message.job,
        tenant=message.tenant,
        at=now,
        cause=heard.id,
        why=why,
        digest=message.spec.manifest.sha256,
    )
    return Decision((aside(SERVICE, heard, said),))
