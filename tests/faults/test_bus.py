"""NATS killed, NATS without room, and of three servers one cut off, or the data of one gone."""

import resource
import shutil
from pathlib import Path

import pytest
from nats.js import JetStreamContext

from fairway.lab.processes.embedded_servers import EmbeddedServer
from fairway.wire import subjects
from tests.faults.arena.scene import Scene, Setup, under_load

THREE = Setup(nats_servers=3)


@pytest.mark.slow
async def test_killing_the_only_nats_server_loses_and_doubles_no_job(tmp_path: Path) -> None:
    async def kill(scene: Scene) -> None:
        for _ in range(2):
            await scene.flows()
            scene.arena.nats.kill()
            await scene.until(lambda: scene.unready("propagator"), "the services have noticed")
            await scene.arena.nats.restart()

    assert (await under_load(tmp_path, kill)).wrong == ()


@pytest.mark.slow
async def test_a_record_that_takes_nothing_more_stops_the_work_and_room_for_it_lets_it_go_on(tmp_path: Path) -> None:
    """A quota of bytes on the stream, as NATS refuses when its disk is full."""

    async def fill(scene: Scene) -> None:
        await scene.flows()
        js = scene.bus.client.jetstream()
        info = await js.stream_info(subjects.JOBS)
        full = info.config
        full.max_bytes = info.state.bytes + 20_000
        full.discard = "new"
        await js.update_stream(full)
        await scene.refused()
        full.max_bytes = -1
        await js.update_stream(full)

    assert (await under_load(tmp_path, fill)).wrong == ()


@pytest.mark.slow
async def test_a_disk_without_room_loses_nothing_that_nats_had_acknowledged(tmp_path: Path) -> None:
    """Files cannot grow any more. NATS takes nothing for that stream from then on until it is started again."""

    async def fill(scene: Scene) -> None:
        await scene.flows()
        nats = scene.arena.nats
        largest = max(file.stat().st_size for file in nats.dir.rglob("*.blk"))
        limits = resource.prlimit(nats.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(nats.pid, resource.RLIMIT_FSIZE, (largest + 20_000, limits[1]))
        await scene.refused(1)
        await nats.restart()  # with its usual limits

    assert (await under_load(tmp_path, fill)).wrong == ()


@pytest.mark.slow
async def test_killing_each_of_three_nats_servers_in_turn_loses_and_doubles_no_job(tmp_path: Path) -> None:
    async def kill(scene: Scene) -> None:
        for server in (scene.arena.nats, *scene.arena.nats_others):
            await scene.flows()
            server.kill()
            await scene.flows(4)
            await server.restart()
            await copied(scene)

    assert (await under_load(tmp_path, kill, THREE)).wrong == ()


@pytest.mark.slow
async def test_without_two_of_three_nats_servers_nothing_is_taken_and_with_them_everything_goes_on(
    tmp_path: Path,
) -> None:
    async def kill(scene: Scene) -> None:
        await scene.flows()
        for server in scene.arena.nats_others:
            server.kill()
        await scene.refused(1)
        for server in scene.arena.nats_others:
            await server.restart()

    assert (await under_load(tmp_path, kill, THREE)).wrong == ()


@pytest.mark.slow
async def test_deleting_the_data_of_one_of_three_nats_servers_loses_and_doubles_no_job(tmp_path: Path) -> None:
    async def delete(scene: Scene) -> None:
        for server in (scene.arena.nats_others[0], scene.arena.nats):
            await scene.flows()
            await empty(server)
            await copied(scene)

    assert (await under_load(tmp_path, delete, THREE)).wrong == ()


@pytest.mark.slow
async def test_one_of_three_nats_servers_that_is_cut_off_with_its_clients_loses_and_doubles_no_job(
    tmp_path: Path,
) -> None:
    """Nobody breaks the connections of its clients: it answers them, and can do nothing for them."""

    async def cut_off(scene: Scene) -> None:
        assert scene.arena.routes is not None
        await scene.flows()
        server = await crowded(scene)
        for link in scene.arena.routes.between(server):
            link.cut()
        await scene.waits(280)  # at eight a second that is longer than NATS waits for an acknowledgement
        assert not await even(scene)
        for link in scene.arena.routes.between(server):
            link.mend()
        await copied(scene)

    assert (await under_load(tmp_path, cut_off, THREE)).wrong == ()


async def crowded(scene: Scene) -> EmbeddedServer:
    """The server with the most processes, and not the one that takes the load: who is there is sent away."""
    here = scene.bus.client.connected_url
    assert here is not None
    servers = (scene.arena.nats, *scene.arena.nats_others)
    links = {server: [one for one in scene.arena.links.values() if one.target == server.port] for server in servers}
    (loaded,) = (links.pop(server) for server in servers if server.port == here.port)
    for link in loaded:
        link.cut()
    await scene.flows()
    for link in loaded:
        link.mend()
    most = max(links, key=lambda server: sum(link.used for link in links[server]))
    assert any(link.used for link in links[most]), "no process is connected to a server that can be cut off"
    return most


async def empty(server: EmbeddedServer) -> None:
    server.kill()
    shutil.rmtree(server.dir / "jetstream")
    await server.restart()


async def even(scene: Scene) -> bool:
    """Every server has all of the record."""
    js: JetStreamContext = scene.bus.client.jetstream()
    try:
        cluster = (await js.stream_info(subjects.JOBS)).cluster
    except Exception:  # no server leads just now
        return False
    copies = (cluster and cluster.replicas) or []
    return len(copies) == 2 and all(one.current and not one.offline for one in copies)


async def copied(scene: Scene) -> None:
    await scene.until(lambda: even(scene), "three servers have the record")
