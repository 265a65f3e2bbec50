"""Volcano Job, as its controller v1.10 runs it: tasks, gang minimum, policies, AbortJob and ResumeJob
commands.

Unlike there, pods exist (Pending) before the gang fits; the scheduler binds them all or none. A Job whose queue is not
there, which its webhook would have refused, waits for that.
"""

from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.operators.base import ENDED, OperatorView, Reconciled, alive, count, counted, phase, pod

_QUEUE = "Queue.scheduling.volcano.sh/v1beta1"
# How soon a queue that is not there is looked for again (ms).
_AGAIN_MS = 1_000
_MAX_RETRY = 3  # Volcano's default of maxRetry
_FINAL = ("Completed", "Failed", "Terminated", "Aborted")
_ACTION_PHASES = {"AbortJob": "Aborted", "TerminateJob": "Terminated", "CompleteJob": "Completed"}


def reconcile(view: OperatorView) -> Reconciled:
    pods = list(view.named("Pod").values())
    commands = [one for one in view.children if one["kind"] == "Command"]
    state = (view.status.get("state") or {}).get("phase", "Pending")
    action = commands[0].get("action", "") if commands else ""
    if state in _FINAL and not (action == "ResumeJob" and state == "Aborted"):
        return Reconciled(delete=(*_running(pods), *commands))
    if not action:
        action = _policy_action(view, pods)
    if action in _ACTION_PHASES:
        status = _status(view, pods, _ACTION_PHASES[action])
        return Reconciled(delete=(*_running(pods), *commands), status=status)
    if action in ("ResumeJob", "RestartJob"):
        return _restart(view, pods, commands)
    ended = _ended(view, pods)
    if ended:
        return Reconciled(delete=tuple(commands), status=_status(view, pods, ended))
    queue = _queue(view)
    if queue != "default" and view.find(_QUEUE, queue) is None:
        return Reconciled(status=_status(view, pods, "Pending"), again_ms=_AGAIN_MS)
    there = view.named("Pod")
    create = tuple(one for one in _pods(view) if one["metadata"]["name"] not in there)
    up = count(alive(pods), "Running", "Succeeded")
    now = "Running" if up >= _minimum(view.spec) or state == "Running" else "Pending"
    return Reconciled(create=create, status=_status(view, pods, now))


def _tasks(spec: Json) -> list[Json]:
    return [{**one, "name": one.get("name") or f"default{i}"} for i, one in enumerate(spec.get("tasks") or ())]


def _replicas(spec: Json) -> int:
    return sum(int(one.get("replicas", 1)) for one in _tasks(spec))


def _minimum(spec: Json) -> int:
    return int(spec.get("minAvailable") or _replicas(spec))


def _queue(view: OperatorView) -> str:
    return str(view.spec.get("queue") or "default")


def _running(pods: list[Json]) -> list[Json]:
    return [one for one in alive(pods) if phase(one) not in ENDED]


def _pods(view: OperatorView) -> list[Json]:
    made = []
    group = f"{view.name}-{view.uid}"
    annotations = {
        "scheduling.k8s.io/group-name": group,
        "volcano.sh/job-name": view.name,
        "fairway.test/gang-min": str(_minimum(view.spec)),
    }
    for task in _tasks(view.spec):
        for index in range(int(task.get("replicas", 1))):
            labels = {
                "volcano.sh/job-name": view.name,
                "volcano.sh/job-namespace": view.job["metadata"].get("namespace", ""),
                "volcano.sh/queue-name": _queue(view),
                "volcano.sh/task-spec": task["name"],
                "volcano.sh/task-index": str(index),
            }
            one = pod(f"{view.name}-{task['name']}-{index}", task.get("template"), labels, annotations)
            one["spec"].setdefault("restartPolicy", "OnFailure")
            one["spec"].setdefault("schedulerName", view.spec.get("schedulerName") or "volcano")
            made.append(one)
    return made


def _task(child: Json) -> str:
    return str(child["metadata"]["labels"].get("volcano.sh/task-spec", ""))


def _policy_action(view: OperatorView, pods: list[Json]) -> str:
    """The action of the first policy (the task's before the job's) whose event has happened."""
    of_job = view.spec.get("policies") or []
    for task in _tasks(view.spec):
        mine = [one for one in alive(pods) if _task(one) == task["name"]]
        for policy in (*(task.get("policies") or ()), *of_job):
            events = {policy.get("event"), *(policy.get("events") or ())}
            if events & _events(task, mine):
                return str(policy.get("action", ""))
    return ""


def _events(task: Json, pods: list[Json]) -> set[str]:
    found = set()
    for one in pods:
        if phase(one) == "Failed":
            found |= {"PodEvicted" if (one["status"].get("reason")) else "PodFailed", "PodFailed", "*"}
    if pods and count(pods, "Succeeded") >= int(task.get("replicas", 1)):
        found.add("TaskCompleted")
    return found


def _restart(view: OperatorView, pods: list[Json], commands: list[Json]) -> Reconciled:
    """All pods go; as their names are free, new ones come. Failed when it has been tried too often."""
    tries = int(view.status.get("retryCount", 0)) + 1
    limit = int(view.spec.get("maxRetry") or _MAX_RETRY)
    gone = (*alive(pods), *commands)
    if tries > limit:
        status = _status(view, pods, "Failed")
        return Reconciled(delete=(*_running(pods), *commands), status=status)
    return Reconciled(delete=gone, status={**_status(view, [], "Pending"), "retryCount": tries})


def _ended(view: OperatorView, pods: list[Json]) -> str:
    succeeded = count(pods, "Succeeded")
    failed = count(pods, "Failed")
    enough = view.spec.get("minSuccess")
    if enough and succeeded >= int(enough):
        return "Completed"
    if not pods or succeeded + failed < _replicas(view.spec):
        return ""
    return "Completed" if succeeded >= int(enough or _minimum(view.spec)) else "Failed"


def _status(view: OperatorView, pods: list[Json], state: str) -> Json:
    tasks: Json = {}
    for one in pods:
        phases = tasks.setdefault(_task(one), {"phase": {}})["phase"]
        phases[phase(one)] = phases.get(phase(one), 0) + 1
    former = view.status
    status: Json = {"minAvailable": _minimum(view.spec), "taskStatusCount": tasks}
    for field in ("retryCount", "conditions", "state"):
        if field in former:
            status[field] = former[field]
    if (former.get("state") or {}).get("phase") != state:
        status["state"] = {"phase": state, "lastTransitionTime": view.now}
        entry = {"status": state, "lastTransitionTime": view.now}
        status["conditions"] = [*(former.get("conditions") or ()), entry]
    return {**status, **counted(pods, **{one.lower(): (one,) for one in ("Pending", "Running", *ENDED)})}
