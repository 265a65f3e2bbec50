"""A hub whose services have the rights of deploy/hub and no others, each process those of its own account, and a member
that serves every kind of job.

Kubelets, kube-scheduler, koord-scheduler and the controllers of Kubernetes run in the member, and no operators: what
they would say is said by hand.
"""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import yaml

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.adapters.system_clock import SystemClock
from fairway.lab.kubereal.build import tools
from fairway.lab.kubereal.crds import define
from fairway.process.members.enrolment import Enrolment
from fairway.process.members.token_renewal import Renewal
from fairway.process.pipeline import EVERYTHING
from fairway.process.pipeline import HUB as PIPELINE_HUB
from fairway.process.settings import Settings
from tests.kubernetes.hub.schedule_kinds import SCHEDULED_SPARK
from tests.kubernetes.rights import rbac
from tests.kubernetes.rights.thefts import job as sealed
from tests.kubernetes.support import kinds
from tests.kubernetes.support.authority import Authority
from tests.kubernetes.support.fleet import until
from tests.kubernetes.support.join_fleet import House, house, job
from tests.kubernetes.support.koord import only_its_scheduler
from tests.kubernetes.support.own import crd
from tests.paths import ROOT
from tests.support.memory.clock import ManualClock

Json = dict[str, Any]
HUB = ROOT / "deploy" / "hub"
CRDS = "apiextensions.k8s.io/v1/customresourcedefinitions"
# Of the hub, and the process that each is for; the services that have no business there run beside the last.
ACCOUNTS = {
    "fairway-hub": (PIPELINE_HUB,),
    "fairway-gateway": ("gateway",),
    "fairway-clusters": tuple(one for one in EVERYTHING if one not in (PIPELINE_HUB, "gateway")),
}
MEMBERS = "fairway-member"
RENEWERS = "fairway-renewal"
_SCHEDULERS = ("kube-scheduler", "koord-scheduler")
_ELEVEN_HOURS_MS = 11 * 3_600_000


class RightsHouse:
    """`north` is the member. `asked` counts from when it joined last."""

    def __init__(self, home: House, authority: Authority) -> None:
        self.home = home
        self.authority = authority
        self.hub = home.api("hub")
        self.north = home.api("north")
        self.least = {name: home.dir / f"{name}.kubeconfig" for name in ACCOUNTS}
        self._begun = 0
        self._joined = False
        self._account = ""

    async def open(self) -> None:
        # Of the kinds of jobs it only matters here that they are served, and which of them have a status of their own.
        await define(self.home.planes["hub"], ("argo", "trainer"), tools(), hub=True)
        await asyncio.to_thread(self._serve_every_kind)
        await only_its_scheduler(self.home.planes["north"], tools())
        # The garbage collector learns of new kinds when it starts, and then every half minute.
        self.home.planes["north"].programs["kube-controller-manager"].signal(signal.SIGKILL)
        tokens = await asyncio.to_thread(self._let_in)
        plane = self.home.planes["hub"]
        for name, path in self.least.items():
            path.write_text(json.dumps(plane.kubeconfig_of(tokens[name])))
        running = (
            self.home.run(*ACCOUNTS[name], FAIRWAY_HUB_KUBECONFIG=str(path)) for name, path in self.least.items()
        )
        await asyncio.gather(*running)

    def _serve_every_kind(self) -> None:
        for api in (self.hub, self.north):
            there = {one["metadata"]["name"] for one in api.items(CRDS)}
            for served, name in kinds.SERVED:
                group, _, version = served.partition("/")
                if version and group != "batch" and f"{name.lower()}s.{group}" not in there:
                    api.create(CRDS, crd(group, name, version, kinds.scope(name)))
        group, _, version = SCHEDULED_SPARK.api_version.partition("/")
        self.hub.create(CRDS, crd(group, SCHEDULED_SPARK.name, version))
        until(lambda: self.hub.get(SCHEDULED_SPARK.path("default")), f"{SCHEDULED_SPARK.name} is served")
        for api in (self.hub, self.north):
            for served, name in kinds.SERVED:
                path = f"{served}/{name.lower()}s"
                until(lambda api=api, path=path: api.get(path), f"{path} is served")

    def _let_in(self) -> dict[str, str]:
        """What deploy/hub says of the services, and a token of each account that it names."""
        self.hub.apply(*yaml.safe_load_all((HUB / "rights.yaml").read_text()))
        return {name: self.hub.kubectl("-n", rbac.HOME, "create", "token", name).strip() for name in ACCOUNTS}

    async def join(self, *more: str) -> None:
        """Anew, as a cluster that never was a member. What is counted begins here."""
        if self._joined:
            await self.leave()
        self._begun = len(self.home.asked("north"))
        await self.home.join("north", *more)
        self._joined = True
        account = self.north.get(f"v1/namespaces/{rbac.HOME}/serviceaccounts/{MEMBERS}") or {}
        self._account = account["metadata"]["uid"]

    async def reported(self) -> None:
        async def look() -> bool:
            row = (await self.home.clusters()).get("north")
            return bool(row and row["age"] >= 0 and row["nodes"] and not row["stale"])

        await self.home.until(look, "north has reported")

    async def leave(self) -> None:
        admin = ("--kubeconfig", str(self.home.planes["north"].kubeconfig), "--allow-loopback")
        await self.home.fairway("leave", "north", *admin)

        async def gone() -> bool:
            return "north" not in await self.home.clusters()

        await self.home.until(gone, "north is forgotten")
        self._joined = False

    def asked(self, without: Collection[str] = ()) -> list[Json]:
        """Of the member; requests for things of some groups may be left out. What a process asks with the token of a
        former account, before it notices that the cluster left, is not asked with these rights."""
        found = [one for one in self.home.asked("north")[self._begun :] if one["user"].get("uid") == self._account]
        return [one for one in found if "objectRef" in one and one["objectRef"].get("apiGroup", "") not in without]

    def asked_hub(self, account: str) -> list[Json]:
        return self.home.asked("hub", f"system:serviceaccount:{rbac.HOME}:{account}")

    async def until(self, look: Callable[[], Any], what: str) -> Any:
        return await self.home.until(look, what)

    # ---- jobs
    def tenant(self, name: str, *policies: Json) -> None:
        self.hub.create("v1/namespaces", {"metadata": {"name": name}})
        for one in policies:
            self.hub.create(f"{one['apiVersion']}/namespaces/{name}/propagationpolicies", one)

    async def holds_room(self, tenant: str, way: str) -> list[Json]:
        """A gang of two whose room has to be waited for: the schedulers sleep until somebody asks why. Its pods."""
        self.tenant(tenant, kinds.policy("here", "north", reserve=way))
        urgent = f"urgent-{tenant}"
        self.hub.create("scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": urgent}, "value": 77})
        gang = job("gang", "2s", urgent)
        gang["metadata"]["namespace"] = tenant
        gang["spec"] |= {"parallelism": 2, "completions": 2}
        programs = [self.home.planes["north"].programs[name] for name in _SCHEDULERS]
        begun = len(self.asked())
        for one in programs:
            one.signal(signal.SIGSTOP)
        try:
            self.hub.create(f"batch/v1/namespaces/{tenant}/jobs", gang)
            await self.until(lambda: _why(self.asked()[begun:]), f"{way} are asked why they have no node")
        finally:
            for one in programs:
                one.signal(signal.SIGCONT)

        def run() -> list[Json]:
            found = [one for one in self.north.pods(tenant) if one["spec"].get("nodeName")]
            return found if len(found) == 2 else []

        pods: list[Json] = await self.until(run, "both pods have a node")
        await self.until(lambda: self.ended(tenant, "gang"), "the gang has ended")
        there = f"batch/v1/namespaces/{tenant}/jobs/gang"
        self.hub.delete(there)
        await self.until(lambda: not self.north.get(there), "the gang is gone from the member")
        return pods

    async def runs(self, tenant: str, name: str, priority: str = "") -> None:
        """A job, from its creation on the hub to its good end."""
        one = job(name, "500ms", priority)
        one["metadata"]["namespace"] = tenant
        self.hub.create(f"batch/v1/namespaces/{tenant}/jobs", one)
        await self.until(lambda: self.ended(tenant, name), f"{name} has ended")

    async def raises(self, tenant: str, token: str = "") -> str:
        """A namespace for a restricted job, and then for one that may more; its level."""
        plane = self.home.planes["north"]
        config = plane.kubeconfig_of(token or self.home.token("north"))
        cluster = await KubernetesCluster.from_kubeconfig("north", config)
        try:
            for level in ("restricted", "baseline"):
                await cluster.apply("Job.batch/v1", sealed(tenant, level), level)
        finally:
            await cluster.close()
        found = self.north.get(f"v1/namespaces/{tenant}") or {}
        return str(found["metadata"]["labels"]["pod-security.kubernetes.io/enforce"])

    def ended(self, tenant: str, name: str) -> bool:
        found = self.hub.get(f"batch/v1/namespaces/{tenant}/jobs/{name}") or {}
        conditions = (found.get("status") or {}).get("conditions") or ()
        return any((one["type"], one["status"]) == ("Complete", "True") for one in conditions)

    def held(self) -> list[str]:
        """What holds room in the member now."""
        reservations = self.north.items("scheduling.koordinator.sh/v1alpha1/reservations")
        return [one["metadata"]["name"] for one in (*reservations, *self.north.pods(rbac.HOME, "fairway.io/hold"))]

    async def post(self, *manifests: Json) -> None:
        """As somebody who may set the fleet over HTTP."""
        caller = {"Authorization": f"Bearer {rbac.administrator(self.hub)}"}
        async with httpx.AsyncClient(trust_env=False, headers=caller) as http:
            for one in manifests:
                answer = await http.post(f"{self.home.url}/v1/settings", json=one)
                assert answer.is_success, answer.text

    async def renewed(self) -> list[str]:
        """The clusters whose tokens a process with the hub's rights renews eleven hours later."""
        hub = await KubernetesCluster.from_kubeconfig("hub", self.least["fairway-clusters"])
        enrolment = Enrolment(Settings(allow_loopback=True))
        following = asyncio.create_task(enrolment.follow_hub(hub))
        try:
            await enrolment.known.wait()
            clock = ManualClock(SystemClock().now() + _ELEVEN_HOURS_MS)
            return await Renewal(enrolment, hub, clock, seed=1).look()
        finally:
            following.cancel()
            await asyncio.wait([following])
            await enrolment.close()
            await hub.close()


def _why(asked: list[Json]) -> bool:
    """Whether a look was taken at what has to hold room."""
    refs = [one["objectRef"] for one in asked if one["verb"] == "get"]
    return any(ref["resource"] in ("pods", "reservations") for ref in refs)


@asynccontextmanager
async def rights_house(dir: Path) -> AsyncIterator[RightsHouse]:
    authority = Authority(dir / "serving")
    authority.issue()
    # What clients trust is taken from there, and made there if nobody says otherwise.
    trusted = dir / "planes" / "north" / "certs" / "apiserver.crt"
    trusted.parent.mkdir(parents=True)
    trusted.write_bytes(authority.certificate)
    async with house(dir, ("north",), authority.flags) as home:
        found = RightsHouse(home, authority)
        await found.open()
        yield found
