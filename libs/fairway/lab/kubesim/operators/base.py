"""What an operator is given and what it says, and the little that all of them share."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.pod_behaviour import GROUP, GROUP_BREAKS, GROUP_ROLE, GROUP_SIZE, PREFIX

ENDED = ("Succeeded", "Failed")


Find = Callable[[str, str], Json | None]


def nothing(kind: str, name: str) -> Json | None:
    """Of a job that names nothing."""
    return None


class OperatorView(msgspec.Struct, frozen=True):
    """A job and the objects it owns (any kind, those being deleted too). `now` is RFC 3339, for timestamps;
    `now_ms` the loop's time in milliseconds, for durations. `find` gives what it names, by the kind in the job's own
    group and version or as `Kind.group/version`, and by its name."""

    job: Json
    children: tuple[Json, ...]
    now: str
    now_ms: int = 0
    find: Find = nothing

    @property
    def spec(self) -> Json:
        found: Json = self.job.get("spec") or {}
        return found

    @property
    def status(self) -> Json:
        found: Json = self.job.get("status") or {}
        return found

    @property
    def name(self) -> str:
        return str(self.job["metadata"]["name"])

    @property
    def uid(self) -> str:
        return str(self.job["metadata"]["uid"])

    def named(self, kind: str) -> dict[str, Json]:
        """Children of this kind by name."""
        return {one["metadata"]["name"]: one for one in self.children if one["kind"] == kind}


class Reconciled(msgspec.Struct, frozen=True):
    """`create` are whole children, `delete` children of the view; `status` None leaves it; `again_ms` > 0
    asks to be called again after that time."""

    create: tuple[Json, ...] = ()
    delete: tuple[Json, ...] = ()
    update: tuple[Json, ...] = ()
    status: Json | None = None
    again_ms: int = 0


Operator = Callable[[OperatorView], Reconciled]


def pod(name: str, template: Any, labels: Json, annotations: Json | None = None) -> Json:
    """A pod of a template: its labels and annotations are carried, the operator's added."""
    template = template if isinstance(template, dict) else {}
    metadata = template.get("metadata") or {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": {**(metadata.get("labels") or {}), **labels},
            "annotations": {**(metadata.get("annotations") or {}), **(annotations or {})},
        },
        "spec": dict(template.get("spec") or {}),
    }


def together(uid: str, size: int, leader: bool, breaks: bool = True) -> Json:
    """Annotations of a pod that starts to count when `size` of its group run; `breaks`: its failure is
    theirs."""
    role = "leader" if leader else "member"
    return {GROUP: uid, GROUP_SIZE: str(size), GROUP_ROLE: role, GROUP_BREAKS: str(breaks).lower()}


def inherit(job: Json, child: Json) -> None:
    """The job's fairway.test/ annotations hold for its children unless their own say otherwise."""
    given = job["metadata"].get("annotations") or {}
    wanted = {key: value for key, value in given.items() if key.startswith(PREFIX)}
    if wanted:
        child["metadata"]["annotations"] = {**wanted, **(child["metadata"].get("annotations") or {})}


def phase(child: Json) -> str:
    return str((child.get("status") or {}).get("phase", "Pending"))


def alive(children: Iterable[Json]) -> list[Json]:
    """Those not being deleted."""
    return [one for one in children if not one["metadata"].get("deletionTimestamp")]


def count(children: Iterable[Json], *phases: str) -> int:
    return sum(1 for one in children if phase(one) in phases)


def counted(children: Iterable[Json], **phases: tuple[str, ...]) -> Json:
    """How many are in one of the phases, by name; nothing of those of which there are none."""
    listed = list(children)
    found = {name: count(listed, *wanted) for name, wanted in phases.items()}
    return {name: number for name, number in found.items() if number}


def exit_code(child: Json) -> int:
    """Of a pod that ended; 137 when it was lost or evicted and no container says."""
    return 137 if (child.get("status") or {}).get("reason") else int(_terminated(child).get("exitCode", 0))


def _terminated(child: Json) -> Json:
    """What its first container says of its end."""
    containers = (child.get("status") or {}).get("containerStatuses") or [{}]
    found: Json = containers[0].get("state", {}).get("terminated", {})
    return found


def restarts(children: Iterable[Json]) -> int:
    return sum(
        one.get("restartCount", 0) for child in children for one in child["status"].get("containerStatuses") or ()
    )


def why_failed(child: Json) -> str:
    """The reason the pod or its container gives."""
    return str((child.get("status") or {}).get("reason") or _terminated(child).get("reason", "Error"))


def condition_true(status: Json, kind: str) -> bool:
    return any(one["type"] == kind and one["status"] == "True" for one in status.get("conditions") or ())


def with_condition(status: Json, now: str, kind: str, value: bool, why: tuple[str, str]) -> Json:
    """The status with the condition `kind` at `value`; `why` is (reason, message). Its place and the time
    of its last change stay when it says the same."""
    wanted = {"type": kind, "status": str(value), "reason": why[0], "message": why[1]}
    listed: list[Json] = list(status.get("conditions") or ())
    for index, one in enumerate(listed):
        if one["type"] == kind:
            if one["status"] == wanted["status"] and one.get("reason") == why[0]:
                return status
            changed = one.get("lastTransitionTime", now) if one["status"] == wanted["status"] else now
            listed[index] = {**wanted, "lastUpdateTime": now, "lastTransitionTime": changed}
            return {**status, "conditions": listed}
    listed.append({**wanted, "lastUpdateTime": now, "lastTransitionTime": now})
    return {**status, "conditions": listed}


def without(status: Json, *fields: str) -> Json:
    return {key: value for key, value in status.items() if key not in fields}
