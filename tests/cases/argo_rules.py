"""What an Argo workflow may not say, beside the Pod Security Standards: one manifest for each way to say it, with the
field and the words of its refusal."""

import json
from typing import Any

from msgspec import Struct

from tests.cases.good_jobs import workflow
from tests.cases.pod_flaws import Json
from tests.cases.pod_rules import ANYTHING, Rule, but

MORE = "TenantProfile spec.podSecurity"
_LIST = {"apiVersion": "v1", "kind": "List", "items": []}
_REACH = {"hostPID": True, "priorityClassName": "system-node-critical", "nodeName": "n1", "serviceAccountName": "admin"}


class Never(Struct, frozen=True):
    """Nobody may: the job, the field of its refusal, what that says and what it advises."""

    name: str
    job: Json
    field: str
    says: str
    remedy: str


def patch(value: Any, path: str = "spec.podSpecPatch") -> Json:
    return but(workflow(), path, value if isinstance(value, str) else json.dumps(value))


_SECOND = "containers: []\n---\nhostPID: true"
_DEVICES = {"containers": [{"name": "main", "resources": {"claims": [{"name": "gpu"}]}}]}
_ODD_CASE = {"containers": [{"name": "main", "resources": {"Limits": {"nvidia.com/gpu": "8"}}}]}
PATCHES = (
    Rule(
        "a patch that is written as a List",
        patch(_LIST | _REACH),
        "spec.podSpecPatch",
        "patches apiVersion",
        ANYTHING,
        MORE,
    ),
    Rule(
        "a patch of a template that is written as a List",
        patch(_LIST | _REACH, "spec.templates.0.podSpecPatch"),
        "spec.templates[0].podSpecPatch",
        "patches apiVersion",
        ANYTHING,
        MORE,
    ),
    Rule(
        "a patch of who removes artifacts that is written as a List",
        patch(_LIST | _REACH, "spec.artifactGC.podSpecPatch"),
        "spec.artifactGC.podSpecPatch",
        "patches apiVersion",
        ANYTHING,
        MORE,
    ),
    Rule(
        "a patch among the items of a List",
        patch({"items": [_REACH], "kind": "List"}),
        "spec.podSpecPatch",
        "patches items",
        ANYTHING,
        MORE,
    ),
    Rule(
        "a patch of two documents", patch(_SECOND), "spec.podSpecPatch", "cannot be read as one mapping", ANYTHING, MORE
    ),
    Rule(
        "a patch behind an empty document",
        patch(f"---\n---\n{_SECOND}"),
        "spec.podSpecPatch",
        "cannot be read as one mapping",
        ANYTHING,
        MORE,
    ),
    Rule(
        "a patch that is a list",
        patch("[{hostPID: true}]"),
        "spec.podSpecPatch",
        "cannot be read as one mapping",
        ANYTHING,
        MORE,
    ),
    Rule(
        "a patch that claims devices",
        patch(_DEVICES),
        "spec.podSpecPatch",
        "containers.resources.claims",
        ANYTHING,
        MORE,
    ),
    Rule(
        "a patch of limits in another case",
        patch(_ODD_CASE),
        "spec.podSpecPatch",
        "containers.resources.Limits",
        ANYTHING,
        MORE,
    ),
)

_EVIL = {"name": "more", "inline": {"container": {"image": "x", "securityContext": {"privileged": True}}}}


def defaults(**fields: Any) -> Json:
    return but(workflow(), "spec.templateDefaults", fields)


DEFAULTS = (
    Never(
        "tasks as a default",
        defaults(dag={"tasks": [_EVIL]}),
        "spec.templateDefaults.dag",
        "pods would run which stand in none of them",
        "write it in the templates",
    ),
    Never(
        "steps as a default",
        defaults(steps=[[_EVIL]]),
        "spec.templateDefaults.steps",
        "pods would run which stand in none of them",
        "write it in the templates",
    ),
    Never(
        "a container set as a default",
        defaults(containerSet={"containers": [{"name": "main", "image": "x"}]}),
        "spec.templateDefaults.containerSet",
        "makes something else of every template",
        "write it in the templates",
    ),
    Never(
        "a request as a default",
        defaults(http={"url": "http://a"}),
        "spec.templateDefaults.http",
        "makes something else of every template",
        "write it in the templates",
    ),
)

_THEIRS = {"name": "train", "namespace": "team-vision"}
_COUNTED = {"namespace": "team-vision", "configMapKeyRef": {"name": "c", "key": "k"}}
_TAKES = "takes a lock of namespace 'team-vision'"
_OUT = "leave it out: locks are those of team"


def locks(path: str, **fields: Any) -> Json:
    return but(workflow(), f"{path}.synchronization", fields)


LOCKS = (
    Never(
        "a mutex of another namespace",
        locks("spec", mutex=_THEIRS),
        "spec.synchronization.mutex.namespace",
        _TAKES,
        _OUT,
    ),
    Never(
        "mutexes of another namespace",
        locks("spec", mutexes=[{"name": "mine"}, _THEIRS]),
        "spec.synchronization.mutexes[1].namespace",
        _TAKES,
        _OUT,
    ),
    Never(
        "a semaphore of another namespace",
        locks("spec.templates.0", semaphore=_COUNTED),
        "spec.templates[0].synchronization.semaphore.namespace",
        _TAKES,
        _OUT,
    ),
    Never(
        "semaphores of another namespace, for all templates",
        locks("spec.templateDefaults", semaphores=[_COUNTED]),
        "spec.templateDefaults.synchronization.semaphores[0].namespace",
        _TAKES,
        _OUT,
    ),
    Never(
        "a mutex of a namespace that is filled in later",
        locks("spec", mutex={**_THEIRS, "namespace": "{{x}}"}),
        "spec.synchronization.mutex.namespace",
        "only at run time",
        _OUT,
    ),
    Never(
        "a mutex of another namespace in a template written inside a step",
        but(
            workflow(),
            "spec.templates.0",
            {
                "name": "one",
                "steps": [
                    [{"name": "s", "inline": {"container": {"image": "x"}, "synchronization": {"mutex": _THEIRS}}}]
                ],
            },
        ),
        "spec.templates[0].steps[0][0].inline.synchronization.mutex.namespace",
        _TAKES,
        _OUT,
    ),
)

OWN_MARK = "only Argo's controller writes it"


def marked(key: str, path: str = "metadata.labels", value: Any = "true") -> Never:
    key = f"workflows.argoproj.io/{key}"
    return Never(f"{key} in {path}", but(workflow(), path, {key: value}), f"{path}['{key}']", OWN_MARK, "remove it")


MARKS = (
    marked("phase", value="Running"),
    marked("completed"),
    marked("workflow-archiving-status", value="Pending"),
    marked("pod-gc-strategy", "metadata.annotations"),
    marked("phase", "spec.workflowMetadata.labels", "Running"),
    marked("completed", "spec.workflowMetadata.labelsFrom", {"expression": "'true'"}),
    Never(
        "a label of Fairway's that Argo would write",
        but(workflow(), "spec.workflowMetadata.labels", {"fairway.io/job": "another"}),
        "spec.workflowMetadata.labels['fairway.io/job']",
        "only Fairway sets labels",
        "remove this label",
    ),
)
NEVER = (*DEFAULTS, *LOCKS, *MARKS)
