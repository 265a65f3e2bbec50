"""LeaderWorkerSet, as its controller v0.7 runs it: groups of a leader and workers, which come back as whole groups."""

from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.operators.base import ENDED, OperatorView, Reconciled, alive, phase, pod, with_condition
from fairway.lab.kubesim.pod_behaviour import EXIT_CODE, RUN_FOR

_PREFIX = "leaderworkerset.sigs.k8s.io/"
_GROUP = f"{_PREFIX}group-index"
_WORKER = f"{_PREFIX}worker-index"
_WHY = {"Available": ("AllGroupsReady", "All replicas are ready"), "Progressing": ("GroupsProgressing", "")}


def reconcile(view: OperatorView) -> Reconciled:
    pods = view.named("Pod")
    here = alive(pods.values())
    size = int((view.spec.get("leaderWorkerTemplate") or {}).get("size", 1))
    groups = int(view.spec.get("replicas", 1))
    up = {name for name, one in pods.items() if phase(one) == "Running"}
    wanted = [one for one in _pods(view, groups, size) if _may_start(view, one, up)]
    names = {one["metadata"]["name"] for one in wanted}
    broken = {_group(one) for one in here if phase(one) in ENDED} if _as_wholes(view) else set()
    gone = [one for one in here if one["metadata"]["name"] not in names or phase(one) in ENDED or _group(one) in broken]
    create = tuple(one for one in wanted if one["metadata"]["name"] not in pods)
    whole = [_group(one) for one in here if one["metadata"]["name"] in up & names]
    ready = sum(1 for group in set(whole) if whole.count(group) == size)
    counts = {"replicas": groups, "readyReplicas": ready, "updatedReplicas": groups}
    return Reconciled(create=create, delete=tuple(gone), status=_status(view, counts))


def _status(view: OperatorView, counts: Json) -> Json:
    status = {**view.status, **counts}
    is_up = counts["readyReplicas"] == counts["replicas"]
    for kind, value in (("Available", is_up), ("Progressing", not is_up)):
        if value or any(one["type"] == kind for one in status.get("conditions") or ()):
            status = with_condition(status, view.now, kind, value, _WHY[kind])
    return status


def _group(one: Json) -> str:
    return str(one["metadata"]["labels"][_GROUP])


def _as_wholes(view: OperatorView) -> bool:
    template = view.spec.get("leaderWorkerTemplate") or {}
    return bool(template.get("restartPolicy", "RecreateGroupOnPodRestart") == "RecreateGroupOnPodRestart")


def _may_start(view: OperatorView, one: Json, up: set[str]) -> bool:
    """Workers of a set that waits for its leaders come when theirs is up."""
    labels = one["metadata"]["labels"]
    waits = view.spec.get("startupPolicy") == "LeaderReady" and labels[_WORKER] != "0"
    return not waits or f"{view.name}-{labels[_GROUP]}" in up


def _pods(view: OperatorView, groups: int, size: int) -> list[Json]:
    template = view.spec.get("leaderWorkerTemplate") or {}
    workers = template.get("workerTemplate")
    made = []
    for group in range(groups):
        leader = template.get("leaderTemplate") or workers
        for index in range(size):
            name = f"{view.name}-{group}-{index}" if index else f"{view.name}-{group}"
            labels = {f"{_PREFIX}name": view.name, _GROUP: str(group), _WORKER: str(index)}
            one = pod(name, workers if index else leader, labels)
            # A StatefulSet's pods serve until they are deleted.
            one["metadata"]["annotations"] |= {RUN_FOR: "never", EXIT_CODE: "0"}
            one["spec"].setdefault("restartPolicy", "Always")
            made.append(one)
    return made
