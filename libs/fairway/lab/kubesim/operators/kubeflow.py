"""The jobs of kubeflow.org, as training-operator v1.8 (v1.9 for JAXJob, mpi-operator for v2beta1) runs them.

The leader decides: Master, Chief, Launcher, Scheduler, else the workers: of a TFJob worker 0, of the others all. One
running pod of that role makes the job Running, also while the others are Pending: that trap is the real operator's.
"""

from collections.abc import Iterator, Mapping

import msgspec

from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.operators.base import (
    ENDED,
    OperatorView,
    Reconciled,
    alive,
    condition_true,
    count,
    counted,
    exit_code,
    phase,
    pod,
    restarts,
    together,
    why_failed,
    with_condition,
    without,
)
from fairway.lab.kubesim.pod_behaviour import GROUP_ROLE, RUN_FOR

# Of these two conditions the later one removes the other from the list.
_EXCLUSIVE = {"Running": "Restarting", "Restarting": "Running"}
_COUNTS = {"active": ("Running",), "succeeded": ("Succeeded",), "failed": ("Failed",)}


class Kubeflow(msgspec.Struct, frozen=True):
    """One kind: where its replicas are, which roles lead (the first that is there), which never end by
    themselves, and what the kind defaults. `again`: a pod that failed is made anew where its role restarts on
    failure."""

    kind: str
    replicas: str
    leaders: tuple[str, ...]
    endless: tuple[str, ...] = ()
    restart: str = "Never"
    clean: str = "None"
    again: bool = True

    def __call__(self, view: OperatorView) -> Reconciled:
        """Creates what is missing, deletes what must go, and says what the status is now."""
        status = view.status
        if condition_true(status, "Succeeded") or condition_true(status, "Failed"):
            return Reconciled(delete=tuple(self._cleaned(view)))
        policy = view.spec.get("runPolicy") or {}
        status = self._say(view, status, "Created", True, "is created")
        if policy.get("suspend"):
            return self._suspended(view, status)
        if condition_true(status, "Suspended"):
            status = without(self._say(view, status, "Suspended", False, "is resumed"), "startTime")
        status = {**status, "startTime": status.get("startTime", view.now)}
        there = view.named("Pod")
        create = tuple(self._missing(view, there))
        retried = tuple(one for one in alive(there.values()) if self._retry(view, one))
        status = self._progress(view, status, bool(retried))
        cleaned = self._cleaned(OperatorView(view.job | {"status": status}, view.children, view.now))
        if condition_true(status, "Succeeded") or condition_true(status, "Failed"):
            return Reconciled(delete=tuple(cleaned), status={**status, "completionTime": view.now})
        return Reconciled(create, retried, status=status)

    def _sets(self, view: OperatorView) -> dict[str, Json]:
        found = view.spec.get(self.replicas) or {}
        return {role: one or {} for role, one in found.items()}

    def _leader(self, view: OperatorView) -> str:
        sets = self._sets(view)
        return next((role for role in self.leaders if role in sets), "Worker")

    def _missing(self, view: OperatorView, there: Mapping[str, Json]) -> Iterator[Json]:
        sets = self._sets(view)
        size = sum(int(one.get("replicas", 1)) for one in sets.values())
        for role, one in sets.items():
            for index in range(int(one.get("replicas", 1))):
                name = f"{view.name}-{role.lower()}-{index}" if role != "Launcher" else f"{view.name}-launcher"
                if name not in there:
                    yield self._pod(view, name, (role, index), size)

    def _pod(self, view: OperatorView, name: str, place: tuple[str, int], size: int) -> Json:
        role, index = place
        one = self._sets(view)[role]
        restart = one.get("restartPolicy") or self.restart
        leads = role == self._leader(view) and index == 0
        group = together(view.uid, size, leads, breaks=restart == "Never")
        made = pod(name, one.get("template"), self._labels(view, role, index), group)
        if role in self.endless:
            made["metadata"]["annotations"] |= {RUN_FOR: "never", GROUP_ROLE: "server"}
        made["spec"]["restartPolicy"] = "Never" if restart == "ExitCode" else restart
        return made

    def _labels(self, view: OperatorView, role: str, index: int) -> Json:
        labels = {
            "training.kubeflow.org/job-name": view.name,
            "training.kubeflow.org/operator-name": f"{self.kind.lower()}-controller",
            "training.kubeflow.org/replica-type": role.lower(),
            "training.kubeflow.org/replica-index": str(index),
        }
        if role == self._leader(view) and index == 0:
            labels["training.kubeflow.org/job-role"] = "master"
        return labels

    def _say(self, view: OperatorView, status: Json, kind: str, value: bool, text: str) -> Json:
        if value and kind in _EXCLUSIVE:
            others = [one for one in status.get("conditions") or () if one["type"] != _EXCLUSIVE[kind]]
            status = {**status, "conditions": others}
        reason = f"{self.kind}{'Resumed' if text == 'is resumed' else kind}"
        return with_condition(status, view.now, kind, value, (reason, f"{self.kind} {view.name} {text}."))

    def _suspended(self, view: OperatorView, status: Json) -> Reconciled:
        status = self._say(view, status, "Suspended", True, "is suspended")
        if condition_true(status, "Running"):
            status = self._say(view, status, "Running", False, "is suspended")
        gone = tuple(alive(view.named("Pod").values()))
        return Reconciled(delete=gone, status={**status, "replicaStatuses": {role: {} for role in self._sets(view)}})

    def _role(self, child: Json) -> str:
        return str(child["metadata"]["labels"].get("training.kubeflow.org/replica-type", ""))

    def _policy(self, view: OperatorView, child: Json) -> str:
        for role, one in self._sets(view).items():
            if role.lower() == self._role(child):
                return str(one.get("restartPolicy") or self.restart)
        return self.restart

    def _retry(self, view: OperatorView, child: Json) -> bool:
        """A pod that failed and is deleted to be made anew; a container restarts in place without that."""
        policy = self._policy(view, child)
        if phase(child) != "Failed":
            return False
        if policy == "ExitCode":
            return exit_code(child) >= 128
        return self.again and policy in ("OnFailure", "Always")

    def _progress(self, view: OperatorView, status: Json, retrying: bool) -> Json:
        pods = alive(view.named("Pod").values())
        roles = {role: [one for one in pods if self._role(one) == role.lower()] for role in self._sets(view)}
        status = {**status, "replicaStatuses": {role: counted(own, **_COUNTS) for role, own in roles.items()}}
        if self._succeeded(view, pods):
            return self._end(view, status, "Succeeded", "successfully completed")
        failed = [one for one in pods if phase(one) == "Failed" and not self._retry(view, one)]
        limit = (view.spec.get("runPolicy") or {}).get("backoffLimit")
        if failed:
            first = failed[0]["metadata"]["name"]
            return self._end(view, status, "Failed", f"has failed because pod {first} failed: {why_failed(failed[0])}")
        if limit is not None and restarts(pods) >= max(1, int(limit)):
            return self._end(view, status, "Failed", "has failed because it has reached the specified backoff limit")
        if retrying:
            return self._say(view, status, "Restarting", True, "is restarting")
        if self._running(view, pods):
            status = self._say(view, status, "Running", True, "is running")
        return status

    def _running(self, view: OperatorView, pods: list[Json]) -> bool:
        """One pod of the leading role is enough, except for MPIJob v2beta1, which wants them all."""
        if view.job["apiVersion"] == "kubeflow.org/v2beta1":
            return count(pods, "Running") == sum(int(one.get("replicas", 1)) for one in self._sets(view).values())
        return count((one for one in pods if self._role(one) == self._leader(view).lower()), "Running") > 0

    def _succeeded(self, view: OperatorView, pods: list[Json]) -> bool:
        leader = self._leader(view)
        led = [one for one in pods if self._role(one) == leader.lower()]
        if leader == "Worker" and self.kind != "TFJob":
            wanted = int(self._sets(view).get("Worker", {}).get("replicas", 1))
            return wanted > 0 and count(led, "Succeeded") >= wanted
        first = [one for one in led if one["metadata"]["labels"]["training.kubeflow.org/replica-index"] == "0"]
        return count(first, "Succeeded") > 0

    def _end(self, view: OperatorView, status: Json, kind: str, text: str) -> Json:
        if condition_true(status, "Running"):
            status = self._say(view, status, "Running", False, text)
        return self._say(view, status, kind, True, text)

    def _cleaned(self, view: OperatorView) -> Iterator[Json]:
        """The pods that cleanPodPolicy deletes once the job has ended."""
        policy = (view.spec.get("runPolicy") or {}).get("cleanPodPolicy") or self.clean
        for one in alive(view.named("Pod").values()):
            if policy == "All" or (policy == "Running" and phase(one) not in ENDED):
                yield one


PYTORCH = Kubeflow("PyTorchJob", "pytorchReplicaSpecs", ("Master",), restart="OnFailure")
TENSORFLOW = Kubeflow("TFJob", "tfReplicaSpecs", ("Chief", "Master"), endless=("PS", "Evaluator"), clean="Running")
MPI = Kubeflow("MPIJob", "mpiReplicaSpecs", ("Launcher",), endless=("Worker",))
XGBOOST = Kubeflow("XGBoostJob", "xgbReplicaSpecs", ("Master",), again=False)
PADDLE = Kubeflow("PaddleJob", "paddleReplicaSpecs", ("Master",), restart="OnFailure")
MXNET = Kubeflow("MXJob", "mxReplicaSpecs", ("Scheduler",), again=False)
JAX = Kubeflow("JAXJob", "jaxReplicaSpecs", ())
