"""The accounts of deploy/nats/members.conf on three servers, each user at another one than the services; and how what
was kept without accounts comes into them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.remote.cluster import RemoteCluster
from fairway.adapters.remote.member_side import Serving
from fairway.lab.processes.embedded_servers import nats_cluster, nats_server
from fairway.process.servers.streams import provisioned
from fairway.runtime.ports import Outgoing, Unreachable
from fairway.wire import subjects
from tests.support.bus_users import at, connected, rules
from tests.support.simulated import simulated
from tests.support.twins import consumed


@pytest.fixture
async def urls(tmp_path: Path) -> AsyncIterator[list[str]]:
    servers = await nats_cluster(tmp_path, 3, more=rules("m1"))
    yield [one.url for one in servers]
    for one in servers:
        await one.stop()


async def told(bus: NatsBus, stream: str) -> list[str]:
    """All that a stream has; whoever reads starts over when a server has lost the consumer."""
    async with asyncio.timeout(20):
        while True:
            with contextlib.suppress(Unreachable):
                return [one.data.decode() async for one in bus.history(stream)]


async def test_a_tenant_and_a_member_are_acknowledged_by_streams_of_other_servers(urls: list[str]) -> None:
    services = await NatsBus.connect(at(urls[0], "fairway"), "services")
    await provisioned(services, 3)
    for url in urls:
        member = await NatsBus.connect(at(url, "m1"), "m1", inbox="_INBOX_m1")
        async with connected(url, "team-a") as (tenant, _):
            said = await tenant.jetstream().publish(subjects.inbound("submit", "team-a"), url.encode())
            assert said.stream == subjects.IN
        await member.publish([Outgoing(url, subjects.cluster("report", "m1"), url.encode())])
        await member.close()
    for stream in (subjects.IN, subjects.CLUSTERS):
        assert await told(services, stream) == urls
    await services.close()


async def test_a_member_is_asked_over_the_bus_from_another_server(urls: list[str]) -> None:
    heard: list[Any] = []
    async with (
        connected(urls[0], "fairway") as (hub, _),
        connected(urls[2], "m1") as (beside, _),
        simulated() as (cluster, _),
    ):
        member = Serving(cluster, beside, heard.append)
        serving = asyncio.create_task(member.run())
        await member.heard.wait()
        await beside.flush()
        remote = await RemoteCluster.open("m1", hub)
        async with asyncio.timeout(20):
            while not heard:  # until the servers have told each other who listens
                try:
                    await remote.inform({"labels": {}})
                except Unreachable:
                    await asyncio.sleep(0.1)
        assert await remote.served()
        await remote.close()
        serving.cancel()
        await asyncio.wait([serving])


async def test_what_was_kept_without_accounts_is_there_when_its_folder_was_moved(tmp_path: Path) -> None:
    """As docs/joining-clusters.md says it."""
    words = [Outgoing(f"m-{at}", subjects.job("submitted", "team-a"), b"%d" % at) for at in range(3)]
    async with await nats_server(tmp_path) as server:
        before = await NatsBus.connect(server.url, "services")
        await before.provision()
        for word in words:
            await before.publish([word])
        source = await consumed(before, "JOBS", "quota", ["fairway.job.submitted.>"], wait_s=1)
        source.ack(await source.batch(1))
        await before.client.flush()
        await before.close()
    (tmp_path / "jetstream/$G").rename(tmp_path / "jetstream/FAIRWAY")
    async with await nats_server(tmp_path, more=rules()) as server:
        after = await NatsBus.connect(at(server.url, "fairway"), "services")
        await after.provision()
        assert [one.id async for one in after.history("JOBS")] == [one.id for one in words]
        left = await consumed(after, "JOBS", "quota", ["fairway.job.submitted.>"], wait_s=1)
        assert {one.id for one in await left.batch(3)} == {one.id for one in words[1:]}
        await after.close()
