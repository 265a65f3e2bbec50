"""What is done to a fleet is alarmed about, and the page of the alert leads to it."""

import asyncio
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx
import pytest
from msgspec import structs

from fairway.runtime.ports import Outgoing
from fairway.wire import subjects
from tests.faults.alerts.watched import GATEWAY, GROUPS, asked, watching
from tests.faults.arena.scene import Scene, Setup, under_load
from tests.faults.test_fleet_silent import REST
from tests.support.alerting.promtool import promtool
from tests.support.alerting.rules import ALERTS

SETUP = Setup(groups=GROUPS)
# Each member with an agent of its own.
AGENTS = {name: ("agent", "--cluster", name) for name in ("c0", "c1", "c2")}
APART = Setup(groups=(REST, *AGENTS.values()), settings={"FAIRWAY_WATCH_SILENCE": "5"})
# Of the tokens of clusters that joined, which is nobody here; and of letters, which are told when there are some.
RARE = {"fairway_member_token_expiry_timestamp_seconds", "fairway_dead_letters_waiting"}
_BATCHES = re.compile(r"^fairway_batch_duration_seconds_(sum|count)\{.*\} (\S+)$", re.MULTILINE)


def checked(page: str) -> str:
    """What Prometheus has to say of it."""
    done = promtool("check", "metrics", given=page)
    return done.stdout + done.stderr


def cut(scene: Scene, clusters: Sequence[str]) -> Callable[[], None]:
    """NATS does not reach the agents of these; returns what ends that."""
    links = [scene.arena.links[f"{'-'.join(AGENTS[name])}>nats"] for name in clusters]
    for link in links:
        link.cut()
    return lambda: [link.mend() for link in links] and None


@pytest.mark.slow
async def test_a_stage_that_nats_does_not_reach_is_not_ready(tmp_path: Path) -> None:
    name = "admission-quota-queue"

    async def play(scene: Scene) -> None:
        await scene.flows()
        async with watching(scene) as watched:
            scene.arena.links[f"{name}>nats"].cut()
            await watched.shows("fairway_ready", 0, instance=name)
            told = await watched.told("StageNotReady", name)
        scene.arena.links[f"{name}>nats"].mend()
        assert watched.wrong("StageNotReady", *({"service": one} for one in name.split("-"))) == ""
        assert "the bus is away" in told

    assert (await under_load(tmp_path, play, SETUP)).wrong == ()


@pytest.mark.slow
async def test_when_the_store_is_away_no_stage_is_ready(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        await scene.flows()
        async with watching(scene) as watched:
            scene.arena.cut("valkey")
            await watched.shows("fairway_ready", 0)
            told = await watched.told("StageNotReady", "propagator")
        scene.arena.mend("valkey")
        assert watched.wrong("StageNotReady", *watched.services) == ""
        assert "the store does not answer" in told

    assert (await under_load(tmp_path, play, SETUP)).wrong == ()


@pytest.mark.slow
async def test_a_member_whose_agent_is_away_is_silent(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        await scene.flows()
        async with watching(scene) as watched:
            mend = cut(scene, ["c1"])
            await watched.exceeds("fairway_cluster_report_age_seconds", 30, cluster="c1")
            told = await watched.told("AgentSilent", "-".join(REST))
        mend()
        assert watched.wrong("AgentSilent", {"cluster": "c1"}) == ""
        assert [line.split()[0] for line in told.splitlines() if "stale: no new work" in line] == ["c1"]

    assert (await under_load(tmp_path, play, APART)).wrong == ()


@pytest.mark.slow
async def test_most_members_are_silent_at_once(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        await scene.flows()
        async with watching(scene) as watched:
            mend = cut(scene, ["c1", "c2"])
            await watched.shows("fairway_evictions_frozen", 1)
            told = await watched.told("MostOfFleetSilent", "-".join(REST))
        mend()
        assert watched.wrong("MostOfFleetSilent", {}) == ""
        assert {line.split()[0] for line in told.splitlines() if "evictions frozen" in line and "stale" in line} == {
            "c1",
            "c2",
        }

    assert (await under_load(tmp_path, play, APART)).wrong == ()


@pytest.mark.slow
async def test_a_message_that_cannot_be_read_is_a_letter_that_somebody_has_to_look_at(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        await scene.flows()
        async with watching(scene) as watched:
            poison = Outgoing("poison", subjects.cluster("freed", "c0"), b"no message", "poison", "/a-stranger")
            await scene.bus.publish([poison])
            await watched.shows("fairway_dead_letters_waiting", 1)
            told = await watched.told("DeadLetters")
            (number,) = re.findall(r"^(\d+) ", told, re.MULTILINE)
            await watched.told("DeadLetters", GATEWAY, f"fairway dlq drop {number}")
        assert watched.wrong("DeadLetters", {"service": "queue"}) == ""
        assert re.search(r"^1 .*Undecodable +fairway\.cluster\.freed\.c0 ", told, re.MULTILINE)

    assert (await under_load(tmp_path, play, SETUP)).wrong == ()


@pytest.mark.slow
async def test_a_store_that_answers_late_makes_every_stage_slow(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        await scene.flows()
        async with watching(scene) as watched:
            for link in scene.arena.to("valkey"):
                link.delay(0.3)
            await scene.flows(40)
            told = await watched.told("DispatchSlow", "global-scheduler-reserver")
            for link in scene.arena.to("valkey"):
                link.mend()
        assert {name: checked(page) for name, page in watched.scrapes.pages.items()} == dict.fromkeys(
            map("-".join, GROUPS), ""
        )
        assert set().union(*map(asked, ALERTS)) - watched.scrapes.names == RARE
        assert watched.wrong("DispatchSlow", {"stage": "place"}, {"stage": "reserve"}, {"stage": "dispatch"}) == ""
        total = {part: float(value) for part, value in _BATCHES.findall(told)}
        # Of all batches since the process began: those before the fault take some five milliseconds.
        assert total["sum"] / total["count"] > 0.1

    assert (await under_load(tmp_path, play, SETUP)).wrong == ()


@pytest.mark.slow
async def test_members_that_hang_let_the_propagator_lag(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        await scene.flows()
        async with watching(scene) as watched:
            for name in AGENTS:
                scene.arena.links[f"propagator>{name}"].hang()
            await watched.exceeds("fairway_consumer_oldest_age_seconds", 45, consumer="propagator")
            told = await watched.told("ConsumerLagging", "propagator")
            for name in AGENTS:
                scene.arena.links[f"propagator>{name}"].mend()
        assert watched.wrong("ConsumerLagging", {"consumer": "propagator"}) == ""
        assert set(re.findall(r'"cluster": "(c\d)"', told)) == set(AGENTS)

    assert (await under_load(tmp_path, play, structs.replace(SETUP, cancelled=0.0))).wrong == ()


@pytest.mark.slow
async def test_who_comes_with_bad_tokens_again_and_again_is_noticed(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        await scene.flows()
        async with watching(scene) as watched:
            async with httpx.AsyncClient(base_url=scene.arena.http, timeout=60.0) as client:
                headers = ({"Authorization": f"Bearer stranger-{number}"} for number in range(200))
                await asyncio.gather(*(client.get("/v1/jobs", headers=one) for one in headers))
            await watched.shows("fairway_authn_failures_total", 200, reason="BadToken")
            told = await watched.told("AuthFailures")
        assert watched.wrong("AuthFailures", {"reason": "BadToken"}) == ""
        assert 'fairway_authn_failures_total{reason="BadToken"} 200.0' in told

    assert (await under_load(tmp_path, play, SETUP)).wrong == ()
