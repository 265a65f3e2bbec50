"""A hub and a member in memory, with what a job's pods name, for the tests of companions."""

from collections.abc import Awaitable, Callable
from typing import Any

from fairway.domain.decision import Call
from fairway.lab.kubesim.api.api import ClusterApi
from fairway.lab.kubesim.api.builtin import EVERYTHING
from fairway.lab.kubesim.api.metadata import Uids
from fairway.lab.kubesim.api.registry import Registry
from fairway.lab.kubesim.api.store import ObjectStore
from fairway.lab.kubesim.cluster_port import KubesimCluster
from fairway.lab.kubesim.http.identities import Identity
from fairway.propagator.calls import APPLY, Copy
from fairway.propagator.companions.member_companions import Along, Companions
from fairway.runtime.cluster_port import ClusterRefused
from fairway.wire.jobs import ManifestRef
from fairway.workloads.companions.named import ACCOUNT, CLAIM, CONFIG_MAP, KINDS, SECRET
from tests.support.memory.clock import ManualClock
from tests.support.simulated import JOB, job

Json = dict[str, Any]
TEAM = "team-a"
KEY = b"the key"
CANARY = "Y2FuYXJ5LTRiMWQ="


class House(KubesimCluster):
    """A cluster that refuses what a test says, by verb and kind, and lets somebody `meddle` before it is written to."""

    def __init__(self, name: str, *known: Identity) -> None:
        api = ClusterApi(ObjectStore(history=0), Registry(EVERYTHING), ManualClock(1), Uids(name))
        super().__init__(name, api, (JOB,), known)
        space = {"name": TEAM, "labels": {"fairway.io/tenant": TEAM}}
        self._create(self.resource("Namespace.v1"), {"metadata": space})
        self.refuses: dict[tuple[str, str], ClusterRefused] = {}
        self.asked: list[tuple[str, str]] = []
        self.meddle: list[Callable[[], Awaitable[object]]] = []

    def _does(self, verb: str, kind: str) -> None:
        self.asked.append((verb, kind))
        if (verb, kind) in self.refuses:
            raise self.refuses[verb, kind]

    async def get(self, kind: str, namespace: str, name: str) -> Json | None:
        self._does("get", kind)
        return await super().get(kind, namespace, name)

    async def apply(self, kind: str, manifest: Json, level: str = "") -> Any:
        self._does("apply", kind)
        return await super().apply(kind, manifest, level)

    async def create(self, kind: str, manifest: Json) -> None:
        self._does("create", kind)
        await super().create(kind, manifest)

    async def patch(self, kind: str, namespace: str, name: str, body: Any, subresource: str = "") -> Json | None:
        self._does("patch", kind)
        if self.meddle:
            await self.meddle.pop()()
        return await super().patch(kind, namespace, name, body, subresource)

    async def has(self, kind: str, name: str, **content: Any) -> None:
        """As somebody else than Fairway makes it."""
        meta = {"name": name, "namespace": TEAM}
        await super().create(kind, {"metadata": meta, **content})

    async def says(self, kind: str, name: str, **content: Any) -> None:
        await super().patch(kind, TEAM, name, content)

    def one(self, kind: str, name: str) -> Json:
        found = self.stored(kind, TEAM, name)
        assert found is not None, f"{kind} {name} is not in {self.name}"
        return found.obj

    def left(self) -> set[str]:
        """What is there of the four kinds."""
        return {f"{kind.partition('.')[0]} {found.key.name}" for kind in KINDS for found in self.every(kind)}


def pods(**more: Any) -> Json:
    sources = [{"secretRef": {"name": "db"}}, {"configMapRef": {"name": "settings"}}]
    main = {"name": "main", "envFrom": sources}
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "scratch"}}]
    return {"containers": [main], "volumes": volumes, "serviceAccountName": "runner", **more}


def manifest(**pod: Any) -> Json:
    return {"kind": "Job", "metadata": {"name": "llm"}, "spec": {"template": {"spec": pod or pods()}}}


def call(job: str = "llm-1", attempt: int = 1, kind: str = JOB, **more: Any) -> Call:
    copy = Copy(kind, TEAM, job, ManifestRef(1, "", 1), **{"companions": True, "level": "baseline", **more})
    return Call(APPLY, "c1", job, attempt, copy)


async def hub(*known: Identity) -> House:
    house = House("hub", *known)
    await house.has(CONFIG_MAP, "settings", data={"rate": "1"})
    await house.has(SECRET, "db", data={"password": CANARY})
    await house.has(SECRET, "pulls", type="kubernetes.io/dockerconfigjson", data={"x": "e30="})
    await house.has(ACCOUNT, "runner", imagePullSecrets=[{"name": "pulls"}], secrets=[{"name": "token"}])
    await house.has(CLAIM, "scratch", spec={"storageClassName": "fast", "volumeName": "pv-7"})
    return house


async def applied(companions: Companions, member: House, asked: Call, what: Json | None = None) -> Along:
    """The job as MemberCalls applies it: what it names first, then itself."""
    along = await companions.send(member, asked, what or manifest())
    done = await member.apply(JOB, job(TEAM, asked.job, {"fairway.io/job": asked.job}))
    await companions.bind(member, asked, along, done.uid)
    return along


def sent(along: Along) -> dict[str, str]:
    return {f"{one.kind} {one.name}": one.why for one in along.told}


ALL = {"ServiceAccount runner", "Secret db", "Secret pulls", "ConfigMap settings", "PersistentVolumeClaim scratch"}


ALL = {"ServiceAccount runner", "Secret db", "Secret pulls", "ConfigMap settings", "PersistentVolumeClaim scratch"}
