"""What the status of an object on the hub says, read by this simulation's own small idea of three kinds."""

from typing import Any

from fairway.lab.simulation.members.pods import JOB, WORKFLOW

WAITS = "waits"
RUNS = "runs"
SUCCEEDED = "succeeded"
FAILED = "failed"
OVER = (SUCCEEDED, FAILED)


def shown(kind: str, status: Any) -> str:
    status = status if isinstance(status, dict) else {}
    if kind == WORKFLOW:
        phases = {"Succeeded": SUCCEEDED, "Failed": FAILED, "Running": RUNS}
        return phases.get(str(status.get("phase")), WAITS)
    listed = status.get("conditions")
    true = [one.get("type") for one in listed if _is_true(one)] if isinstance(listed, list) else []
    if ("Complete" if kind == JOB else "Succeeded") in true:
        return SUCCEEDED
    if "Failed" in true:
        return FAILED
    runs = bool(status.get("active") or status.get("ready")) if kind == JOB else "Running" in true
    return RUNS if runs else WAITS


def _is_true(one: Any) -> bool:
    return isinstance(one, dict) and one.get("status") == "True"
