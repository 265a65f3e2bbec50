"""AppWrapper, as its controller v1.2 runs it: its components made as they stand in it, and made anew together when one
of them failed. Without the pauses and the periods of grace between; its components tell whether its pods are up."""

from copy import deepcopy

from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.operators.base import OperatorView, Reconciled, alive, with_condition
from fairway.wire.workload import Workload
from fairway.workloads.kinds.kind import reach
from fairway.workloads.kinds.phase import FAILED, RUNNING, SUCCEEDED
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.reading.fields import Field, Problems

_LABEL = "workload.codeflare.dev/appwrapper"
_RETRIES = "workload.codeflare.dev.appwrapper/retryLimit"


def reconcile(view: OperatorView) -> Reconciled:
    here = alive(view.children)
    phase = str(view.status.get("phase") or "")
    if view.spec.get("suspend") or phase == "Failed":
        phase = "Failed" if phase == "Failed" else "Suspended"
        return Reconciled(delete=tuple(here), status={**view.status, "phase": phase})
    if phase == "Succeeded":
        return Reconciled()
    if phase != "Running":
        if phase == "Resetting" and view.children:
            return Reconciled()  # until they are gone
        status = _told(view, {**view.status, "phase": "Running"}, "PodsReady", False, "InsufficientPodsReady")
        return Reconciled(create=tuple(_component(view, one) for one in view.spec["components"]), status=status)
    return _running(view, here)


def _running(view: OperatorView, here: list[Json]) -> Reconciled:
    states = [_state(one) for one in here]
    tries = int(view.status.get("resettingCount", 0))
    if len(here) < len(view.spec["components"]):
        return Reconciled(status=_told(view, {**view.status, "phase": "Failed"}, "Unhealthy", True, "MissingComponent"))
    if FAILED in states:
        again = tries < int((view.job["metadata"].get("annotations") or {}).get(_RETRIES, 3))
        status = {**view.status, "phase": "Resetting" if again else "Failed", "resettingCount": tries + again}
        return Reconciled(delete=tuple(here), status=_told(view, status, "Unhealthy", True, "FailedComponent"))
    if all(one == SUCCEEDED for one in states):
        return Reconciled(status={**view.status, "phase": "Succeeded"})
    up = all(one in (RUNNING, SUCCEEDED) for one in states)
    why = "SufficientPodsReady" if up else "InsufficientPodsReady"
    return Reconciled(status=_told(view, view.status, "PodsReady", up, why))


def _told(view: OperatorView, status: Json, kind: str, value: bool, why: str) -> Json:
    return with_condition(status, view.now, kind, value, (why, ""))


def _component(view: OperatorView, component: Json) -> Json:
    made: Json = deepcopy(component["template"])
    kind = KINDS[f"{made['kind']}.{made['apiVersion']}"]
    for path in (("metadata",), *kind.label_paths(made)):
        reach(made, path).setdefault("labels", {})[_LABEL] = view.name
    return made


def _state(child: Json) -> str:
    kind = KINDS[f"{child['kind']}.{child['apiVersion']}"]
    root = Field(child, Problems())
    pods = kind.pod_sets(root)
    name = child["metadata"]["name"]
    asked = Workload(kind.api_version, kind.name, "", name, pods, kind.gang(root, pods))
    return kind.phase(asked, root).state
