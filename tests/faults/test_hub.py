"""The hub's service killed at every step of its work, overtaken by another, without the hub, and without its store."""

import contextlib
import signal
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import redis.asyncio as redis

from fairway.lab.kubereal.members import HUB
from fairway.lab.kubesim.api.store import Event
from tests.faults.arena.hub.people import HubPeople
from tests.faults.arena.hub.steps import HubProcess, asks, on_its_way, written
from tests.faults.arena.hub.truth import BINDINGS, EVENTS, POLICIES, STATUSES, HubTruth
from tests.faults.arena.links import Link
from tests.faults.arena.scene import FOUR, Scene, Setup, under_load

# The load comes on the bus, and is there to keep the fleet busy.
WITH_HUB = Setup(groups=((HUB,), *FOUR), a_second=2.0)
WITHOUT = Setup(groups=FOUR, a_second=2.0)
SUBMITTED = b"fairway.job.submitted"


def _made(event: Event) -> bool:
    return event.type == "ADDED"


def _of_job(event: Event) -> bool:
    return _made(event) and event.new.obj["involvedObject"]["kind"] == "Job"


def _of_setting(event: Event) -> bool:
    return _made(event) and event.new.obj["involvedObject"]["kind"] == "PropagationPolicy"


def _changed(event: Event) -> bool:
    return event.type == "MODIFIED"


def _shows(event: Event) -> bool:
    return _changed(event) and event.old is not None and event.old.obj.get("status") != event.new.obj.get("status")


# What it does when jobs and a setting are applied.
AT_WORK = {
    "it has seen an object, and its submission is not in the store": on_its_way("valkey", SUBMITTED),
    "it has submitted an object, and has not said so": on_its_way("nats", SUBMITTED),
    "an Event on an object was written": written(EVENTS, _of_job),
    "a binding was made": written(BINDINGS, _made),
    "a binding was changed": written(BINDINGS, _changed),
    "a status was written": written(STATUSES, _shows),
    "a setting is in force, and it has not said so": on_its_way("nats", b"fairway.config.PropagationPolicy"),
    "a setting was refused, and it has not said so": on_its_way("nats", b"fairway.config.~"),
    "the condition of a setting was written": written(POLICIES, _shows),
    "an Event on a setting was written": written(EVENTS, _of_setting),
}
# When the store is lost.
AT_LOSS = {what: step for what, step in AT_WORK.items() if "submi" in what or "status" in what}
# How it begins.
AT_START = {
    "it asks for its lease": on_its_way("valkey", b"EVALSHA"),
    "it reads what settings were refused": on_its_way("nats", b"$JS.API.CONSUMER.CREATE.CONFIG"),
    "it lists settings": asks("GET", "/apis/policy.karmada.io/v1alpha1/propagationpolicies"),
    "it lists bindings": asks("GET", "/apis/work.karmada.io/v1alpha2/resourcebindings"),
    "it lists objects": asks("GET", "/apis/batch/v1/jobs"),
}


@contextlib.asynccontextmanager
async def users(scene: Scene) -> AsyncIterator[tuple[HubPeople, HubTruth]]:
    """Whoever applies jobs on the hub; in the end it shows what is so."""
    people = HubPeople(scene.arena)
    truth = HubTruth(scene.arena, people)
    scene.listeners.append(truth.hear)
    try:
        yield people, truth
        await settled(scene, truth)
    finally:
        await people.close()


async def settled(scene: Scene, truth: HubTruth) -> None:
    try:
        await scene.until(lambda: not truth.wrong(), "the hub shows what is so")
    except AssertionError:
        assert truth.wrong() == []


@pytest.mark.slow
async def test_a_hubs_process_that_is_killed_at_each_step_of_its_work_loses_and_doubles_nothing(tmp_path: Path) -> None:
    hit: list[str] = []

    async def kill(scene: Scene) -> None:
        process = HubProcess(scene.arena)
        async with users(scene) as (people, _):
            for number, (what, step) in enumerate(AT_WORK.items()):
                over = process.kill_at(step)
                await people.apply(2, run_for="4s")  # long enough to be told of before it ends, and then once more
                await people.set_policy(f"good-{number}")
                await people.set_policy(f"bad-{number}", placement={"clusterAffinity": "none"})
                await scene.until(over.is_set, f"it is killed when {what}")
                hit.append(what)
                await process.again()

    assert (await under_load(tmp_path, kill, WITH_HUB)).wrong == ()
    assert hit == [*AT_WORK]


@pytest.mark.slow
async def test_a_hubs_process_that_is_killed_while_it_begins_takes_up_what_was_left(tmp_path: Path) -> None:
    hit: list[str] = []

    async def kill(scene: Scene) -> None:
        process = HubProcess(scene.arena)
        async with users(scene) as (people, _):
            for what, step in AT_START.items():
                await people.apply(2)
                await scene.arena.processes[HUB].kill()
                over = process.kill_at(step)
                with contextlib.suppress(RuntimeError):  # it ends before it is ready
                    await process.again()
                await scene.until(over.is_set, f"it is killed when {what}")
                hit.append(what)
            await process.again()

    assert (await under_load(tmp_path, kill, WITH_HUB)).wrong == ()
    assert hit == [*AT_START]


@pytest.mark.slow
async def test_a_hubs_process_that_stood_still_while_another_took_over_writes_nothing_when_it_goes_on(
    tmp_path: Path,
) -> None:
    """It stands by from then on, and takes over in its turn when the other one is killed."""
    late: list[int] = []

    async def pause(scene: Scene) -> None:
        await scene.arena.start_process((HUB,), "first")
        first = HubProcess(scene.arena, "first")
        async with users(scene) as (people, truth):
            await people.apply(20)
            await scene.until(lambda: first.writes > 40, "it is at work")
            first.signal(signal.SIGSTOP)
            await people.apply(4)
            await scene.arena.start_process((HUB,), "second")
            await settled(scene, truth)
            before = first.writes
            first.signal(signal.SIGCONT)
            await people.apply(4)
            await settled(scene, truth)
            late.append(first.writes - before)
            await scene.arena.processes["second"].kill()
            await people.apply(4)

    assert (await under_load(tmp_path, pause, WITHOUT)).wrong == ()
    assert late == [0]


@pytest.mark.slow
async def test_a_hub_that_is_away_while_its_people_go_on_is_taken_up_where_it_is(tmp_path: Path) -> None:
    """Once its connections are cut, and what happened meanwhile can only be told by what is there; once they stand and
    pass nothing."""

    async def leave(scene: Scene) -> None:
        store = scene.arena.kube.clusters[HUB].api.store
        async with users(scene) as (people, truth):
            for number, away in enumerate((Link.cut, Link.hang)):
                long = await people.apply(2, run_for="1h")
                kept = await people.apply(3, suspend=True)
                await people.apply(2)
                await scene.until(partial(truth.run, long), "they run")
                for link in scene.arena.to(HUB):
                    away(link)
                await people.apply(3)
                for name in long:
                    await people.delete(name)
                await people.change(kept[0], f"let go {number}")
                await people.delete(kept[1])
                await people.set_policy(f"bad-{number}", placement={"clusterAffinity": "none"})
                await scene.flows()
                store.compact()
                for link in scene.arena.to(HUB):
                    link.mend()
                await people.change(kept[2], f"let go later {number}")
                await settled(scene, truth)

    assert (await under_load(tmp_path, leave, WITH_HUB)).wrong == ()


@pytest.mark.slow
async def test_a_hub_without_its_store_is_taken_up_from_the_record(tmp_path: Path) -> None:
    async def wipe(scene: Scene) -> None:
        process = HubProcess(scene.arena)
        async with users(scene) as (people, _), redis.Redis.from_url(scene.arena.valkey.url) as store:
            for what, step in AT_LOSS.items():
                over = process.tell_at(step)
                await people.apply(2)
                await scene.until(over.is_set, what)
                await store.flushall()
                process.mend()
                await scene.flows()
            await scene.arena.processes[HUB].kill()
            await people.apply(2)
            await store.flushall()
            await process.again()

    assert (await under_load(tmp_path, wipe, WITH_HUB)).wrong == ()
