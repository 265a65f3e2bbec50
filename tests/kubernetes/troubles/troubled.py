"""A whole fleet between whose services and whose API servers somebody stands who can spoil every connection."""

import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import httpx
import yaml

from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan
from fairway.lab.kubereal.build import tools
from fairway.lab.kubereal.crds import define
from fairway.process.pipeline import EVERYTHING
from tests.kubernetes.support.fleet import until
from tests.kubernetes.support.own import NODES, Own
from tests.kubernetes.troubles.meddler import Meddler
from tests.paths import ROOT

Json = dict[str, Any]
T = TypeVar("T")
# This hub has controllers and nodes: it would run batch Jobs by itself.
HUB = "ruled"
MEMBERS = ("near", "far")
# A minute less than it is by itself: the tests wait for it.
SILENCE_S = 14
JOBS = "batch/v1/namespaces/{}/jobs"
POLICIES = "policy.karmada.io/v1alpha1/namespaces/{}/propagationpolicies"


class _Services(EmbeddedFleet):
    """NATS, Valkey and the services; the clusters are already there, behind meddlers."""

    def __init__(self, dir: Path, meddlers: dict[str, Meddler]) -> None:
        super().__init__(dir, FleetPlan((), (EVERYTHING,)))
        self._meddlers = meddlers

    def environment(self, process: str = "") -> dict[str, str]:
        # Its tests look without end, all as one caller.
        own = {"FAIRWAY_WATCH_SILENCE": str(SILENCE_S), "FAIRWAY_HTTP_RATE": "10000"}
        return {**super().environment(process), **own}

    async def _start_clusters(self) -> None:
        for name, meddler in self._meddlers.items():
            path = self.hub_kubeconfig if name == HUB else self.kubeconfigs / f"{name}.kubeconfig"
            path.write_text(json.dumps(meddler.kubeconfig))
            if name != HUB:
                facts = {"labels": {"region": name}, "reserve": "ledger"}
                (self.kubeconfigs / f"{name}.json").write_text(json.dumps(facts))


class Troubled:
    """`hub` and `members` are asked directly; `meddlers`, by the same names, stand before them. Only `near` runs what
    it is given; in `far` jobs just are."""

    def __init__(self, own: Own, dir: Path) -> None:
        self.own = own
        own.start(HUB, *MEMBERS)
        self.hub = own.api(HUB)
        self.hub.apply(*managed_by())
        self.members = {name: own.api(name) for name in MEMBERS}
        own.do(define(own.plane(HUB), ("training",), tools(("kube", "kwok", "training")), hub=True))
        self.meddlers = {name: own.do(_opened(own, name)) for name in (HUB, *MEMBERS)}
        self._services = _Services(dir, self.meddlers)
        own.do(self._services.start())
        known = {"Authorization": f"Bearer {own.plane(HUB).token}"}
        self.http = httpx.Client(base_url=self._services.http, trust_env=False, headers=known)

    def stop(self) -> None:
        self.http.close()
        self.own.do(self._services.stop())
        for meddler in self.meddlers.values():
            self.own.do(meddler.__aexit__())

    def spoil(self, name: str, act: Callable[[Meddler], None]) -> None:
        """Does it where the meddler runs."""

        async def there() -> None:
            act(self.meddlers[name])

        self.own.do(there())

    def restore(self) -> None:
        for name in self.meddlers:
            self.spoil(name, Meddler.restore)

    def reported(self) -> None:
        """Waits until both members have told, not long ago, that all of their nodes may be used."""

        def usable() -> bool:
            rows = self.http.get("/v1/clusters").json()["items"]
            return {one["name"] for one in rows if not one["stale"] and one["schedulable"] == NODES} == set(MEMBERS)

        until(usable, "the members have reported")

    def asked(self, name: str, since: int = 0) -> list[str]:
        """Requests that came through, without discovery and probes."""
        return self.meddlers[name].asked[since:]

    # ---- jobs
    def submit(self, tenant: str, name: str, clusters: Iterable[str] = MEMBERS, **more: Any) -> None:
        """A batch Job and its policy, on the hub: it goes to the first of `clusters`, and to the next while it cannot.
        `more` are annotations of the pod: `run_for="1s"`."""
        self.hub.create(POLICIES.format(tenant), policy(name, clusters))
        self.hub.create(JOBS.format(tenant), ours(job(name, **more)))

    def there(self, member: str, tenant: str, name: str) -> Json | None:
        return self.members[member].get(f"{JOBS.format(tenant)}/{name}")

    def finish(self, member: str, tenant: str, name: str) -> None:
        """Ends what runs until it is told: a job submitted with `run_for="never"`."""
        pods = f"v1/namespaces/{tenant}/pods"
        for pod in self.members[member].items(pods):
            meta = pod["metadata"]
            if meta.get("labels", {}).get("batch.kubernetes.io/job-name") == name:
                told = {"metadata": {"annotations": {"fairway.test/run-for": "1ms"}}}
                self.members[member].patch(f"{pods}/{meta['name']}", told)

    def where(self, tenant: str, name: str) -> list[str]:
        return [member for member in MEMBERS if self.there(member, tenant, name)]

    def id(self, tenant: str, name: str) -> str:
        found = self.http.get("/v1/jobs", params={"namespace": tenant}).json().get("items", ())
        return next((one["id"] for one in found if one["name"] == name), "")

    def job(self, tenant: str, name: str, what: str = "") -> Any:
        """The job as the gateway tells it, or its `why` or `story`."""
        found = until(lambda: self.id(tenant, name), f"{tenant}/{name} is known")
        return self.http.get(f"/v1/jobs/{found}" + (f"/{what}" if what else "")).json()

    def story(self, tenant: str, name: str) -> str:
        """All that was said of the job, as one text."""
        return json.dumps(self.job(tenant, name, "story"))

    def tells(self, tenant: str, name: str, word: str, what: str = "story", seconds: float = 60) -> None:
        """Until the `why` or the story of the job has this word; fails with what it has instead."""
        end = time.monotonic() + seconds
        while word not in (text := json.dumps(self.job(tenant, name, what))):
            assert time.monotonic() < end, f"not within {seconds:.0f} s: {word} in the {what} of {name}: {text}"
            time.sleep(0.1)

    def arrives(self, tenant: str, name: str, *at: str, seconds: float = 60) -> None:
        until(lambda: self.where(tenant, name) == list(at), f"{tenant}/{name} is in {at}", seconds)

    def ends(self, tenant: str, name: str, seconds: float = 60) -> None:
        """Until the hub's own object says that it is complete."""

        def complete() -> bool:
            found = self.hub.get(f"{JOBS.format(tenant)}/{name}") or {}
            conditions = (found.get("status") or {}).get("conditions") or ()
            return any((one["type"], one["status"]) == ("Complete", "True") for one in conditions)

        until(complete, f"{tenant}/{name} is complete on the hub", seconds)


async def _opened(own: Own, name: str) -> Meddler:
    return await Meddler(own.planes[name].kubeconfig).__aenter__()


def job(name: str, kind: str = "Job", api: str = "batch/v1", **notes: str) -> Json:
    annotations = {"fairway.test/" + key.replace("_", "-"): value for key, value in notes.items()}
    main = {"name": "main", "image": "x", "resources": {"requests": {"cpu": "100m"}}}
    pod = {"metadata": {"annotations": annotations}, "spec": {"restartPolicy": "Never", "containers": [main]}}
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": {"template": pod}}


def ours(manifest: Json) -> Json:
    """A Job as this hub takes it: it says that Fairway runs it."""
    return {**manifest, "spec": {**manifest["spec"], "managedBy": "fairway.io/fleet"}}


def torch(name: str) -> Json:
    main = {"name": "pytorch", "image": "x", "resources": {"requests": {"cpu": "100m"}}}
    worker = {"replicas": 1, "template": {"spec": {"containers": [main]}}}
    spec = {"pytorchReplicaSpecs": {"Master": worker}}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": name}, "spec": spec}


def managed_by() -> list[Json]:
    """What is for a hub that would run jobs by itself, as deploy has it."""
    return list(yaml.safe_load_all((ROOT / "deploy/hub/managed-by.yaml").read_text()))


def policy(name: str, clusters: Iterable[str], kind: str = "Job", api: str = "batch/v1") -> Json:
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": name},
        "spec": {
            "resourceSelectors": [{"apiVersion": api, "kind": kind, "name": name}],
            "placement": {"clusterAffinities": [{"affinityName": one, "clusterNames": [one]} for one in clusters]},
        },
    }
