"""What a TrainJob runs stands beside it in its member: put there before it, and gone with it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.system_clock import SystemClock
from fairway.domain.decision import Call, Outcome
from fairway.lab.kubesim import SimCluster
from fairway.propagator.calls import APPLY, DELETE, Copy
from fairway.propagator.member_calls import MemberCalls
from fairway.runtime.cluster_port import Applied, ClusterRefused
from fairway.runtime.ports import Outgoing, World
from fairway.watcher.object_checks import COMPARE, Compare, ObjectDoubt
from fairway.watcher.object_doubts import ObjectDoubts
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.workloads.companions.named import CONFIG_MAP
from fairway.workloads.trainjob.trainjob import TRAINJOB
from fairway.workloads.trainjob.written_out import TRAINING_RUNTIME, written_out
from tests.cases.training_runtimes import TENANT, finds, torch, train_job
from tests.support.simulated import PATIENCE_S, simulated

Json = dict[str, Any]
KEY = b"a key"
NAME = "fairway-j1-1"
JOB_SET = "JobSet.jobset.x-k8s.io/v1alpha2"
LABELS = {"fairway.io/job": "j1", "fairway.io/attempt": "1"}


class Member:
    """A cluster, and a record that has the manifest of one TrainJob with its runtime in it."""

    def __init__(self, cluster: KubernetesCluster, sim: SimCluster) -> None:
        self.cluster = cluster
        self.sim = sim
        self.bus = MemoryBus()
        self._world = World(self.bus, MemoryStore(), SystemClock(), "propagator")
        self.doubts = ObjectDoubts(self.bus, {"m1": cluster}, KEY)
        self.ref = wire.ManifestRef(1, "1" * 64, 1)

    async def record(self) -> None:
        body = written_out(train_job(), finds(torch())).manifest
        said = wire.Submitted(tenant=TENANT, job="j1", manifest=msgspec.Raw(msgspec.json.encode(body)), source="hub")
        await self.bus.publish([Outgoing("m1", subjects.job(said.verb, TENANT), msgspec.json.encode(said))])

    async def asked(self, verb: str, cluster: Any = None) -> Outcome:
        calls = MemberCalls(self._world, {"m1": cluster or self.cluster}, KEY)
        return await calls(Call(verb, "m1", "j1", 1, Copy(TRAINJOB.key, TENANT, "fine-tune", self.ref)))

    async def one(self, kind: str, name: str) -> Json | None:
        return await self.cluster.get(kind, TENANT, name)

    async def until(self, kind: str, name: str) -> Json:
        async with asyncio.timeout(PATIENCE_S):
            while (found := await self.one(kind, name)) is None:
                await asyncio.sleep(0)
        return found


@asynccontextmanager
async def member() -> AsyncIterator[Member]:
    async with simulated() as (cluster, sim), asyncio.timeout(PATIENCE_S):
        made = Member(cluster, sim)
        await made.record()
        yield made


async def test_it_names_a_runtime_of_its_own_in_which_its_pods_carry_its_labels() -> None:
    async with member() as here:
        done = await here.asked(APPLY)
        assert done.ok, done
        job = await here.until(TRAINJOB.key, "fine-tune")
        assert job["spec"]["runtimeRef"] == {
            "apiGroup": "trainer.kubeflow.org",
            "kind": "TrainingRuntime",
            "name": NAME,
        }
        assert "runtime" not in job["spec"]
        runtime = await here.until(TRAINING_RUNTIME, NAME)
        pods = runtime["spec"]["template"]["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]
        assert LABELS.items() <= pods["metadata"]["labels"].items()
        assert pods["spec"]["automountServiceAccountToken"] is False
        anchor = await here.until(CONFIG_MAP, NAME)
        assert [one["uid"] for one in runtime["metadata"]["ownerReferences"]] == [anchor["metadata"]["uid"]]
        assert [one["uid"] for one in anchor["metadata"]["ownerReferences"]] == [job["metadata"]["uid"]]
        made = await here.until(JOB_SET, "fine-tune")
        assert LABELS.items() <= made["metadata"]["labels"].items()


async def test_done_again_it_is_the_same_and_deleted_it_leaves_nothing() -> None:
    async with member() as here:
        first, second = [await here.asked(APPLY) for _ in range(2)]
        assert (first.body.adopted, second.body.adopted) == (False, True)
        assert first.body.uid == second.body.uid
        while not (await here.asked(DELETE)).body:
            pass
        kinds = {TRAINJOB.key: "fine-tune", JOB_SET: "fine-tune", TRAINING_RUNTIME: NAME, CONFIG_MAP: NAME}
        assert [await here.one(kind, name) for kind, name in kinds.items()] == [None] * 4


async def test_nobody_finds_it_edited_because_its_runtime_stands_elsewhere() -> None:
    async with member() as here:
        await here.asked(APPLY)
        live = await here.until(TRAINJOB.key, "fine-tune")
        asked = Compare(here.ref, live, ObjectDoubt("m", lost=True))
        assert (await here.doubts(Call(COMPARE, "m1", "j1", 1, asked))).body == ()


async def test_a_runtime_of_somebody_else_under_that_name_is_not_taken_for_its_own() -> None:
    async with member() as here:
        await here.cluster.apply("ConfigMap.v1", {"metadata": {"name": "x", "namespace": TENANT}})
        theirs = {"metadata": {"name": NAME, "namespace": TENANT, "labels": LABELS}, "spec": {}}
        await here.cluster.create(TRAINING_RUNTIME, theirs)
        done = await here.asked(APPLY)
        assert (done.ok, done.code) == (False, "NoSeal")
        assert await here.one(TRAINJOB.key, "fine-tune") is None


class Behind:
    """A cluster whose trainer has not heard of the runtime yet, and says so in these words."""

    def __init__(self, cluster: KubernetesCluster, words: str) -> None:
        self._cluster = cluster
        self._words = words
        self.name = cluster.name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    async def apply(self, kind: str, manifest: Json, level: str = "") -> Applied:
        if kind == TRAINJOB.key:
            raise ClusterRefused("Forbidden", self._words)
        return await self._cluster.apply(kind, manifest, level)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(
            f'TrainingRuntime.trainer.kubeflow.org "{NAME}" not found: must be created before', "", id="it passes"
        ),
        pytest.param("spec.trainer.numProcPerNode: must have an int value", "Forbidden", id="for good"),
    ],
)
async def test_of_a_refusal_only_that_the_runtime_was_not_heard_of_passes(words: str, code: str) -> None:
    async with member() as here:
        done = await here.asked(APPLY, Behind(here.cluster, words))
        assert (done.ok, done.code) == (False, code)
        assert words in done.text
        assert await here.one(TRAINING_RUNTIME, NAME) is not None
        while not (await here.asked(DELETE)).body:
            pass
        assert [await here.one(kind, NAME) for kind in (TRAINING_RUNTIME, CONFIG_MAP)] == [None] * 2
