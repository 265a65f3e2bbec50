"""Valkey emptied, restarted, and failed over to its replica: one that is even, and one that is behind."""

from pathlib import Path

import pytest
import redis.asyncio as redis

from tests.faults.arena.links import Link
from tests.faults.arena.scene import Scene, under_load


@pytest.mark.slow  # end_to_end/test_kill.py kills Valkey twice, which keeps nothing
async def test_emptying_valkey_loses_and_doubles_no_job(tmp_path: Path) -> None:
    async def wipe(scene: Scene) -> None:
        await scene.flows()
        for _ in range(2):
            async with redis.Redis.from_url(scene.arena.valkey.url) as store:
                await store.flushall()
            await scene.flows()

    assert (await under_load(tmp_path, wipe)).wrong == ()


@pytest.mark.slow
async def test_killing_valkey_loses_and_doubles_no_job(tmp_path: Path) -> None:
    async def kill(scene: Scene) -> None:
        await scene.flows()
        scene.arena.valkey.kill()
        await scene.until(lambda: scene.unready("admission-quota-queue"), "the services have noticed")
        await scene.arena.valkey.restart()

    assert (await under_load(tmp_path, kill)).wrong == ()


@pytest.mark.slow
async def test_a_valkey_that_refuses_writes_for_lack_of_memory_is_waited_for(tmp_path: Path) -> None:
    async def fill(scene: Scene) -> None:
        await scene.flows()
        async with redis.Redis.from_url(scene.arena.valkey.url) as store:
            await store.config_set("maxmemory", "1mb")
            await scene.until(lambda: scene.unready("global-scheduler-reserver"), "the services have noticed")
            await scene.waits()
            await store.config_set("maxmemory", "0")

    assert (await under_load(tmp_path, fill)).wrong == ()


async def follow(scene: Scene, primary: int) -> None:
    """The replica has all that the primary has, and goes on following it."""
    user, _, password = scene.arena.credentials.login.partition(":")
    async with redis.Redis.from_url(scene.arena.replica.url) as store:
        await store.config_set("masteruser", user)
        await store.config_set("masterauth", password)
        await store.execute_command("REPLICAOF", "127.0.0.1", primary)

        async def even() -> bool:
            return (await store.info("replication"))["master_link_status"] == "up"

        await scene.until(even, "the replica follows")


async def fail_over(scene: Scene) -> None:
    """The primary is killed, the address moves to the replica, and only then is that made primary."""
    arena = scene.arena
    arena.valkey.kill()
    for link in arena.to("valkey"):
        link.lead(arena.replica.port)
    await scene.until(lambda: scene.unready("admission-quota-queue"), "the services have noticed")
    async with redis.Redis.from_url(arena.replica.url) as store:
        await store.execute_command("REPLICAOF", "NO", "ONE")


@pytest.mark.slow
async def test_failing_valkey_over_to_its_replica_loses_and_doubles_no_job(tmp_path: Path) -> None:
    async def switch(scene: Scene) -> None:
        await follow(scene, scene.arena.valkey.port)
        await scene.flows()
        await fail_over(scene)

    assert (await under_load(tmp_path, switch)).wrong == ()


@pytest.mark.slow
async def test_failing_valkey_over_to_a_replica_that_is_behind_loses_and_doubles_no_job(tmp_path: Path) -> None:
    async def switch(scene: Scene) -> None:
        between = Link(scene.arena.valkey.port)
        await between.open()
        try:
            await follow(scene, between.port)
            await scene.flows()
            between.hang()
            await scene.flows(24)
            await fail_over(scene)
        finally:
            await between.close()

    assert (await under_load(tmp_path, switch)).wrong == ()
