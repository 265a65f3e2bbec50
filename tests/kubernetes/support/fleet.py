"""What a test does with real clusters: kubectl as a person uses it, and a plain HTTP client to look at them."""

import json
import os
import ssl
import subprocess
import time
from base64 import b64decode
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import httpx
import yaml

from fairway.lab.kubereal.build import tools

Json = dict[str, Any]
T = TypeVar("T")
# Where the jobs of each kind are, below /apis (or /api/v1) and a namespace.
KINDS = {
    "Job": "batch/v1/jobs",
    "Pod": "v1/pods",
    "PyTorchJob": "kubeflow.org/v1/pytorchjobs",
    "TFJob": "kubeflow.org/v1/tfjobs",
    "JAXJob": "kubeflow.org/v1/jaxjobs",
    "MPIJob": "kubeflow.org/v1/mpijobs",
    "MXJob": "kubeflow.org/v1/mxjobs",
    "PaddleJob": "kubeflow.org/v1/paddlejobs",
    "XGBoostJob": "kubeflow.org/v1/xgboostjobs",
    "SparkApplication": "sparkoperator.k8s.io/v1beta2/sparkapplications",
    "Workflow": "argoproj.io/v1alpha1/workflows",
    "VolcanoJob": "batch.volcano.sh/v1alpha1/jobs",
    "JobSet": "jobset.x-k8s.io/v1alpha2/jobsets",
    "TrainJob": "trainer.kubeflow.org/v1alpha1/trainjobs",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1/leaderworkersets",
    "AppWrapper": "workload.codeflare.dev/v1beta2/appwrappers",
    "RayCluster": "ray.io/v1/rayclusters",
    "RayJob": "ray.io/v1/rayjobs",
}


def resource_of(kind: str) -> str:
    """As kubectl takes it: `plural.version.group`."""
    *group, version, plural = KINDS[kind].split("/")
    return ".".join((plural, version, *group)) if group else plural


class Api:
    """One API server, as its kubeconfig says. Answers are JSON; None where nothing is."""

    def __init__(self, name: str, kubeconfig: Path) -> None:
        self.name = name
        self.kubeconfig = kubeconfig
        config = yaml.safe_load(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        user = config["users"][0]["user"]
        trust = ssl.create_default_context(cadata=b64decode(cluster["certificate-authority-data"]).decode())
        headers = {"Authorization": f"Bearer {user['token']}"}
        self.http = httpx.Client(base_url=cluster["server"], verify=trust, headers=headers, timeout=30, trust_env=False)

    def get(self, path: str, **query: str) -> Json | None:
        answer = self.http.get(_path(path), params=query)
        while answer.status_code == 429:  # a kind that has just been installed: "storage is (re)initializing"
            time.sleep(0.2)
            answer = self.http.get(_path(path), params=query)
        return None if answer.status_code == 404 else _said(answer)

    def items(self, path: str, **query: str) -> list[Json]:
        found = self.get(path, **query)
        return found["items"] if found else []

    def create(self, path: str, manifest: Json) -> Json:
        return _said(self.http.post(_path(path), json=manifest))

    def patch(self, path: str, body: Json) -> Json:
        return _said(self.http.patch(_path(path), json=body, headers={"Content-Type": "application/merge-patch+json"}))

    def delete(self, path: str, **query: str) -> None:
        answer = self.http.delete(_path(path), params=query)
        if answer.status_code != 404:
            _said(answer)

    def pods(self, namespace: str, selector: str = "") -> list[Json]:
        return self.items(f"v1/namespaces/{namespace}/pods", labelSelector=selector)

    def job(self, kind: str, namespace: str, name: str) -> Json | None:
        """`kind` as in KINDS."""
        return self.get(in_namespace(KINDS[kind], namespace, name))

    def kubectl(self, *args: str, stdin: str = "", check: bool = True) -> str:
        """What kubectl prints; what it complains of, when it fails, is in the error."""
        command = [str(tools().program("kubectl")), f"--kubeconfig={self.kubeconfig}", *args]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0 or not check, f"kubectl {' '.join(args)}: {done.stderr}"
        return done.stdout if check else done.stdout + done.stderr

    def apply(self, *manifests: Json) -> str:
        return self.kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all(manifests))


class RealFleet:
    """The shared fleet: `hub`, `members` by name, `dir` (with fleet.json and the logs), `url` of the gateway. Where no
    members are given, they are those of whom its services know."""

    def __init__(self, dir: Path, members: dict[str, Api] | None = None) -> None:
        self.dir = dir
        facts = json.loads((dir / "fleet.json").read_text())
        self.url = facts["http"]
        self.facts = facts
        # Whoever may do everything there, also at the gateway's door.
        self.known = {"Authorization": f"Bearer {facts['token']}"}
        self.hub = Api("hub", dir / "hub.kubeconfig")
        paths = sorted((dir / "clusters").glob("*.kubeconfig"))
        self.members = members or {path.stem: Api(path.stem, path) for path in paths}

    def close(self) -> None:
        for api in (self.hub, *self.members.values()):
            api.http.close()

    def where(self, kind: str, namespace: str, name: str) -> list[str]:
        """The members that have this job."""
        return [one.name for one in self.members.values() if one.job(kind, namespace, name)]

    def explained(self, what: str, namespace: str, name: str) -> Any:
        """The gateway's `why` or `story` of the job of that name; None as long as there is none."""
        query = {"namespace": namespace, "limit": "100"}
        jobs = self.asked("", params=query)["items"]
        found = [one for one in jobs if one["name"] == name]
        if not found:
            return None
        newest = max(found, key=lambda one: one["submitted_at"])
        return self.asked(f"/{newest['id']}/{what}")

    def asked(self, path: str, **more: Any) -> Any:
        """What the gateway answers below /v1/jobs; of one caller, as all workers are: one who asks too much waits."""
        while True:
            answer = httpx.get(f"{self.url}/v1/jobs{path}", headers=self.known, trust_env=False, **more)
            if answer.status_code != 429:
                return answer.json()
            time.sleep(float(answer.headers["Retry-After"]))


def namespace(name: str) -> Json:
    """Of a member, as an administrator makes one for Fairway before it does."""
    return {"metadata": {"name": name, "labels": {"fairway.io/tenant": name}}}


def until(look: Callable[[], T], what: str, seconds: float = 60.0) -> T:
    """What `look` finds, as soon as it is true. Fails with `what` was waited for and what was seen last."""
    end = time.monotonic() + seconds
    while True:
        seen = look()
        if seen:
            return seen
        assert time.monotonic() < end, f"not within {seconds:.0f} s: {what}; last seen: {seen!r}"
        time.sleep(0.1)


def condition(manifest: Json | None, kind: str) -> str:
    """The status of a condition: True, False, Unknown, or nothing."""
    found: Iterable[Json] = ((manifest or {}).get("status") or {}).get("conditions") or ()
    return next((one["status"] for one in found if one["type"] == kind), "")


def in_namespace(kind: str, namespace: str, name: str = "") -> str:
    group, version, plural = kind.rsplit("/", 2) if kind.count("/") == 2 else ("", *kind.split("/"))
    where = f"{group}/{version}" if group else version
    return f"{where}/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


def _path(path: str) -> str:
    """`v1/...` is the core group; everything else names its group."""
    if path.startswith("/"):
        return path
    return f"/api/{path}" if path.startswith("v1/") else f"/apis/{path}"


def _said(answer: httpx.Response) -> Json:
    assert answer.is_success, f"{answer.request.method} {answer.request.url.path}: {answer.status_code} {answer.text}"
    found: Json = answer.json()
    return found


def environment() -> dict[str, str]:
    import sys

    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1"}
