"""Jobs to try real clusters with: a manifest per kind, and policies that say where a job goes first and where then."""

import json
import subprocess
import threading
from typing import Any

from fairway.lab.kubereal.build import tools
from tests.kubernetes.support.fleet import KINDS, Api, RealFleet, condition, in_namespace, until
from tests.kubernetes.support.pool import Pool

Json = dict[str, Any]
API = {name: "/".join(path.split("/")[:-1]) for name, path in KINDS.items()}
_SMALL = {"resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}


def template(container: str = "main", **how: str) -> Json:
    """A pod template; `run_for="2s"` becomes the annotation fairway.test/run-for, `run_for="never"` runs for ever."""
    notes = {f"fairway.test/{key.replace('_', '-')}": value for key, value in {"run_for": "never", **how}.items()}
    pod = {"name": container, "image": "x", "command": ["x"], **_SMALL}
    return {"metadata": {"annotations": notes}, "spec": {"restartPolicy": "Never", "containers": [pod]}}


def job(kind: str, namespace: str, name: str = "try", **how: str) -> Json:
    """Of two pods (Workflow and Pod: one)."""
    meta = {"name": name, "namespace": namespace}
    if kind == "Pod":
        made = template(**how)
        gated = {**made["spec"], "schedulingGates": [{"name": "fairway.io/fleet"}]}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {**meta, **made["metadata"]}, "spec": gated}
    spec = {
        "Job": _batch,
        "PyTorchJob": _torch,
        "SparkApplication": _spark,
        "Workflow": _flow,
        "JobSet": _set,
        "AppWrapper": _wrapper,
    }[kind]
    return {"apiVersion": API[kind], "kind": kind, "metadata": meta, "spec": spec(how)}


def in_pool(pool: Pool) -> Json:
    """A PyTorchJob of two pods that run for ever, on nodes of that name only; the pool's name is the tenant."""
    what = job("PyTorchJob", pool.name, run_for="never")
    for role in what["spec"]["pytorchReplicaSpecs"].values():
        role["template"]["spec"] |= pool.pod_rules
    return what


def _batch(how: dict[str, str]) -> Json:
    return {"parallelism": 2, "completions": 2, "backoffLimit": 0, "template": template(**how)}


def _torch(how: dict[str, str]) -> Json:
    role = {"replicas": 1, "restartPolicy": "Never", "template": template("pytorch", **how)}
    del role["template"]["spec"]["restartPolicy"]
    return {"runPolicy": {"cleanPodPolicy": "None"}, "pytorchReplicaSpecs": {"Master": role, "Worker": role}}


def _spark(how: dict[str, str]) -> Json:
    role = {"cores": 1, "memory": "256m", "annotations": template(**how)["metadata"]["annotations"]}
    return {
        "type": "Scala",
        "mode": "cluster",
        "image": "spark",
        "sparkVersion": "3.5.5",
        "mainClass": "A",
        "mainApplicationFile": "local:///a.jar",
        "restartPolicy": {"type": "Never"},
        "driver": {**role, "serviceAccount": "spark-operator-spark"},
        "executor": {**role, "instances": 1},
    }


def _flow(how: dict[str, str]) -> Json:
    made = template(**how)
    step = {"name": "step", "metadata": made["metadata"], "container": made["spec"]["containers"][0]}
    return {"entrypoint": "step", "templates": [step]}


def _set(how: dict[str, str]) -> Json:
    one = {"name": "one", "replicas": 1, "template": {"spec": _batch(how)}}
    return {"replicatedJobs": [one]}


def _wrapper(how: dict[str, str]) -> Json:
    inside = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "in-it"}, "spec": _batch(how)}
    return {"components": [{"template": inside}]}


def policy(what: Json, *first_then: str, attempts: int = 3, start: str = "5m") -> Json:
    """The job goes to the first of these clusters, while it cannot to the next."""
    meta = what["metadata"]
    notes = {"fairway.io/max-attempts": str(attempts), "fairway.io/start-timeout": start}
    groups = [{"affinityName": name, "clusterNames": [name]} for name in first_then]
    selects = {"apiVersion": what["apiVersion"], "kind": what["kind"], "name": meta["name"]}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": meta["name"], "namespace": meta["namespace"], "annotations": notes},
        "spec": {"resourceSelectors": [selects], "placement": {"clusterAffinities": groups}},
    }


class Watch:
    """Every version of one object that `kubectl get -w` shows."""

    def __init__(self, api: Api, kind: str, namespace: str, name: str = "try") -> None:
        *group, _, plural = KINDS[kind].split("/")
        plural = ".".join((plural, *group))
        command = [tools().program("kubectl"), f"--kubeconfig={api.kubeconfig}", "get", plural, "-n", namespace]
        self._process = subprocess.Popen(
            [*map(str, command), "-w", "-o", "json", f"--field-selector=metadata.name={name}"],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.seen: list[Json] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        decoder = json.JSONDecoder()
        text = ""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            text += line
            if line == "}\n":
                self.seen.append(decoder.raw_decode(text)[0])
                text = ""

    def end(self) -> list[Json]:
        """The statuses, in the order in which they came."""
        self._process.terminate()
        self._process.wait(10)
        self._reader.join(10)
        assert self._process.stdout is not None
        self._process.stdout.close()
        return [one.get("status") or {} for one in self.seen]


class Tried:
    """A job that was applied on the hub, and what is known of it."""

    def __init__(self, fleet: RealFleet, kind: str, namespace: str, name: str = "try") -> None:
        self.fleet = fleet
        self.kind = kind
        self.namespace = namespace
        self.name = name

    @property
    def on_hub(self) -> Json:
        return self.fleet.hub.job(self.kind, self.namespace, self.name) or {}

    @property
    def path(self) -> str:
        return in_namespace(KINDS[self.kind], self.namespace, self.name)

    def phase(self) -> str:
        """`kubectl get` in one word, whatever the kind."""
        status = self.on_hub.get("status") or {}
        if self.kind == "SparkApplication":
            return str((status.get("applicationState") or {}).get("state", ""))
        if self.kind in ("Workflow", "Pod"):
            return str(status.get("phase", ""))
        ends = ("Failed", "Complete", "Completed", "Succeeded")
        return next((end for end in ends if condition(self.on_hub, end) == "True"), "")

    def runs_in(self, cluster: str, pods: int = 1, seconds: float = 90) -> list[Json]:
        """Waits until so many of its pods run in the member."""
        api = self.fleet.members[cluster]

        def up() -> list[Json]:
            found = [one for one in api.pods(self.namespace) if one["status"].get("phase") == "Running"]
            return found if len(found) >= pods else []

        return until(up, f"{pods} pods of {self.name} run in {cluster}", seconds)

    def is_gone_from(self, cluster: str, seconds: float = 60) -> None:
        api = self.fleet.members[cluster]

        def gone() -> bool:
            return not api.job(self.kind, self.namespace, self.name) and not api.pods(self.namespace)

        until(gone, f"nothing of {self.name} is left in {cluster}", seconds)

    def story(self) -> str:
        return json.dumps(self.fleet.explained("story", self.namespace, self.name))


def tried(fleet: RealFleet, what: Json, *first_then: str, attempts: int = 3, start: str = "5m") -> Tried:
    """Applies the job and its policy on the hub."""
    fleet.hub.apply(policy(what, *first_then, attempts=attempts, start=start), what)
    meta = what["metadata"]
    return Tried(fleet, what["kind"], meta["namespace"], meta["name"])
