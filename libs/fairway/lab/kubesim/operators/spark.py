"""SparkApplication, as spark-operator v2.3 and spark-submit run it: a driver, then executors that end
with it."""

import re

from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.operators.base import OperatorView, Reconciled, alive, exit_code, phase, pod, together
from fairway.lab.kubesim.pod_behaviour import RUN_FOR

_FINAL = ("COMPLETED", "FAILED")
_EXECUTOR_STATES = {"Pending": "PENDING", "Running": "RUNNING", "Succeeded": "COMPLETED", "Failed": "FAILED"}
# Spark on Kubernetes: overhead is a share of the memory, at least this many MiB.
_LEAST_OVERHEAD = 384
_MIB = {"k": 1 / 1024, "m": 1, "g": 1024, "t": 1024 * 1024, "": 1}


def reconcile(view: OperatorView) -> Reconciled:
    status = view.status
    state = (status.get("applicationState") or {}).get("state", "")
    pods = alive(view.named("Pod").values())
    executors = [one for one in pods if _role(one) == "executor"]
    if state in _FINAL:
        return Reconciled(delete=tuple(executors))
    if view.spec.get("suspend"):
        return Reconciled(delete=tuple(pods), status=_at(view, status, "SUSPENDED"))
    driver = next((one for one in pods if _role(one) == "driver"), None)
    if driver is None:
        return _submit(view, status, executors)
    states = {one["metadata"]["name"]: _EXECUTOR_STATES[phase(one)] for one in executors}
    status = {**status, "executorState": {**(status.get("executorState") or {}), **states}}
    if phase(driver) == "Succeeded":
        ended = {**_at(view, status, "COMPLETED"), "terminationTime": view.now}
        return Reconciled(delete=tuple(executors), status=_over(ended, "COMPLETED"))
    if phase(driver) == "Failed":
        return _failed(view, status, driver, executors)
    if phase(driver) == "Pending":
        return Reconciled(status=_at(view, status, "SUBMITTED"))
    there = {one["metadata"]["name"] for one in executors}
    create = [one for one in _executors(view) if one["metadata"]["name"] not in there]
    return Reconciled(create=tuple(create), status=_at(view, status, "RUNNING"))


def _submit(view: OperatorView, status: Json, left: list[Json]) -> Reconciled:
    if (status.get("applicationState") or {}).get("state") == "RUNNING":
        gone = _at(view, status, "FAILED", "driver pod not found")
        return Reconciled(delete=tuple(left), status=_over(gone, "FAILED"))
    status = {
        **_at(view, status, "SUBMITTED"),
        "driverInfo": {"podName": f"{view.name}-driver"},
        "sparkApplicationId": f"spark-{view.uid.replace('-', '')}",
        "lastSubmissionAttemptTime": view.now,
        "submissionAttempts": int(status.get("submissionAttempts", 0)) + 1,
        "executionAttempts": int(status.get("executionAttempts", 0)) + 1,
        "executorState": {},
    }
    return Reconciled(create=(_driver(view),), delete=tuple(left), status=status)


def _failed(view: OperatorView, status: Json, driver: Json, executors: list[Json]) -> Reconciled:
    """FAILED, or PENDING_RERUN while restartPolicy allows another run."""
    policy = view.spec.get("restartPolicy") or {}
    tries = int(status.get("executionAttempts", 1))
    again = policy.get("type") == "Always" or (
        policy.get("type") == "OnFailure" and tries <= int(policy.get("onFailureRetries", 0))
    )
    if again:
        return Reconciled(delete=(driver, *executors), status=_at(view, status, "PENDING_RERUN"))
    why = f"driver container failed with ExitCode: {exit_code(driver)}"
    ended = {**_at(view, status, "FAILED", why), "terminationTime": view.now}
    return Reconciled(delete=tuple(executors), status=_over(ended, "FAILED"))


def _at(view: OperatorView, status: Json, state: str, error: str = "") -> Json:
    return {**status, "applicationState": {"state": state, **({"errorMessage": error} if error else {})}}


def _over(status: Json, state: str) -> Json:
    """Executors end with their driver."""
    listed = {
        name: state if one in ("RUNNING", "PENDING") else one
        for name, one in (status.get("executorState") or {}).items()
    }
    return {**status, "executorState": listed}


def _role(child: Json) -> str:
    return str(child["metadata"]["labels"].get("spark-role", ""))


def _instances(spec: Json) -> int:
    dynamic = spec.get("dynamicAllocation") or {}
    if dynamic.get("enabled"):
        return int(dynamic.get("initialExecutors") or dynamic.get("minExecutors") or 1)
    return int((spec.get("executor") or {}).get("instances", 1))


def _driver(view: OperatorView) -> Json:
    made = _pod(view, "driver", f"{view.name}-driver")
    made["metadata"]["annotations"] |= together(view.uid, 1 + _instances(view.spec), leader=True)
    return made


def _executors(view: OperatorView) -> list[Json]:
    made = []
    for number in range(1, _instances(view.spec) + 1):
        one = _pod(view, "executor", f"{view.name}-{view.uid[:8]}-exec-{number}")
        one["metadata"]["labels"]["spark-exec-id"] = str(number)
        one["metadata"]["annotations"] |= {
            **together(view.uid, 1 + _instances(view.spec), leader=False),
            RUN_FOR: "never",
        }
        made.append(one)
    return made


def _pod(view: OperatorView, role: str, name: str) -> Json:
    given = view.spec.get(role) or {}
    labels = {
        **(given.get("labels") or {}),
        "spark-role": role,
        "spark-app-name": view.name,
        "sparkoperator.k8s.io/app-name": view.name,
        "sparkoperator.k8s.io/launched-by-spark-operator": "true",
    }
    made = pod(name, given.get("template"), labels, given.get("annotations"))
    kept = {key: given[key] for key in ("nodeSelector", "tolerations", "affinity") if given.get(key)}
    if view.spec.get("nodeSelector"):
        kept.setdefault("nodeSelector", view.spec["nodeSelector"])
    container = {
        "name": f"spark-kubernetes-{role}",
        "image": given.get("image") or view.spec.get("image") or "spark",
        "resources": _resources(view.spec, given),
    }
    made["spec"] = {**made["spec"], **kept, "restartPolicy": "Never", "containers": [container]}
    return made


def _resources(spec: Json, given: Json) -> Json:
    memory = _mib(given.get("memory") or "1g")
    python = spec.get("type") in ("Python", "R")
    factor = float(spec.get("memoryOverheadFactor") or (0.4 if python else 0.1))
    overhead = max(memory * factor, _LEAST_OVERHEAD)
    if given.get("memoryOverhead"):
        overhead = _mib(given["memoryOverhead"])
    amounts = {
        "cpu": str(given.get("coreRequest") or given.get("cores") or 1),
        "memory": f"{int(memory + overhead)}Mi",
    }
    gpu = given.get("gpu") or {}
    limits = {gpu["name"]: str(gpu.get("quantity", 1))} if gpu.get("name") else {}
    return {"requests": {**amounts, **limits}, "limits": {"memory": amounts["memory"], **limits}}


def _mib(text: object) -> float:
    """Spark's sizes: 512m, 4g; a bare number is MiB."""
    match = re.match(r"^([0-9]+)\s*([kmgt]?)(?:i?b)?$", str(text).strip().lower())
    if not match:
        raise ValueError(f"{text!r} is not a memory size of Spark; write 512m or 4g")
    return int(match[1]) * _MIB[match[2]]
