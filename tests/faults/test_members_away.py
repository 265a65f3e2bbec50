"""A member's API that is away for long, over a restart of everything, or for one process alone, and a member that has
removed what ended meanwhile."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from fairway.lab.kubesim.api.store import StoredObject
from fairway.lab.kubesim.clusters import SimCluster
from tests.faults.arena.by_hand import delete, stored_of
from tests.faults.arena.members import Attempt
from tests.faults.arena.scene import FOUR, Fault, Scene, Setup, under_load
from tests.faults.arena.verdict import Verdict

# What is trusted for longer than the others of these tests take.
SOON = Setup(settings={"FAIRWAY_WATCH_SILENCE": "5", "FAIRWAY_NODE_GRACE": "5"})
# Nobody cancels: a job has another attempt because its object was removed, and for no other reason.
UNTIL_THE_END = Setup(cancelled=0.0)
# Who deals with members is by itself.
HANDS_APART = Setup(
    groups=(("agent",), ("watcher",), ("propagator",), ("admission", "quota", "queue", "global-scheduler", "reserver"))
)


async def cut_off(scene: Scene) -> set[Attempt]:
    """Nobody reaches c0 any more. These attempts run there now: nobody can have seen their ends."""
    members = scene.arena.members
    await scene.until(lambda: len(members.on("c0")) > 1, "jobs run in c0")
    scene.arena.cut("c0")
    return members.on("c0")


async def back(scene: Scene, left: set[Attempt], mend: Callable[[], None]) -> None:
    """No end of these is known until it is mended; then all are."""
    jobs = {job for job, _ in left}
    assert not jobs & scene.ended
    assert not left & scene.given_up
    mend()
    await scene.until(lambda: jobs <= scene.ended, "their ends are known")


async def away(dir: Path, meanwhile: Fault) -> Verdict:
    """c0 is away while that happens. What ran there is not given up, and has its own end."""

    async def cut(scene: Scene) -> None:
        left = await cut_off(scene)
        await meanwhile(scene)
        await back(scene, left, partial(scene.arena.mend, "c0"))
        assert not left & scene.given_up

    return await under_load(dir, cut, SOON)


@pytest.mark.slow
async def test_jobs_of_a_member_that_is_away_for_longer_than_anything_is_trusted_have_one_attempt_and_their_own_end(
    tmp_path: Path,
) -> None:
    """Its reports are trusted for 30 s, as long as NATS waits for an acknowledgement; all else for less here."""

    async def wait(scene: Scene) -> None:
        await scene.waits(320)  # at eight a second

    assert (await away(tmp_path, wait)).wrong == ()


@pytest.mark.slow
async def test_services_that_are_restarted_while_a_member_is_away_guess_no_end_of_what_ends_there(
    tmp_path: Path,
) -> None:
    async def restart(scene: Scene) -> None:
        await asyncio.gather(*(child.kill() for child in scene.arena.processes.values()))
        await scene.until(lambda: not scene.arena.members.running("c0"), "they have ended, and nobody is there")
        await asyncio.gather(*(scene.arena.start_process(group) for group in FOUR))
        await scene.flows(24)

    assert (await away(tmp_path, restart)).wrong == ()


@pytest.mark.slow
async def test_what_a_member_removed_after_its_end_and_before_anybody_saw_it_is_tried_again_and_did_not_fail(
    tmp_path: Path,
) -> None:
    removed: list[Attempt] = []

    async def remove(scene: Scene) -> None:
        left = await cut_off(scene)
        there = scene.arena.kube.clusters["c0"]
        await scene.until(lambda: left <= over(there).keys(), "they have ended unseen")
        for key, stored in over(there).items():
            delete(there, stored)
            if key[0] not in scene.ended:
                scene.arena.members.forget(key)
                removed.append(key)
        await scene.flows()
        await back(scene, left, partial(scene.arena.mend, "c0"))
        assert left & scene.given_up

    verdict = await under_load(tmp_path, remove, UNTIL_THE_END)
    assert verdict.wrong == ()
    assert verdict.accepted < verdict.attempts <= verdict.accepted + len(removed)


def over(cluster: SimCluster) -> dict[Attempt, StoredObject]:
    """What a controller that goes by the time since the end would remove, if that time were nothing."""
    return {
        key: stored
        for key, stored in stored_of(cluster).items()
        if (stored.obj.get("status") or {}).get("completionTime")
    }


@pytest.mark.slow
@pytest.mark.parametrize("how", ["cut", "hang"])
async def test_a_member_that_the_propagator_alone_cannot_reach_gets_its_jobs_late_and_once(
    how: str, tmp_path: Path
) -> None:
    """Its agent goes on saying that there is room. What hung comes late, when it was asked for again long ago."""

    async def spoil(scene: Scene) -> None:
        members = scene.arena.members
        link = scene.arena.links["propagator>c0"]
        await scene.until(lambda: bool(members.on("c0")), "jobs run in c0")
        getattr(link, how)()
        await scene.until(lambda: not members.on("c0"), "what was there has ended")
        await scene.waits(80)
        await scene.flows()
        assert not members.on("c0")
        link.mend()
        await scene.until(lambda: bool(members.on("c0")), "c0 gets jobs again")

    assert (await under_load(tmp_path, spoil, HANDS_APART)).wrong == ()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["cut", "hang"])
async def test_what_ends_in_a_member_that_the_watcher_alone_cannot_reach_is_known_when_it_can_again(
    how: str, tmp_path: Path
) -> None:
    """Jobs are sent there all the while."""

    async def spoil(scene: Scene) -> None:
        members = scene.arena.members
        link = scene.arena.links["watcher>c0"]
        await scene.until(lambda: len(members.on("c0")) > 1, "jobs run in c0")
        getattr(link, how)()
        left = members.on("c0")
        await scene.waits(80)
        await back(scene, left, link.mend)
        assert not left & scene.given_up

    assert (await under_load(tmp_path, spoil, HANDS_APART)).wrong == ()
