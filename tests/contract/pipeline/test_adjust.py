"""What runs is changed in place, and whoever looks after it afterwards finds it as it should be."""

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
from fairway.propagator.calls import ADJUST, APPLY, Adjustment, Copy
from fairway.propagator.member_calls import MemberCalls
from fairway.runtime.ports import Outgoing, World
from fairway.watcher.object_checks import COMPARE, Compare, ObjectDoubt
from fairway.watcher.object_doubts import ObjectDoubts
from fairway.wire import jobs as wire
from fairway.wire import subjects
from tests.support.simulated import JOB, PATIENCE_S, simulated

Json = dict[str, Any]
KEY = b"a key"


def manifest(**spec: Any) -> Json:
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]}
    meta = {"name": "train", "namespace": "team-a", "labels": {"tier": "gold"}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": meta,
        "spec": {"parallelism": 4, "template": {"spec": pod}, **spec},
    }


class Member:
    """A cluster, and a record that has the manifests of its job: as it was submitted, and as it was changed."""

    def __init__(self, cluster: KubernetesCluster) -> None:
        self.cluster = cluster
        self.bus = MemoryBus()
        world = World(self.bus, MemoryStore(), SystemClock(), "propagator")
        self.calls = MemberCalls(world, {"m1": cluster}, KEY)
        self.doubts = ObjectDoubts(self.bus, {"m1": cluster}, KEY)
        self._said = 0

    async def record(self, kind: type[Any], body: Json) -> wire.ManifestRef:
        self._said += 1
        raw = msgspec.Raw(msgspec.json.encode(body))
        said = kind(tenant="team-a", job="j1", manifest=raw, source="hub")
        data = msgspec.json.encode(said)
        await self.bus.publish([Outgoing(f"m{self._said}", subjects.job(said.verb, "team-a"), data)])
        return wire.ManifestRef(self._said, str(self._said) * 64, len(data))

    def copy(self, ref: wire.ManifestRef, uid: str = "") -> Copy:
        return Copy(JOB, "team-a", "train", ref, uid=uid)

    async def adjust(self, before: Copy, after: wire.ManifestRef) -> Outcome:
        return await self.calls(Call(ADJUST, "m1", "j1", 1, Adjustment(before, after)))

    async def live(self) -> Json:
        found = await self.cluster.get(JOB, "team-a", "train")
        assert found is not None
        return found

    async def edited(self, ref: wire.ManifestRef) -> Any:
        """What the watcher would find changed by others."""
        doubt = ObjectDoubt("m", lost=True)
        found = await self.doubts(Call(COMPARE, "m1", "j1", 1, Compare(ref, await self.live(), doubt)))
        assert found.ok
        return found.body


@asynccontextmanager
async def applied() -> AsyncIterator[tuple[Member, Copy]]:
    async with simulated() as (cluster, _), asyncio.timeout(PATIENCE_S):
        member = Member(cluster)
        first = await member.record(wire.Submitted, manifest())
        done = await member.calls(Call(APPLY, "m1", "j1", 1, member.copy(first)))
        assert done.ok, done
        yield member, member.copy(first, done.body.uid)


async def test_its_operator_has_fewer_pods_to_run_and_nobody_finds_it_edited() -> None:
    async with applied() as (member, copy):
        second = await member.record(wire.Revise, manifest(parallelism=2, activeDeadlineSeconds=600))
        assert (await member.adjust(copy, second)).ok
        spec = (await member.live())["spec"]
        assert (spec["parallelism"], spec["activeDeadlineSeconds"]) == (2, 600)
        assert await member.edited(second) == ()
        assert await member.edited(copy.manifest) == ()  # it may be looked at before it is said
        again = (await member.live())["metadata"]["resourceVersion"]
        assert (await member.adjust(copy, second)).ok
        assert (await member.live())["metadata"]["resourceVersion"] == again


async def test_what_somebody_else_changed_is_still_found_out() -> None:
    async with applied() as (member, copy):
        second = await member.record(wire.Revise, manifest(parallelism=2))
        await member.adjust(copy, second)
        live = await member.live()
        spec = {**live["spec"], "parallelism": 9}
        meta = {**live["metadata"], "managedFields": by("eve", parallelism=9)}
        seen = Compare(second, {**live, "metadata": meta, "spec": spec}, ObjectDoubt("m"))
        call = Call(COMPARE, "m1", "j1", 1, seen)
        (edit,) = (await member.doubts(call)).body
        assert (edit.path, edit.who) == ("spec.parallelism", "eve")


def by(manager: str, **spec: Any) -> list[Json]:
    return [{"manager": manager, "fieldsV1": {"f:spec": {f"f:{name}": {} for name in spec}}}]


@pytest.mark.parametrize("uid", ["another", ""], ids=["made anew by somebody", "that cannot be told from a stranger's"])
async def test_an_object_that_is_not_its_own_stays_as_it_is(uid: str) -> None:
    async with applied() as (member, copy):
        second = await member.record(wire.Revise, manifest(parallelism=2))
        foreign = msgspec.structs.replace(copy, uid=uid)
        found = await member.calls(Call(ADJUST, "m1", "j2", 1, Adjustment(foreign, second)))
        assert (found.ok, found.code) == (False, "NotFound")
        assert (await member.live())["spec"]["parallelism"] == 4


async def test_a_manifest_of_another_namespace_changes_nothing() -> None:
    async with applied() as (member, copy):
        body = manifest(parallelism=2)
        second = await member.record(wire.Revise, {**body, "metadata": {**body["metadata"], "namespace": "team-b"}})
        found = await member.adjust(copy, second)
        assert (found.ok, found.code) == (False, "WrongManifest")
