"""batch/v1 Job, as the job controller of Kubernetes runs it: parallelism, completions, backoffLimit,
suspend."""

from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.operators.base import (
    ENDED,
    OperatorView,
    Reconciled,
    alive,
    condition_true,
    count,
    counted,
    phase,
    pod,
    restarts,
    why_failed,
    with_condition,
    without,
)

# Kubernetes' defaults of the two fields.
_PARALLELISM = 1
_BACKOFF_LIMIT = 6
_COUNTS = {"active": ("Pending", "Running"), "ready": ("Running",), "succeeded": ("Succeeded",), "failed": ("Failed",)}


def reconcile(view: OperatorView) -> Reconciled:
    status = view.status
    pods = list(view.named("Pod").values())
    here = alive(pods)
    if condition_true(status, "Complete") or condition_true(status, "Failed"):
        return Reconciled(delete=tuple(one for one in here if phase(one) not in ENDED))
    if view.spec.get("managedBy") not in (None, "kubernetes.io/job-controller"):
        return Reconciled()
    if view.spec.get("suspend"):
        return _suspended(view, status, here)
    if condition_true(status, "Suspended"):
        status = with_condition(status, view.now, "Suspended", False, ("JobResumed", "Job resumed"))
        status = without(status, "startTime")
    status = {**status, "startTime": status.get("startTime", view.now)}
    status = {**without(status, *_COUNTS), "ready": 0, **counted(here, **_COUNTS)}
    ended = _end(view, status, here)
    if ended:
        running = tuple(one for one in here if phase(one) not in ENDED)
        return Reconciled(delete=running, status=without(ended, "active", "ready"))
    return Reconciled(create=tuple(_missing(view, pods)), status=status)


def completions(spec: Json) -> int:
    """Pods that must succeed."""
    found = spec.get("completions")
    return int(found if found is not None else spec.get("parallelism", _PARALLELISM))


def _suspended(view: OperatorView, status: Json, pods: list[Json]) -> Reconciled:
    status = with_condition(status, view.now, "Suspended", True, ("JobSuspended", "Job suspended"))
    running = tuple(one for one in pods if phase(one) not in ENDED)
    return Reconciled(delete=running, status={**without(status, "active", "startTime"), "ready": 0})


def _end(view: OperatorView, status: Json, pods: list[Json]) -> Json | None:
    """The status when the job is over, with the interim conditions that Kubernetes sets on the way."""
    if status.get("succeeded", 0) >= completions(view.spec):
        why = ("CompletionsReached", "Reached expected number of succeeded pods")
        status = with_condition(status, view.now, "SuccessCriteriaMet", True, why)
        status = with_condition(status, view.now, "Complete", True, why)
        return {**status, "completionTime": view.now}
    limit = int(view.spec.get("backoffLimit", _BACKOFF_LIMIT))
    failed = [one for one in pods if phase(one) == "Failed"]
    if len(failed) + restarts(one for one in pods if phase(one) == "Running") > limit:
        cause = f" (last: {why_failed(failed[-1])})" if failed else ""
        why = ("BackoffLimitExceeded", f"Job has reached the specified backoff limit{cause}")
        status = with_condition(status, view.now, "FailureTarget", True, why)
        return with_condition(status, view.now, "Failed", True, why)
    return None


def _missing(view: OperatorView, pods: list[Json]) -> list[Json]:
    """Pods to make now. A failed one is replaced by a new name, as the random suffix of the real ones."""
    here = alive(pods)
    active = count(here, "Pending", "Running")
    left = completions(view.spec) - count(here, "Succeeded") - active
    wanted = min(int(view.spec.get("parallelism", _PARALLELISM)) - active, left)
    template = view.spec.get("template")
    labels = {
        "batch.kubernetes.io/job-name": view.name,
        "job-name": view.name,
        "batch.kubernetes.io/controller-uid": view.uid,
        "controller-uid": view.uid,
    }
    made: list[Json] = []
    taken = {int(one["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"]) for one in pods}
    number = 0
    while len(made) < wanted:
        if number not in taken:
            one = pod(f"{view.name}-{number}-{_suffix(view.uid, number)}", template, labels)
            one["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] = str(number)
            one["spec"].setdefault("restartPolicy", "Never")
            made.append(one)
        number += 1
    return made


def _suffix(uid: str, number: int) -> str:
    """Five letters that differ between jobs of one name, as a real pod's suffix does."""
    return f"{(int(uid[:8], 16) + number * 7919) % 0xFFFFF:05x}"
