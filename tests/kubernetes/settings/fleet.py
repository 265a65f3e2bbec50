"""A real hub's settings and the whole pipeline beside it in memory, so that a change is followed up to the member."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import msgspec

from fairway.adapters.kubernetes.cluster import KubernetesCluster, Options
from fairway.adapters.kubernetes.watch import WatchPace
from fairway.adapters.system_clock import SystemClock
from fairway.domain.job import Job
from fairway.runtime.ports import World
from fairway.wire.fleet import Configured
from tests.kubernetes.support.fleet import Api, in_namespace
from tests.kubernetes.support.own_hub import path_of
from tests.scenarios import memory_fleet
from tests.support.simulated_hub import run_hub

Json = dict[str, Any]
T = TypeVar("T")
TENANT = "team-a"
JOBS = "batch/v1/jobs"
ALLOW = "fairway.io/allow-namespaces"
_PATIENCE_S = 60
_APPLY = "application/apply-patch+yaml"  # JSON is YAML
QUICK = WatchPace(first=0.05, most=0.2, absent=0.2)


class House:
    """`hub` is the API server, as kubectl sees it; `fleet` everything behind the gateway."""

    def __init__(self, hub: Api, fleet: memory_fleet.Fleet) -> None:
        self.hub = hub
        self.fleet = fleet

    async def apply(self, *manifests: Json) -> None:
        """As `kubectl apply --server-side` does it, without its start."""
        for one in manifests:
            path = f"/apis/{collection_of(one)}/{one['metadata']['name']}"
            query = {"fieldManager": "test", "force": "true"}
            answer = self.hub.http.patch(path, params=query, json=one, headers={"Content-Type": _APPLY})
            assert answer.is_success, answer.text

    async def job(self, name: str, gpus: int = 8, **more: Any) -> None:
        """A Job of one pod that runs for ever, in a policy's hands."""
        await self.fleet.quiet(0.02)  # no two come at the same moment: their names would decide who is first
        self.fleet.plays[name] = [memory_fleet.runs(ends="")]
        await self.apply(memory_fleet.manifest(name, 1, gpus, **more))

    async def until(self, look: Callable[[], T], what: str) -> T:
        """What `look` finds, as soon as it is true; meanwhile time passes in the pipeline, too."""
        seen = look()
        try:
            async with asyncio.timeout(_PATIENCE_S):
                while not seen:
                    await asyncio.sleep(0.02)
                    await self.fleet.quiet(0.02)
                    seen = look()
        except TimeoutError:
            raise AssertionError(f"not in time: {what}; jobs: {self.fleet.states()}, last seen: {seen!r}") from None
        return seen

    def row(self, name: str) -> Job | None:
        found = [one for key, one in self.fleet.jobs().items() if key.rsplit("-", 1)[0] == name]
        return found[-1] if found else None

    async def lacks(self, name: str, code: str) -> Job:
        """The job, as soon as it waits for this reason."""

        def look() -> Job | None:
            job = self.row(name)
            return job if job and job.why and job.why.code == code else None

        return await self.until(look, f"{name} waits: {code}")  # type: ignore[return-value]  # never None once true

    async def runs_in(self, name: str) -> str:
        """The cluster that has it."""

        def look() -> str:
            job = self.row(name)
            return job.cluster if job and job.state in ("dispatched", "running") else ""

        return await self.until(look, f"{name} is in a cluster")

    async def ready(self, manifest: Json, status: str = "True") -> Json:
        """The condition Ready of the object, as soon as it has this status."""
        path = f"{path_of(manifest)}/{manifest['metadata']['name']}"

        def look() -> Json:
            conditions = ((self.hub.get(path) or {}).get("status") or {}).get("conditions") or []
            return next((one for one in conditions if (one["type"], one["status"]) == ("Ready", status)), {})

        return await self.until(look, f"{path} is Ready={status}")

    def events(self, name: str, namespace: str = TENANT) -> list[Json]:
        found = self.hub.items(in_namespace("v1/events", namespace))
        return [one for one in found if one["involvedObject"]["name"] == name]

    def said(self, name: str) -> list[str]:
        job = self.row(name)
        return self.fleet.said(job.id) if job else []


@asynccontextmanager
async def opened(hub: Api, **sizes: tuple[int, ...]) -> AsyncIterator[House]:
    """A gateway on this hub, and members of these sizes in memory. What is left on the hub goes with them."""
    options = Options(kinds=("Job.batch/v1",), pace=QUICK)
    cluster = await KubernetesCluster.from_kubeconfig("hub", hub.kubeconfig, options)
    async with memory_fleet.running(**sizes) as fleet:
        # Every policy here is the hub's.
        fleet.catalog.take(Configured(kind="ClusterPropagationPolicy", name="all", manifest=msgspec.Raw(b"null")))
        world = World(bus=fleet.bus, store=fleet.store.beside(), clock=SystemClock(), owner="gateway")
        tasks = [asyncio.create_task(run_hub(cluster, world))]
        tasks.append(asyncio.create_task(fleet.catalog.run(fleet.bus, SystemClock())))
        try:
            yield House(hub, fleet)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await cluster.close()
            clear(hub)


def policy(name: str, *clusters: str, **more: Any) -> Json:
    """For the job of its name, in these clusters; `more` of its metadata."""
    selectors = [{"apiVersion": "batch/v1", "kind": "Job", "name": name}]
    placement = {"clusterAffinity": {"clusterNames": list(clusters)}} if clusters else {}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": name, "namespace": TENANT, **more},
        "spec": {"resourceSelectors": selectors, "placement": placement},
    }


def quota_tree(root: Json, name: str = "tree", namespace: str = "kube-system") -> Json:
    return {
        "apiVersion": "scheduling.sigs.k8s.io/v1beta1",
        "kind": "ElasticQuotaTree",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"root": {"name": "root", **root}},
    }


def queue(how: str = "", allows: str = TENANT, namespace: str = "kube-queue") -> Json:
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "Queue",
        "metadata": {"name": "gold", "namespace": namespace, "annotations": {ALLOW: allows} if allows else {}},
        "spec": {"queuePolicy": how} if how else {},
    }


def profile(**spec: Any) -> Json:
    head = {"apiVersion": "fairway.io/v1alpha1", "kind": "TenantProfile", "metadata": {"name": "a"}}
    return {**head, "spec": {"namespaces": [TENANT], **spec}}


def collection_of(manifest: Json) -> str:
    match manifest["kind"]:
        case "Job":
            return in_namespace(JOBS, manifest["metadata"]["namespace"])
        case "PriorityClass":
            return "scheduling.k8s.io/v1/priorityclasses"
    return path_of(manifest)


def clear(hub: Api) -> None:
    paths = [in_namespace(JOBS, TENANT), in_namespace("v1/events", TENANT)]
    for group in ("policy.karmada.io/v1alpha1", "policy.one.alibabacloud.com/v1alpha1"):
        paths.append(in_namespace(f"{group}/propagationpolicies", TENANT))
    paths.append(in_namespace("scheduling.sigs.k8s.io/v1beta1/elasticquotatrees", "kube-system"))
    paths.append(in_namespace("scheduling.x-k8s.io/v1alpha1/queues", "kube-queue"))
    paths.append(in_namespace("scheduling.sigs.k8s.io/v1beta1/elasticquotatrees", TENANT))
    paths.append(in_namespace("scheduling.x-k8s.io/v1alpha1/queues", TENANT))
    paths.append("fairway.io/v1alpha1/tenantprofiles")
    for path in paths:
        hub.delete(path, propagationPolicy="Background")
    for name in ("high", "odd"):
        hub.delete(f"scheduling.k8s.io/v1/priorityclasses/{name}")
