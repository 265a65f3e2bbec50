"""A member that answers what is no object, or what nobody can follow: it hides nothing of others and ends nobody."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import msgspec
import nats
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.remote import messages as rw
from fairway.adapters.remote.cluster import RemoteCluster
from fairway.domain.text.foreign_json import CUT
from fairway.runtime.cluster_port import Change
from fairway.runtime.ports import Unreachable
from fairway.runtime.views.members import Members
from fairway.watcher.object_doubts import ObjectDoubts
from fairway.watcher.service import MemberWatches
from fairway.workloads.member_copy import job_labels
from tests.contract.pipeline.test_member_watches import KEY, KIND, Box
from tests.support.memory.clock import ManualClock
from tests.support.memory.cluster import MemoryCluster

Json = dict[str, Any]
META = {"name": "a", "namespace": "team-a", "uid": "1", "labels": job_labels("a-1", 2)}
NONSENSE: dict[str, Json] = {
    "labels are a number": {"metadata": {**META, "labels": 7}},
    "owners are numbers": {"metadata": {**META, "ownerReferences": [1]}},
    "metadata is a text": {"metadata": "a"},
    "managers are a number": {"metadata": {**META, "managedFields": 5, "generation": 3}},
}


@pytest.mark.parametrize("manifest", NONSENSE.values(), ids=list(NONSENSE))
async def test_the_watcher_passes_over_what_has_not_the_form_of_an_object(manifest: Json) -> None:
    clock = ManualClock()
    lying = MemoryCluster("lying", clock, [KIND])
    honest = MemoryCluster("honest", clock, [KIND])
    box = Box()

    async def watch(kind: str, selector: str = "", namespace: str = "") -> AsyncIterator[Change]:
        yield Change(KIND, "team-a", "a", manifest)
        await asyncio.Event().wait()

    lying.watch = watch  # type: ignore[method-assign]  # it is the member that lies
    members = Members({"lying": lying, "honest": honest})
    looking = asyncio.create_task(MemberWatches(members, ObjectDoubts(MemoryBus(clock), members, KEY), KEY)(box))
    await honest.apply(KIND, {"metadata": {"name": "b", "namespace": "team-a", "labels": job_labels("b-1", 1)}})
    while getattr(seen := await box.next(), "job", "") != "b-1":
        pass
    looking.cancel()
    await asyncio.gather(lying.close(), honest.close())
    assert seen.cluster == "honest"


@pytest.fixture
async def client(nats_url: str) -> AsyncIterator[Client]:
    client = await nats.connect(nats_url)
    yield client
    await client.close()


class Liar:
    """Answers each verb with the next of its answers, the last one for ever."""

    def __init__(self, client: Client, **answers: list[Any]) -> None:
        self._client = client
        self._answers = {"hello": ["x"], "open": ["s"], **answers}
        self._assembler = rw.Assembler()

    async def serve(self) -> None:
        for subject in (rw.ask("m1"), rw.at("m1", "x")):
            await self._client.subscribe(subject, cb=self._hear)

    async def _hear(self, msg: Msg) -> None:
        whole = self._assembler.take(msg.data)
        assert whole is not None
        verb = msgspec.msgpack.decode(whole[1])["verb"]
        left = self._answers.get(verb, [None])
        answer: Any = rw.Answered(left.pop(0) if len(left) > 1 else left[0])
        for frame in rw.frames(msg.reply.rpartition(".")[2], answer):
            await self._client.publish(msg.reply, frame)


def nested(levels: int) -> msgspec.Raw:
    return msgspec.Raw(b"\x81\xa1a" * levels + b"\x01")


def batch(number: int, *manifests: Any) -> Json:
    place = {"kind": KIND, "namespace": "team-a"}
    changes = [{**place, "name": f"o{n}", "manifest": one} for n, one in enumerate(manifests)]
    return {"number": number, "changes": changes}


@pytest.mark.parametrize("answer", [5, "x", {"changes": 3}, batch(1, {"metadata": 5}), batch(1, {"x": nested(1_500)})])
async def test_a_watch_of_a_member_in_pull_mode_goes_on_after_nonsense(client: Client, answer: Any) -> None:
    liar = Liar(client, next=[answer, batch(1, {"metadata": META})])
    await liar.serve()
    remote = await RemoteCluster.open("m1", client)
    async with aclosing(remote.watch(KIND)) as changes, asyncio.timeout(10):
        change = await anext(changes)
    assert change.manifest == {"metadata": META}
    await remote.close()


async def test_what_it_nests_too_deeply_is_cut(client: Client) -> None:
    deep = {"metadata": META, "spec": nested(900)}
    await Liar(client, next=[batch(1, deep)], get=[deep]).serve()
    remote = await RemoteCluster.open("m1", client)
    async with aclosing(remote.watch(KIND)) as changes, asyncio.timeout(10):
        change = await anext(changes)
    found = await remote.get(KIND, "team-a", "a") or {}
    assert all(one["metadata"] == META and CUT in str(one["spec"]) for one in (change.manifest, found))
    await remote.close()


@pytest.mark.parametrize("said", [None, 5, ["x", 5]])
async def test_a_call_is_answered_as_it_should_be_or_not_at_all(client: Client, said: Any) -> None:
    await Liar(client, served=[said], apply=[said], get=[said or 7]).serve()
    remote = await RemoteCluster.open("m1", client)
    for call in (remote.served(), remote.apply(KIND, {"metadata": META}), remote.get(KIND, "team-a", "a")):
        with pytest.raises(Unreachable, match="makes no sense"):
            await call
    await remote.close()
