"""Why a member did not take an object, as a reason that names the cause first and then what to do. Pure."""

from fairway.domain.decision import Outcome
from fairway.domain.job import Job
from fairway.domain.tenancy import member_namespace
from fairway.propagator.calls import HOLD
from fairway.wire.reasons import Code, Reason

_UNSAFE = "change the job and submit it again, or have an administrator allow it in a TenantProfile"
_WEBHOOK = "start that webhook again, or remove its configuration there"
_HOLDS = "see whether Fairway may make such objects there, or set reserve: ledger for this cluster or in the policy"
_NAMESPACES = (Code.FOREIGN_NAMESPACE, Code.RESERVED_NAMESPACE)


def refused(job: Job, outcome: Outcome) -> Reason:
    assert job.spec is not None, "it was to be applied"
    if outcome.call.verb == HOLD:
        text = f"{job.cluster} refused what was to hold its room: {outcome.text}"
        return Reason(Code.ROOM_TAKEN, text, remedy=_HOLDS)
    if outcome.code == Code.WEBHOOK_FAILED:
        # What has not answered may answer again.
        text = f"{job.cluster} could not take the object: {outcome.text}"
        return Reason(Code.WEBHOOK_FAILED, text, remedy=_WEBHOOK)
    if outcome.code in _NAMESPACES:
        remedy = member_namespace.remedy(outcome.code, job.cluster, job.spec.workload.namespace)
        return Reason(Code(outcome.code), outcome.text, remedy=remedy)
    if outcome.code == Code.UNSAFE_POD:
        return Reason(Code.UNSAFE_POD, outcome.text, remedy=_UNSAFE)
    code = Code(outcome.code) if outcome.code in (Code.NAME_CONFLICT, Code.NO_SEAL) else Code.APPLY_REFUSED
    return Reason(code, f"{job.cluster} refused the object: {outcome.text}", remedy=_remedy(code))


def _remedy(code: Code) -> str:
    if code is Code.NO_SEAL:
        return "find out who made it there, and remove it: it carries Fairway's labels and is not Fairway's"
    if code is Code.NAME_CONFLICT:
        return "rename the job, or remove the object of that name from the cluster"
    return "see what the cluster says, and whether Fairway may create such objects there"
