"""JobSet, as its controller v0.8 runs it: child Jobs per replicated job, restarts of the whole set,
success policy."""

from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.operators.base import OperatorView, Reconciled, condition_true, with_condition
from fairway.lab.kubesim.operators.batch import completions

_PREFIX = "jobset.sigs.k8s.io/"


def reconcile(view: OperatorView) -> Reconciled:
    jobs = view.named("Job")
    if condition_true(view.status, "Completed") or condition_true(view.status, "Failed"):
        return Reconciled(delete=tuple(one for one in jobs.values() if not _ended(one)))
    tries = int(view.status.get("restarts", 0))
    current = {name: one for name, one in jobs.items() if _attempt(one) == tries}
    old = tuple(one for name, one in jobs.items() if name not in current)
    suspend = bool(view.spec.get("suspend"))
    status = {**view.status, "restarts": tries, "replicatedJobsStatus": _counts(view, current)}
    if suspend or condition_true(status, "Suspended"):
        why = ("SuspendedJobs", "jobset is suspended") if suspend else ("ResumeJobs", "jobset is resumed")
        status = with_condition(status, view.now, "Suspended", suspend, why)
    if _succeeded(view, current):
        return _end(view, status, "Completed", ("AllJobsCompleted", "jobset completed successfully"))
    failed = [name for name, one in current.items() if condition_true(one.get("status") or {}, "Failed")]
    if failed:
        return _failed(view, status, failed[0])
    create = tuple(one for one in _jobs(view, tries, suspend) if one["metadata"]["name"] not in jobs)
    return Reconciled(create=create, delete=old, update=tuple(_switched(current, suspend)), status=status)


def _end(view: OperatorView, status: Json, kind: str, why: tuple[str, str]) -> Reconciled:
    status = with_condition(status, view.now, kind, True, why)
    running = tuple(one for one in view.named("Job").values() if not _ended(one))
    return Reconciled(delete=running, status={**status, "terminalState": kind})


def _failed(view: OperatorView, status: Json, name: str) -> Reconciled:
    """Every child goes and comes back, as often as failurePolicy.maxRestarts says."""
    most = int((view.spec.get("failurePolicy") or {}).get("maxRestarts", 0))
    tries = int(status["restarts"])
    if tries >= most:
        reason = "ReachedMaxRestarts" if most else "FailedJobs"
        return _end(view, status, "Failed", (reason, f"jobset failed due to job {name}"))
    return Reconciled(delete=tuple(view.named("Job").values()), status={**status, "restarts": tries + 1})


def _ended(job: Json) -> bool:
    status = job.get("status") or {}
    return condition_true(status, "Complete") or condition_true(status, "Failed")


def _attempt(job: Json) -> int:
    return int(job["metadata"]["labels"].get(f"{_PREFIX}restart-attempt", "0"))


def _sets(view: OperatorView) -> list[Json]:
    return list(view.spec.get("replicatedJobs") or ())


def _of_set(jobs: dict[str, Json], name: str) -> list[Json]:
    label = f"{_PREFIX}replicatedjob-name"
    return [one for one in jobs.values() if one["metadata"]["labels"].get(label) == name]


def _counts(view: OperatorView, jobs: dict[str, Json]) -> list[Json]:
    listed = []
    for one in _sets(view):
        mine = [(job.get("spec") or {}, job.get("status") or {}) for job in _of_set(jobs, one["name"])]
        listed.append(
            {
                "name": one["name"],
                "ready": sum(1 for spec, status in mine if _ready(spec, status)),
                "succeeded": sum(1 for _, status in mine if condition_true(status, "Complete")),
                "failed": sum(1 for _, status in mine if condition_true(status, "Failed")),
                "active": sum(1 for _, status in mine if status.get("active", 0) > 0),
                "suspended": sum(1 for spec, _ in mine if spec.get("suspend")),
            }
        )
    return listed


def _ready(spec: Json, status: Json) -> bool:
    if condition_true(status, "Complete") or condition_true(status, "Failed"):
        return False
    wanted = min(int(spec.get("parallelism", 1)), completions(spec))
    return int(status.get("ready", 0)) + int(status.get("succeeded", 0)) >= wanted > 0


def _succeeded(view: OperatorView, jobs: dict[str, Json]) -> bool:
    policy = view.spec.get("successPolicy") or {}
    targets = policy.get("targetReplicatedJobs") or [one["name"] for one in _sets(view)]
    wanted = sum(int(one.get("replicas", 1)) for one in _sets(view) if one["name"] in targets)
    done = sum(
        1 for name in targets for job in _of_set(jobs, name) if condition_true(job.get("status") or {}, "Complete")
    )
    return done > 0 if policy.get("operator") == "Any" else 0 < wanted <= done


def _switched(jobs: dict[str, Json], suspend: bool) -> list[Json]:
    """Children whose suspend differs from the set's."""
    return [
        {**one, "metadata": dict(one["metadata"]), "spec": {**one["spec"], "suspend": suspend}}
        for one in jobs.values()
        if bool(one["spec"].get("suspend")) is not suspend and not _ended(one)
    ]


def _jobs(view: OperatorView, tries: int, suspend: bool) -> list[Json]:
    made = []
    for one in _sets(view):
        template = one.get("template") or {}
        for index in range(int(one.get("replicas", 1))):
            labels = {
                f"{_PREFIX}jobset-name": view.name,
                f"{_PREFIX}replicatedjob-name": one["name"],
                f"{_PREFIX}replicatedjob-replicas": str(one.get("replicas", 1)),
                f"{_PREFIX}job-index": str(index),
                f"{_PREFIX}restart-attempt": str(tries),
            }
            made.append(_job(f"{view.name}-{one['name']}-{index}", template, labels, suspend))
    return made


def _job(name: str, template: Json, labels: Json, suspend: bool) -> Json:
    given = template.get("metadata") or {}
    spec = template.get("spec") or {}
    # The default of its webhook.
    pods = dict(spec.get("template") or {})
    pods["spec"] = {"restartPolicy": "OnFailure", **(pods.get("spec") or {})}
    metadata = pods.get("metadata") or {}
    labelled = {**metadata, "labels": {**(metadata.get("labels") or {}), **labels}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "labels": {**(given.get("labels") or {}), **labels},
            "annotations": dict(given.get("annotations") or {}),
        },
        "spec": {**spec, "suspend": suspend, "template": {**pods, "metadata": labelled}},
    }
