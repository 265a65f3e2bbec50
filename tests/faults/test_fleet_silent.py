"""Most members fall silent at once, while what would be called lost otherwise happens in one of them."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from fairway.process.pipeline import STAGES
from tests.faults.arena.arena import Arena
from tests.faults.arena.by_hand import delete, end, long_jobs, stored_of, where
from tests.faults.arena.scene import Scene, Setup, under_load

# An agent for each member, so that some can fall silent while another one reports. What was seen meanwhile is trusted
# 25 s after they are back, in place of 90.
REST = ("gateway", *STAGES)
AGENTS = {name: ("agent", "--cluster", name) for name in ("c0", "c1", "c2")}
SOON = Setup(groups=(REST, *AGENTS.values()), settings={"FAIRWAY_WATCH_SILENCE": "5"})
_FROZEN = re.compile(r'^fairway_evictions_frozen\{service="watcher"\} (\d)', re.MULTILINE)


async def frozen(scene: Scene) -> bool:
    """As the watcher's metric has it."""
    async with httpx.AsyncClient(timeout=10.0) as client:
        answer = await client.get(f"{scene.arena.processes['-'.join(REST)].said['metrics']}/metrics")
    (value,) = _FROZEN.findall(answer.text)
    return value == "1"


async def shown(scene: Scene) -> str:
    """What `fairway get clusters` says."""
    known = ("--url", scene.arena.http, "--token-file", str(scene.arena.token_file))
    asked = ("-m", "fairway.cli.main", "get", "clusters", *known)
    asking = await asyncio.create_subprocess_exec(
        sys.executable, *asked, env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await asking.communicate()
    return said.decode()


async def nothing_is_given_up(scene: Scene) -> bool:
    """True as long as evictions are frozen. What is given up then is a breach."""
    given_up = set(scene.given_up)
    still = await frozen(scene)
    assert not still or not given_up, f"given up while evictions were frozen: {sorted(given_up)}"
    return still


def cut(arena: Arena, agent: str) -> Callable[[], None]:
    link = arena.links[f"{agent}>nats"]
    link.cut()
    return link.mend


def stop(arena: Arena, agent: str) -> Callable[[], None]:
    pid = arena.processes[agent].pid
    os.kill(pid, signal.SIGSTOP)
    return lambda: os.kill(pid, signal.SIGCONT)


@pytest.mark.slow
@pytest.mark.parametrize("silence", [cut, stop])
async def test_while_most_members_are_silent_nothing_is_given_up_and_what_was_due_is_done_afterwards(
    silence: Callable[[Arena, str], Callable[[], None]], tmp_path: Path
) -> None:
    """An object of a running job is deleted by hand in a member whose agent is silent, where the watcher sees it."""

    async def play(scene: Scene) -> None:
        jobs = await long_jobs(scene, 4)
        there, lost = where(scene, jobs[0])
        silent = [there.name, *sorted({*AGENTS} - {there.name})[:1]]
        assert not await frozen(scene)
        assert "evictions frozen" not in await shown(scene)
        ends = [silence(scene.arena, "-".join(AGENTS[name])) for name in silent]
        await scene.until(lambda: frozen(scene), "evictions are frozen")
        assert (await shown(scene)).count("evictions frozen") == len(AGENTS)
        delete(there, stored_of(there)[lost])
        await scene.waits(80)  # ten seconds: what was put off is looked at every five
        assert await nothing_is_given_up(scene)
        for back in ends:
            back()
        await scene.until(lambda: thawed(scene), "evictions are no longer frozen")
        await scene.until(lambda: scene.given_up == {lost}, "what was due is done")
        await scene.until(lambda: (lost[0], lost[1] + 1) in scene.running, "it is tried again")
        assert "evictions frozen" not in await shown(scene)
        end(scene, jobs)

    assert (await under_load(tmp_path, play, SOON)).wrong == ()


async def thawed(scene: Scene) -> bool:
    return not await nothing_is_given_up(scene)
