"""Two gateways that are killed, stand still and lose NATS, while jobs come to them over HTTP."""

import asyncio
import os
import signal
from pathlib import Path

import httpx
import pytest

from fairway.lab.traces.trace import TraceJob, manifest
from fairway.process.pipeline import STAGES
from tests.faults.arena.http_load import HttpLoad
from tests.faults.arena.load import TENANTS
from tests.faults.arena.scene import Fault, Scene, Setup, under_load
from tests.faults.arena.verdict import Verdict

DOORS = ("gateway-1", "gateway-2")
# Gateways by themselves: the others go on with what was accepted.
BEHIND = Setup(groups=(("agent",), STAGES), over_http=True)


async def accepted_once(dir: Path, fault: Fault) -> Verdict:
    """Every submission is one job, and there is no other, not even one that was refused because its name is in use; the
    fault finds both gateways at work."""
    loads: list[HttpLoad] = []

    async def opened(scene: Scene) -> None:
        assert isinstance(scene.load, HttpLoad)
        loads.append(scene.load)
        await asyncio.gather(*(scene.arena.start_process(["gateway"], name) for name in DOORS))
        await scene.flows()
        await fault(scene)

    verdict = await under_load(dir, opened, BEHIND)
    (load,) = loads
    assert verdict.accepted == verdict.ended == load.begun == len(set(load.sent))
    return verdict


@pytest.mark.slow
async def test_what_is_sent_again_because_a_gateway_was_killed_is_accepted_once(tmp_path: Path) -> None:
    """One after the other, and then both at once. NATS is so far away that some are always on their way to the record,
    or their answers on their way back."""

    async def kill(scene: Scene) -> None:
        for names in (DOORS[:1], DOORS[1:], DOORS):
            links = [scene.arena.links[f"{name}>nats"] for name in names]
            for link in links:
                link.delay(0.3)
            await scene.waits(12)
            await asyncio.gather(*(scene.arena.processes[name].kill() for name in names))
            await scene.refused()
            for link in links:
                link.mend()
            await asyncio.gather(*(scene.arena.start_process(["gateway"], name) for name in names))
            await scene.flows()

    assert (await accepted_once(tmp_path, kill)).wrong == ()


@pytest.mark.slow
async def test_what_is_sent_again_because_a_gateway_stood_still_is_accepted_once_though_it_has_both(
    tmp_path: Path,
) -> None:
    """What it had in hand when it stopped it submits when it goes on; the other one has accepted it long before."""

    async def pause(scene: Scene) -> None:
        for name in DOORS:
            os.kill(scene.arena.processes[name].pid, signal.SIGSTOP)
            await scene.refused()
            await scene.waits(24)
            os.kill(scene.arena.processes[name].pid, signal.SIGCONT)
            await scene.flows()

    assert (await accepted_once(tmp_path, pause)).wrong == ()


async def turned_away(scene: Scene, name: str) -> None:
    """This gateway has lost NATS, and says when to come back. What it is given now is in no record: see the count of
    what was accepted."""
    await scene.until(lambda: scene.unready(name), "it has noticed")
    job = manifest(TraceJob("refused", TENANTS[0], 0.0, 1.0, 1, {"cpu": "1"}), 1_000)
    door = scene.arena.processes[name].said["http"]
    known = {"Authorization": f"Bearer {scene.arena.token}"}
    async with httpx.AsyncClient(base_url=door, headers=known, timeout=10.0) as client:
        answer = await client.post("/v1/jobs", json={"manifest": job})
    assert answer.status_code == httpx.codes.SERVICE_UNAVAILABLE, answer.text
    assert int(answer.headers["retry-after"]) > 0
    assert answer.json()["detail"].startswith("nothing was accepted")


@pytest.mark.slow
async def test_what_is_sent_again_because_a_gateway_had_lost_nats_is_accepted_once(tmp_path: Path) -> None:
    """Cut and half open, of one gateway and of both: what was on its way may be in the record or not. Whoever comes to
    one that is cut off is told so."""

    async def spoil(scene: Scene) -> None:
        for names in (DOORS[:1], DOORS[1:], DOORS):
            links = [scene.arena.links[f"{name}>nats"] for name in names]
            for link in links:
                link.cut()
            await scene.refused()
            await asyncio.gather(*(turned_away(scene, name) for name in names))
            for link in links:
                link.mend()
            await scene.flows()
            for link in links:
                link.hang()
            await scene.refused()
            for link in links:
                link.mend()
            await scene.flows()

    assert (await accepted_once(tmp_path, spoil)).wrong == ()
