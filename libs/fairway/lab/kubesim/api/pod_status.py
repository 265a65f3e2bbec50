"""What an API server makes of the status of a Pod: a gate keeps it back, and what ended for good does not run again
(Kubernetes 1.34, pkg/registry/core/pod/strategy.go and ValidateContainerStateTransition)."""

from fairway.lab.kubesim.api.errors import Json

Fault = tuple[str, str]
_TEXT = "Forbidden: may not be transitioned to non-terminated state"


def born(obj: Json) -> None:
    """The status of a new pod, in place."""
    status = obj.setdefault("status", {})
    status.setdefault("phase", "Pending")
    if obj["spec"].get("schedulingGates") and "conditions" not in status:
        text = "Scheduling is blocked due to non-empty scheduling gates"
        gated = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": text}
        status["conditions"] = [gated]


def faults(old: Json, new: Json) -> list[Fault]:
    """(field, message) of everything that is wrong with the change of the Pod's status."""
    policy = new["spec"].get("restartPolicy", "Always")
    if policy == "Always":
        return []
    over = {one.get("name"): one for one in _containers(old) if _ended(one, policy)}
    return [
        (f"status.containerStatuses[{index}].state", _TEXT)
        for index, one in enumerate(_containers(new))
        if one.get("name") in over and "terminated" not in (one.get("state") or {})
    ]


def _containers(obj: Json) -> list[Json]:
    found: list[Json] = (obj.get("status") or {}).get("containerStatuses") or []
    return found


def _ended(container: Json, policy: str) -> bool:
    """For good."""
    end = (container.get("state") or {}).get("terminated")
    return end is not None and not (policy == "OnFailure" and end.get("exitCode"))
