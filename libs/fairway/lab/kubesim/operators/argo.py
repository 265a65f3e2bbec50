"""Argo Workflow, as its controller v3.6 runs it: steps and DAGs become pods, each when those before it
are done.

Not here: `when` (taken as true), parameters, artifacts, retryStrategy, hooks, withParam.
"""

from collections.abc import Iterator

import msgspec

from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.operators.base import ENDED, OperatorView, Reconciled, alive, count, phase, pod, why_failed

_FINAL = ("Succeeded", "Failed", "Error")
# Templates may call themselves; a simulation stops somewhere.
_DEEPEST = 20


class WorkflowStep(msgspec.Struct, frozen=True):
    """One pod to be: its node name in the workflow, its template, and the steps that must succeed before."""

    name: str
    template: Json
    after: tuple[str, ...]


def reconcile(view: OperatorView) -> Reconciled:
    status = view.status
    if status.get("phase") in _FINAL:
        return Reconciled()
    steps = list(plan(view.spec, view.name))
    made = {
        one["metadata"]["annotations"]["workflows.argoproj.io/node-name"]: one for one in view.named("Pod").values()
    }
    phases = {name: phase(one) for name, one in made.items()}
    failed = [step.name for step in steps if phases.get(step.name) == "Failed"]
    active = count(alive(made.values()), "Pending", "Running")
    create: list[Json] = []
    if not failed and not view.spec.get("suspend"):
        room = int(view.spec.get("parallelism") or len(steps)) - active
        ready = [one for one in steps if one.name not in made and all(phases.get(x) == "Succeeded" for x in one.after)]
        create = [_pod(view, step) for step in ready[: max(0, room)]]
    return Reconciled(create=tuple(create), status=_status(view, steps, made, bool(create or active)))


def plan(spec: Json, workflow: str) -> Iterator[WorkflowStep]:
    """The workflow as a flat graph of pods."""
    templates = {one.get("name", ""): one for one in spec.get("templates") or ()}
    yield from _expand(templates, spec.get("entrypoint", ""), workflow, (), 0)


def _expand(
    templates: dict[str, Json], name: str, node: str, after: tuple[str, ...], depth: int
) -> Iterator[WorkflowStep]:
    template = templates.get(name)
    if template is None or depth > _DEEPEST:
        raise ValueError(f"template {name!r} is not there, or calls itself more than {_DEEPEST} times")
    if template.get("steps"):
        for number, group in enumerate(template["steps"]):
            parallel = group if isinstance(group, list) else [group]
            made: list[WorkflowStep] = []
            for task in parallel:
                for label in _labels(task):
                    inner = f"{node}[{number}].{label}"
                    made += _expand(templates, task.get("template", ""), inner, after, depth + 1)
            yield from made
            after = _ends(made) or after
    elif template.get("dag"):
        yield from _dag(templates, template["dag"].get("tasks") or [], (node, after, depth))
    else:
        yield WorkflowStep(node, template, after)


def _dag(templates: dict[str, Json], tasks: list[Json], at: tuple[str, tuple[str, ...], int]) -> Iterator[WorkflowStep]:
    node, before, depth = at
    ends: dict[str, tuple[str, ...]] = {}
    left = list(tasks)
    while left:
        ready = [one for one in left if all(name in ends for name in _dependencies(one))]
        if not ready:
            raise ValueError(f"the tasks {', '.join(one['name'] for one in left)} wait for each other")
        for task in ready:
            left.remove(task)
            after = tuple(end for name in _dependencies(task) for end in ends[name]) or before
            made: list[WorkflowStep] = []
            for label in _labels(task):
                made += _expand(templates, task.get("template", ""), f"{node}.{label}", after, depth + 1)
            ends[task["name"]] = _ends(made)
            yield from made


def _labels(task: Json) -> list[str]:
    """One per pod-to-be of a task: its name, or `name(0:item)` for each of withItems and withSequence."""
    items = task.get("withItems")
    if items is None and task.get("withSequence"):
        items = range(int(task["withSequence"].get("count", 0)))
    if items is None:
        return [task["name"]]
    return [f"{task['name']}({number}:{item})" for number, item in enumerate(items)]


def _dependencies(task: Json) -> list[str]:
    """`dependencies`, or the task names of a `depends` expression (its operators are taken as `and`)."""
    if task.get("depends"):
        parts = task["depends"].replace("(", " ").replace(")", " ").replace("!", " ")
        return [word.split(".")[0] for word in parts.split() if word not in ("&&", "||")]
    return list(task.get("dependencies") or ())


def _ends(steps: list[WorkflowStep]) -> tuple[str, ...]:
    """Steps that no other waits for."""
    waited = {name for step in steps for name in step.after}
    return tuple(step.name for step in steps if step.name not in waited)


def _node_id(view: OperatorView, name: str) -> str:
    """FNV-1a of the node name behind the workflow's, as Argo names nodes."""
    if name == view.name:
        return name
    found = 2166136261
    for byte in name.encode():
        found = ((found ^ byte) * 16777619) & 0xFFFFFFFF
    return f"{view.name}-{found}"


def _pod(view: OperatorView, step: WorkflowStep) -> Json:
    template = step.template
    node_id = _node_id(view, step.name)
    name = node_id if node_id == view.name else f"{view.name}-{template['name']}-{node_id.rpartition('-')[2]}"
    container = {**(template.get("container") or template.get("script") or {}), "name": "main"}
    containers = [container, *(template.get("sidecars") or ()), {"name": "wait", "image": "argoexec"}]
    given: Json = {"metadata": _metadata(view, template), "spec": {"containers": containers}}
    for field in ("nodeSelector", "tolerations", "affinity", "initContainers"):
        value = template.get(field) or view.spec.get(field)
        if value:
            given["spec"][field] = value
    given["spec"]["restartPolicy"] = "Never"
    labels = {"workflows.argoproj.io/workflow": view.name, "workflows.argoproj.io/completed": "false"}
    annotations = {"workflows.argoproj.io/node-name": step.name, "workflows.argoproj.io/node-id": node_id}
    return pod(name, given, labels, annotations)


def _metadata(view: OperatorView, template: Json) -> Json:
    shared = view.spec.get("podMetadata") or {}
    own = template.get("metadata") or {}
    fields = ("labels", "annotations")
    return {field: {**(shared.get(field) or {}), **(own.get(field) or {})} for field in fields}


def _status(view: OperatorView, steps: list[WorkflowStep], pods: dict[str, Json], active: bool) -> Json:
    nodes = {}
    for step in steps:
        if step.name in pods:
            node = _node(view, step, pods[step.name])
            nodes[node["id"]] = node
    done = count(pods.values(), "Succeeded")
    status = {**view.status, "startedAt": view.status.get("startedAt", view.now)}
    status |= {"nodes": nodes, "progress": f"{done}/{len(steps)}", "phase": "Running"}
    failed = [one for one in pods.values() if phase(one) == "Failed"]
    if failed and not active:
        node = failed[0]["metadata"]["annotations"]["workflows.argoproj.io/node-name"]
        return _ended(view, status, "Failed", f"child {node!r} failed: {why_failed(failed[0])}")
    if done == len(steps):
        return _ended(view, status, "Succeeded", "")
    return status


def _node(view: OperatorView, step: WorkflowStep, made: Json) -> Json:
    state = phase(made)
    node: Json = {
        "id": _node_id(view, step.name),
        "name": step.name,
        "displayName": step.name.rpartition(".")[2],
        "type": "Pod",
        "templateName": step.template["name"],
        "phase": state,
        "startedAt": made["metadata"]["creationTimestamp"],
    }
    if state in ENDED:
        former = (view.status.get("nodes") or {}).get(node["id"]) or {}
        node["finishedAt"] = former.get("finishedAt", view.now)
    return node


def _ended(view: OperatorView, status: Json, state: str, message: str) -> Json:
    status = {
        **status,
        "phase": state,
        "finishedAt": view.now,
        "conditions": [{"type": "Completed", "status": "True"}],
    }
    return {**status, "message": message} if message else status
