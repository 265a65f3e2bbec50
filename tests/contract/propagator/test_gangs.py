"""A gang of pods in its member: nothing of it runs before all of it is there, whoever dies on the way."""

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
from fairway.runtime.ports import Outgoing, Unreachable, World
from fairway.wire import jobs as wire
from fairway.wire import subjects
from tests.spec.builders.gangs_of_pods import TENANT, VERSIONS, gang, pod, pod_group
from tests.support.simulated import PATIENCE_S, simulated

Json = dict[str, Any]
POD = "Pod.v1"
NAMES = ("a", "b", "c")
GATE = "fairway.io/gang"


class Dies:
    """A cluster whose caller dies with its `at`th write, before it is made or `after` it."""

    def __init__(self, cluster: KubernetesCluster, at: int, after: bool) -> None:
        self._cluster = cluster
        self._left = at
        self._after = after
        self.name = cluster.name
        self.died = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    async def apply(self, *said: Any) -> Any:
        return await self._write(self._cluster.apply, *said)

    async def patch(self, *said: Any) -> Any:
        return await self._write(self._cluster.patch, *said)

    async def _write(self, call: Any, *said: Any) -> Any:
        self._left -= 1
        last = self._left == 0
        if last and not self._after:
            self.died = True
            raise Unreachable("it died")
        done = await call(*said)
        if last:
            self.died = True
            raise Unreachable("it died")
        return done


class Member:
    """A cluster and what is `behind` it, and a record that has the manifest of one gang."""

    def __init__(self, cluster: KubernetesCluster, behind: SimCluster, manifest: Json) -> None:
        self.cluster = cluster
        self.behind = behind
        self._manifest = manifest
        self._bus = MemoryBus()
        self._world = World(self._bus, MemoryStore(), SystemClock(), "propagator")

    async def record(self) -> None:
        said = wire.Submitted(
            tenant=TENANT, job="j1", manifest=msgspec.Raw(msgspec.json.encode(self._manifest)), source="hub"
        )
        await self._bus.publish([Outgoing("m1", subjects.job(said.verb, TENANT), msgspec.json.encode(said))])

    async def asked(self, verb: str, cluster: Any = None) -> Outcome:
        calls = MemberCalls(self._world, {"m1": cluster or self.cluster}, b"a key")
        return await calls(Call(verb, "m1", "j1", 1, Copy(POD, TENANT, "a", wire.ManifestRef(1, "1" * 64, 1))))

    async def pods(self) -> dict[str, Json]:
        found = {name: await self.cluster.get(POD, TENANT, name) for name in NAMES}
        return {name: one for name, one in found.items() if one is not None}

    async def run(self) -> None:
        while any(not one["spec"].get("nodeName") for one in (await self.pods()).values()):
            await asyncio.sleep(0)

    async def removed(self) -> None:
        while not (await self.asked(DELETE)).body:
            pass
        assert await self.pods() == {}


@asynccontextmanager
async def member(manifest: Json | None = None) -> AsyncIterator[Member]:
    async with simulated() as (cluster, behind), asyncio.timeout(PATIENCE_S):
        made = Member(cluster, behind, manifest or gang())
        await made.record()
        yield made


async def test_its_leader_owns_the_others_and_each_says_which_pod_set_it_is_of() -> None:
    async with member() as here:
        done = await here.asked(APPLY)
        assert done.ok, done
        await here.run()
        found = await here.pods()
        assert list(found) == list(NAMES)
        assert done.body.uid == found["a"]["metadata"]["uid"]
        assert "gang" not in found["a"]
        assert "ownerReferences" not in found["a"]["metadata"]
        for name in ("b", "c"):
            (owner,) = found[name]["metadata"]["ownerReferences"]
            assert (owner["uid"], owner.get("controller")) == (done.body.uid, None)
        labels = [one["metadata"]["labels"] for one in found.values()]
        assert [one["fairway.io/pod-set"] for one in labels] == ["pod", "pod-2", "pod-2"]
        assert {(one["fairway.io/job"], one["fairway.io/attempt"], one["fairway.io/alone"]) for one in labels} == {
            ("j1", "1", "true")
        }
        assert not any(one["spec"].get("schedulingGates") for one in found.values())
        await here.removed()


async def test_done_again_it_is_the_same_gang() -> None:
    async with member() as here:
        assert (await here.asked(APPLY)).ok
        first = {name: one["metadata"]["uid"] for name, one in (await here.pods()).items()}
        again = await here.asked(APPLY)
        assert (again.ok, again.body.adopted) == (True, True)
        assert {name: one["metadata"]["uid"] for name, one in (await here.pods()).items()} == first


async def test_a_pod_that_went_away_after_it_was_let_go_is_not_made_anew() -> None:
    async with member() as here:
        await here.asked(APPLY)
        await here.cluster.drop(POD, TENANT, "b")
        while "b" in await here.pods():
            await asyncio.sleep(0)
        assert (await here.asked(APPLY)).ok
        assert list(await here.pods()) == ["a", "c"]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, 7))
async def test_whoever_dies_with_a_write_leaves_what_is_finished_or_taken_away(at: int, after: bool) -> None:
    """Three pods are made, and three gates taken away."""
    for again in (True, False):
        async with member() as here:
            dies = Dies(here.cluster, at, after)
            assert (await here.asked(APPLY, dies)).code == ""
            assert dies.died
            left = await here.pods()
            assert len(left) == min(at - (not after), 3)
            free = [name for name, one in left.items() if not one["spec"].get("schedulingGates")]
            assert free == sorted(["b", "c", "a"][: max(at - 3 - (not after), 0)]), "the leader's gate is the last"
            assert len(left) == 3 or not free, "one may get a node before all are there"
            if again:
                assert (await here.asked(APPLY)).ok
                await here.run()
                assert list(await here.pods()) == list(NAMES)
            await here.removed()


async def test_a_gang_of_which_one_cannot_be_made_never_runs() -> None:
    async with member() as here:
        await here.cluster.apply("ConfigMap.v1", {"metadata": {"name": "x", "namespace": TENANT}})
        theirs = pod("c", {})
        await here.cluster.create(POD, theirs)
        done = await here.asked(APPLY)
        assert (done.ok, done.code) == (False, "NameConflict")
        found = await here.pods()
        assert [found[name]["spec"].get("schedulingGates") for name in ("a", "b")] == [[{"name": GATE}]] * 2
        while not (await here.asked(DELETE)).body:
            pass
        assert list(await here.pods()) == ["c"], "what is somebody else's stays"


async def test_one_that_is_of_a_leader_before_is_waited_for() -> None:
    """The leader went away while its gang was being made, and the garbage collector has not come to the others yet."""
    async with member() as here:
        await here.asked(APPLY, Dies(here.cluster, 3, True))
        leader = (await here.pods())["a"]
        orphan = (await here.pods())["b"]
        await here.removed()
        meta = {key: orphan["metadata"][key] for key in ("name", "namespace", "labels", "annotations")}
        owner = {**orphan["metadata"]["ownerReferences"][0], "uid": leader["metadata"]["uid"]}
        await here.cluster.create(POD, {"metadata": {**meta, "ownerReferences": [owner]}, "spec": orphan["spec"]})
        done = await here.asked(APPLY)
        assert (done.ok, done.code) == (False, "")
        assert all(one["spec"].get("schedulingGates") for one in (await here.pods()).values())


@pytest.mark.parametrize(("marks", "version"), VERSIONS, ids=[version for _, version in VERSIONS])
async def test_its_pod_group_is_there_before_its_pods_say_its_name_and_goes_with_them(
    marks: Json, version: str
) -> None:
    ((holder, of_pod),) = marks.items()
    async with member(gang(marks, pod_group(version))) as here:
        assert (await here.asked(APPLY)).ok
        found = await here.pods()
        (name,) = {one["metadata"][holder][mark] for one in found.values() for mark in of_pod}
        group = await here.cluster.get(f"PodGroup.{version}", TENANT, name)
        assert group is not None
        assert (group["spec"], group["metadata"]["labels"]["fairway.io/job"]) == ({"minMember": 3}, "j1")
        assert "podGroup" not in found["a"]
        assert (await here.asked(APPLY)).body.adopted
        await here.run()
        await here.removed()
        while await here.cluster.get(f"PodGroup.{version}", TENANT, name) is not None:
            await asyncio.sleep(0)


async def test_one_of_a_kind_that_the_member_does_not_serve_is_left_out() -> None:
    marks, version = VERSIONS[-1]
    async with member(gang(marks, pod_group(version))) as here:
        kind = here.behind.api.registry.of_kind(version, "PodGroup")
        assert kind is not None
        here.behind.api.registry.remove(kind)
        done = await here.asked(APPLY)
        assert done.ok, done
        await here.run()
        assert list(await here.pods()) == list(NAMES)
