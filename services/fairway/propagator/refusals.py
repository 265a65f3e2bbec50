"""Why a member did not take an object: whether that passes, and as a reason that names the cause first and then what
to do. Pure."""

from fairway.domain.decision import Outcome
from fairway.domain.job import Job
from fairway.domain.tenancy import member_namespace
from fairway.propagator.calls import HOLD
from fairway.wire.reasons import Code, Reason

# No code: nobody knows whether it was applied. An object of ours that is on its way out makes room in a moment.
_PASSING = ("", "StaleObject")
# A namespace that is on its way out is waited for until so long before the reservation ends (ms): then the attempt says
# what was in its way, and not the reserver that nobody dispatched it.
_SPARE_MS = 10_000
_UNSAFE = "change the job and submit it again, or have an administrator allow it in a TenantProfile"
_WEBHOOK = "start that webhook again, or remove its configuration there"
_TERMINATING = "see what keeps it: its status.conditions and its finalizers, with `kubectl get namespace -o yaml` there"
_HOLDS = "see whether Fairway may make such objects there, or set reserve: ledger for this cluster or in the policy"
_COMPANION = "have its owner given that right on the hub, name another one, or leave it out"
_BY_HAND = "put it into that cluster by hand, or let the job's policy name clusters that the hub reaches itself"
_NAMESPACES = (Code.FOREIGN_NAMESPACE, Code.RESERVED_NAMESPACE)


def passes(outcome: Outcome, left: int) -> bool:
    """Whether what was in the way will pass by itself, in what is left of the reservation (ms)."""
    if outcome.code == Code.NAMESPACE_TERMINATING:
        return left > _SPARE_MS
    return not outcome.ok and outcome.code in _PASSING


def not_the_jobs(outcome: Outcome) -> bool:
    """Whether nobody has said anything against the job itself."""
    return outcome.call.verb == HOLD or outcome.code in (Code.WEBHOOK_FAILED, Code.NAMESPACE_TERMINATING)


def refused(job: Job, outcome: Outcome) -> Reason:
    assert job.spec is not None, "it was to be applied"
    if outcome.call.verb == HOLD:
        text = f"{job.cluster} refused what was to hold its room: {outcome.text}"
        return Reason(Code.ROOM_TAKEN, text, remedy=_HOLDS)
    if outcome.code == Code.WEBHOOK_FAILED:
        # What has not answered may answer again.
        text = f"{job.cluster} could not take the object: {outcome.text}"
        return Reason(Code.WEBHOOK_FAILED, text, remedy=_WEBHOOK)
    if outcome.code == Code.NAMESPACE_TERMINATING:
        where = f"namespace {job.spec.workload.namespace} of {job.cluster}"
        text = f"{where} is being removed, and was not gone while the job's room was reserved: {outcome.text}"
        return Reason(Code.NAMESPACE_TERMINATING, text, remedy=_TERMINATING)
    if outcome.code in _NAMESPACES:
        remedy = member_namespace.remedy(outcome.code, job.cluster, job.spec.workload.namespace)
        return Reason(Code(outcome.code), outcome.text, remedy=remedy)
    if outcome.code == Code.UNSAFE_POD:
        return Reason(Code.UNSAFE_POD, outcome.text, remedy=_UNSAFE)
    if outcome.code == Code.COMPANION_REFUSED:
        return Reason(Code.COMPANION_REFUSED, outcome.text, remedy=_COMPANION)
    if outcome.code == Code.SECRET_NOT_SENT:
        return Reason(Code.SECRET_NOT_SENT, outcome.text, remedy=_BY_HAND)
    code = Code(outcome.code) if outcome.code in (Code.NAME_CONFLICT, Code.NO_SEAL) else Code.APPLY_REFUSED
    return Reason(code, f"{job.cluster} refused the object: {outcome.text}", remedy=_remedy(code))


def _remedy(code: Code) -> str:
    if code is Code.NO_SEAL:
        return "find out who made it there, and remove it: it carries Fairway's labels and is not Fairway's"
    if code is Code.NAME_CONFLICT:
        return "rename the job, or remove the object of that name from the cluster"
    return "see what the cluster says, and whether Fairway may create such objects there"
