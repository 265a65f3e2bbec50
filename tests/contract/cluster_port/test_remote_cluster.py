"""A member in pull mode keeps every promise of the cluster port: the same tests, with the bus in between. It takes no
message above 1 MiB, as NATS does by default."""

import asyncio
import contextlib
import random
import zlib
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any, cast

import msgspec
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.adapters.remote.cluster import RemoteCluster
from fairway.adapters.remote.member_side import Serving
from fairway.runtime.cluster_port import ClusterRefused
from fairway.runtime.ports import Unreachable
from fairway.workloads.companions.named import SECRET
from tests.contract.cluster_port.test_cluster_port import *  # noqa: F403 - pytest collects them here again, with the house below
from tests.support.bus_users import connected
from tests.support.cluster_ports import House, Simulated
from tests.support.simulated import JOB, OURS, config_map, job, names, simulated, synced, until

Json = dict[str, Any]


@asynccontextmanager
async def served(where: str, cluster: KubernetesCluster, facts: list[Any]) -> AsyncIterator[asyncio.Task[None]]:
    """The process beside the member."""
    async with connected(where, "m1") as (client, refused):
        member = Serving(cluster, client, facts.append)
        serving = asyncio.create_task(member.run())
        await member.heard.wait()
        await client.flush()
        try:
            yield serving
        finally:
            serving.cancel()
            await asyncio.wait([serving])
    assert refused == []


@pytest.fixture
async def hub(where: str) -> AsyncIterator[Client]:
    async with connected(where, "fairway") as (client, _):
        assert client.max_payload == 1 << 20
        yield client


@pytest.fixture
async def house(where: str, hub: Client) -> AsyncIterator[House]:
    async with simulated() as (cluster, inside), served(where, cluster, []):
        remote = await RemoteCluster.open("m1", hub)
        yield Simulated(remote, inside)
        await remote.close()


async def test_a_manifest_larger_than_a_message_of_the_bus_comes_through_whole(house: House) -> None:
    cluster = house.cluster
    noise = b64encode(random.Random(7).randbytes(770_000)).decode()  # packs to 770 KB, not to less
    await cluster.create("ConfigMap.v1", config_map(house.team, "big") | {"data": {"noise": noise}})
    found = await cluster.get("ConfigMap.v1", house.team, "big")
    assert found is not None and found["data"]["noise"] == noise


async def test_a_member_that_nobody_serves_leaves_the_outcome_unknown_at_once(hub: Client) -> None:
    remote = await RemoteCluster.open("m1", hub)
    async with asyncio.timeout(2):
        with pytest.raises(Unreachable, match="run member"):
            await remote.apply(JOB, job("team"))


class Hanging:
    """A member whose API does not answer one question."""

    name = "m1"

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def served(self) -> tuple[str, ...]:
        self.asked.set()
        return await asyncio.get_running_loop().create_future()


async def test_who_waits_for_a_process_that_was_killed_is_told_within_seconds(where: str, hub: Client) -> None:
    remote = await RemoteCluster.open("m1", hub)
    hanging = Hanging()
    async with served(where, cast(KubernetesCluster, hanging), []):
        asking = asyncio.create_task(remote.served())
        await hanging.asked.wait()
    async with asyncio.timeout(10):
        with pytest.raises(Unreachable, match="nobody serves m1"):
            await asking
    await remote.close()


async def test_a_watch_goes_on_when_the_other_side_is_another_process_and_tells_what_vanished(
    where: str, hub: Client
) -> None:
    async with simulated() as (cluster, _):
        remote = await RemoteCluster.open("m1", hub)
        for name in ("stays", "goes"):
            await cluster.create("ConfigMap.v1", config_map("team", name, OURS))
        async with aclosing(remote.watch("ConfigMap.v1")) as changes:
            async with served(where, cluster, []):
                assert names(await until(changes, synced)) == ["+goes", "+stays"]
            await cluster.drop("ConfigMap.v1", "team", "goes")
            async with served(where, cluster, []):
                told = await until(changes, synced)
                assert names(told) == ["+stays", "-goes"]
                assert told[-2].manifest["metadata"]["labels"] == OURS
                await cluster.create("ConfigMap.v1", config_map("team", "comes"))
                assert names(await until(changes, lambda one: one.name == "comes")) == ["+comes"]
        await remote.close()


async def test_what_was_said_of_the_cluster_reaches_the_agent_beside_it(where: str, hub: Client) -> None:
    heard: list[Any] = []
    async with simulated() as (cluster, _), served(where, cluster, heard):
        remote = await RemoteCluster.open("m1", hub)
        await remote.inform({"labels": {"gpu": "a100"}})
        await remote.close()
    assert heard == [{"labels": {"gpu": "a100"}}]


async def test_many_calls_go_side_by_side(house: House) -> None:
    cluster = house.cluster
    await asyncio.gather(*(cluster.create("ConfigMap.v1", config_map(house.team, f"c{n}")) for n in range(200)))
    async with aclosing(cluster.watch("ConfigMap.v1")) as changes:
        assert len(names(await until(changes, synced))) == 200


CANARY = b64encode(b"canary-4b1d").decode()


class Overheard:
    """Everything that goes over the bus about members, unpacked."""

    def __init__(self) -> None:
        self.said = b""

    async def hear(self, msg: Msg) -> None:
        with contextlib.suppress(msgspec.DecodeError, zlib.error):
            frame = msgspec.msgpack.decode(msg.data)
            self.said += zlib.decompressobj().decompress(frame[3])


async def test_of_a_secret_nothing_that_it_holds_goes_over_the_bus(where: str, hub: Client) -> None:
    seal = {"fairway.io/seal": "v1 x"}
    last = {"kubectl.kubernetes.io/last-applied-configuration": CANARY}
    meta = {"name": "db", "namespace": "team", "annotations": seal | last, "labels": {"app": "x"}}
    overheard = Overheard()
    async with simulated() as (cluster, _), served(where, cluster, []):
        await hub.subscribe("fairway.member.>", cb=overheard.hear)
        remote = await RemoteCluster.open("m1", hub)
        await cluster.create(SECRET, {"metadata": meta, "data": {"password": CANARY}})
        found = await remote.get(SECRET, "team", "db") or {}
        assert (found["metadata"]["annotations"], found["metadata"]["labels"]) == (seal, {"app": "x"})
        assert await remote.get(SECRET, "team", "absent") is None
        writes = (
            remote.create(SECRET, {"metadata": {"name": "x"}, "data": {"p": CANARY}}),
            remote.apply(SECRET, {"metadata": {"name": "x"}, "data": {"p": CANARY}}),
            remote.patch(SECRET, "team", "db", {"data": {"p": CANARY}}),
        )
        for write in writes:
            with pytest.raises(ClusterRefused, match="pull mode") as refused:
                await write
            assert refused.value.code == "SecretNotSent"
        await remote.drop(SECRET, "team", "db")
        assert await remote.get(SECRET, "team", "db") is None
        await remote.close()
    assert b"identify" in overheard.said
    assert CANARY.encode() not in overheard.said


@pytest.mark.parametrize(
    ("verb", "more"),
    [
        pytest.param("get", {"namespace": "team", "name": "db"}, id="one by its name"),
        pytest.param("open", {"namespace": "", "selector": ""}, id="all, by a watch"),
    ],
)
async def test_a_member_gives_out_no_secret_whoever_asks_over_the_bus(
    where: str, hub: Client, verb: str, more: Json
) -> None:
    async with simulated() as (cluster, _), served(where, cluster, []):
        remote = await RemoteCluster.open("m1", hub)
        with pytest.raises(ClusterRefused, match="no Secret is sent"):
            await remote._call(verb, kind=SECRET, **more)
        await remote.close()
