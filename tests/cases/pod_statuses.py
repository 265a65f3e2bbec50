"""Changes of the status of a Pod behind a gate, as an API server judges them; likewise (job_statuses.py)."""

from typing import Any

from tests.cases.job_statuses import LATER, START, Change, Json

ENDED = {"startedAt": START, "finishedAt": LATER}
RUNS: Json = {"running": {"startedAt": START}}
AGAIN = "may not be transitioned to non-terminated state"


def status(phase: str, state: Json | None = None, **fields: Any) -> Json:
    told = {"name": "main", "image": "x", "imageID": "", "ready": False, "restartCount": 0, "state": state}
    return {"phase": phase, **({"containerStatuses": [told]} if state else {}), **fields}


def ended(code: int) -> Json:
    return {"terminated": {"exitCode": code, **ENDED}}


CHANGES = {
    "it runs somewhere": Change({}, status("Running", RUNS, startTime=START, podIP="10.1.2.3")),
    "it fails": Change(status("Running", RUNS), status("Failed", ended(1), reason="Evicted")),
    "it runs again in one step": Change(status("Failed", ended(1)), status("Running", RUNS), AGAIN),
    "it waits between attempts": Change(status("Failed", ended(1)), status("Pending")),
    "it runs again after that": Change(status("Pending"), status("Running", RUNS)),
    "what failed may start again": Change(
        status("Running", ended(1)), status("Running", RUNS), spec={"restartPolicy": "OnFailure"}
    ),
    "what ended well may not": Change(
        status("Running", ended(0)), status("Running", RUNS), AGAIN, {"restartPolicy": "OnFailure"}
    ),
    "what always starts again may": Change(
        status("Running", ended(0)), status("Running", RUNS), spec={"restartPolicy": "Always"}
    ),
    "it is said to have nothing": Change(status("Running", RUNS), {}),
}


def manifest(name: str, **spec: Any) -> Json:
    gates = [{"name": "fairway.io/fleet"}]
    body = {"schedulingGates": gates, "restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": body}
