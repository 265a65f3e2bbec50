"""What an agent says, when, and when it is silent."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.agent import Agent, AgentSettings
from fairway.runtime.cluster_port import Change
from fairway.runtime.ports import Ids, Unreachable
from fairway.runtime.views.members import Facts
from fairway.wire import subjects
from fairway.wire.capacity import Taint
from fairway.wire.fleet import Configured, Report
from tests.support.memory.clock import CountingIds, ManualClock, settle

Json = dict[str, Any]
SETTINGS = AgentSettings(Facts({"zone": "a"}, (Taint("spot", "NoSchedule"),)), heartbeat=5.0)


def node(name: str) -> Json:
    conditions = [{"type": "Ready", "status": "True"}]
    return {"metadata": {"name": name}, "status": {"allocatable": {"cpu": "4"}, "conditions": conditions}}


def pod(name: str, on: str) -> Json:
    containers = [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]
    return {"metadata": {"name": name, "namespace": "team"}, "spec": {"nodeName": on, "containers": containers}}


class StoryCluster:
    """A cluster that tells what the test tells it, and whose API is away when the test says so."""

    name = "m1"

    def __init__(self) -> None:
        self._told: dict[str, asyncio.Queue[Change]] = {"Node.v1": asyncio.Queue(), "Pod.v1": asyncio.Queue()}
        self.away = False
        self.kinds: tuple[str, ...] = ("Job.batch/v1",)

    def nodes(self, *names: str) -> None:
        for name in names:
            self._told["Node.v1"].put_nowait(Change("Node.v1", "", name, node(name)))

    def pod(self, name: str, on: str) -> None:
        self._told["Pod.v1"].put_nowait(Change("Pod.v1", "team", name, pod(name, on)))

    def tell(self, change: Change) -> None:
        self._told[change.kind].put_nowait(change)

    def synced(self, *kinds: str) -> None:
        for kind in kinds or tuple(self._told):
            self.tell(Change(kind, synced=True))

    async def watch(self, kind: str, selector: str = "") -> AsyncIterator[Change]:
        while True:
            yield await self._told[kind].get()

    async def served(self) -> tuple[str, ...]:
        if self.away:
            raise Unreachable("m1 is away")
        return self.kinds

    async def get(self, kind: str, namespace: str, name: str) -> Json | None:
        await self.served()
        return None


class Scene:
    """An agent, and what it has said since it was last asked."""

    def __init__(self, settings: AgentSettings = SETTINGS, ids: Ids | None = None) -> None:
        self.cluster = StoryCluster()
        self.bus = MemoryBus()
        self.clock = ManualClock(1_000)
        ids = ids or CountingIds("epoch")
        self.agent = Agent(self.cluster, self.bus, self.clock, ids, settings)  # type: ignore[arg-type]  # reads only
        self._heard = 0

    async def said(self) -> list[Report]:
        stored = [one async for one in self.bus.history(subjects.CLUSTERS)]
        new = stored[self._heard :]
        self._heard = len(stored)
        return [msgspec.json.decode(one.data, type=Report) for one in new]

    async def after(self, seconds: float) -> list[Report]:
        await self.clock.advance(seconds)
        return await self.said()


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    scene = Scene()
    task = asyncio.create_task(scene.agent.run())
    yield scene
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def running(scene: Scene) -> Scene:
    """Two nodes, reported."""
    scene.cluster.nodes("n1", "n2")
    scene.cluster.synced()
    assert len(await scene.after(0.1)) == 1
    return scene


def shape(report: Report) -> tuple[int, bool, list[str], list[str]]:
    return report.sequence, report.full, [row.name for row in report.nodes], list(report.gone)


async def test_nothing_is_said_before_nodes_and_pods_are_known(scene: Scene) -> None:
    scene.cluster.nodes("n1")
    scene.cluster.synced("Node.v1")
    assert await scene.after(30) == []
    assert "listing" in scene.agent.why


async def test_the_first_report_is_full_and_says_what_the_cluster_is(scene: Scene) -> None:
    scene.cluster.pod("p", "n1")
    scene.cluster.nodes("n1", "n2")
    scene.cluster.synced()
    (report,) = await scene.after(0.1)
    assert shape(report) == (1, True, ["n1", "n2"], [])
    assert report.nodes[0].used == {"cpu": 1000, "pods": 1}
    assert (report.cluster, report.epoch, report.kinds) == ("m1", "epoch-1", ("Job.batch/v1",))
    assert (report.labels, report.taints) == (SETTINGS.facts.labels, SETTINGS.facts.taints)
    assert not scene.agent.why


async def test_the_fleet_is_told_that_the_cluster_exists_before_its_first_report(running: Scene) -> None:
    (stored,) = [one async for one in running.bus.history(subjects.CONFIG)]
    message = msgspec.json.decode(stored.data, type=Configured)
    assert (message.kind, message.name, stored.subject) == ("Cluster", "m1", subjects.config("Cluster", "", "m1"))
    assert msgspec.json.decode(message.manifest)["labels"] == {"zone": "a"}


async def test_changes_that_come_together_are_one_report_of_the_nodes_they_touch(running: Scene) -> None:
    for number in range(3):
        running.cluster.pod(f"p{number}", "n2")
    assert await running.after(0.04) == []
    (report,) = await running.after(0.02)
    assert shape(report) == (2, False, ["n2"], [])
    assert report.nodes[0].used == {"cpu": 3000, "pods": 3}


async def test_a_node_that_goes_is_told(running: Scene) -> None:
    running.cluster.tell(Change("Node.v1", "", "n1", gone=True))
    assert [shape(one) for one in await running.after(0.1)] == [(2, False, [], ["n1"])]


async def test_an_agent_that_sees_nothing_new_says_so_every_heartbeat(running: Scene) -> None:
    assert [shape(one) for one in await running.after(15)] == [
        (2, False, [], []),
        (3, False, [], []),
        (4, False, [], []),
    ]


async def test_an_agent_that_lost_its_cluster_is_silent_until_it_is_back(running: Scene) -> None:
    running.cluster.away = True
    assert await running.after(5.1) == []
    running.cluster.pod("p", "n1")
    await running.bus.tell(subjects.resync("m1"))
    assert await running.after(30) == []
    assert "m1 is away" in running.agent.why
    running.cluster.away = False
    report, *_ = await running.after(5.1)
    assert shape(report) == (2, True, ["n1", "n2"], [])
    assert not running.agent.why


async def test_a_cluster_that_goes_while_the_bus_is_away_is_not_vouched_for_when_the_bus_returns(
    running: Scene,
) -> None:
    running.bus.connected = False
    await running.clock.advance(6)
    running.cluster.away = True
    await running.clock.advance(6)
    running.bus.connected = True
    assert await running.after(30) == []


async def test_whoever_missed_something_gets_a_full_report_in_sequence(running: Scene) -> None:
    await running.bus.tell(subjects.resync("m1"))
    assert [shape(one) for one in await running.after(0.1)] == [(2, True, ["n1", "n2"], [])]


async def test_after_the_bus_was_away_the_newest_state_is_told_in_full(running: Scene) -> None:
    running.bus.connected = False
    for number in range(50):
        running.cluster.pod("p", f"n{1 + number % 2}")
        await running.clock.advance(0.2)
    assert running.agent.why
    running.bus.connected = True
    report, *_ = await running.after(1)
    assert (report.full, [row.used for row in report.nodes]) == (True, [{}, {"cpu": 1000, "pods": 1}])
    assert not running.agent.why


async def test_a_kind_that_is_installed_later_is_told_within_a_minute(running: Scene) -> None:
    running.cluster.kinds = ("Job.batch/v1", "JobSet.jobset.x-k8s.io/v1alpha2")
    assert (await running.after(61))[-1].kinds == running.cluster.kinds


async def test_a_pod_that_cannot_be_read_stops_nothing(running: Scene) -> None:
    running.cluster.tell(Change("Pod.v1", "team", "odd", {"metadata": {"name": 7}}))
    running.cluster.pod("p", "n1")
    assert [shape(one) for one in await running.after(0.1)] == [(2, False, ["n1"], [])]


async def test_a_large_cluster_is_told_in_several_messages_that_make_one_full_report() -> None:
    scene = Scene(AgentSettings(most_bytes=100))
    task = asyncio.create_task(scene.agent.run())
    scene.cluster.nodes("n1", "n2", "n3")
    scene.cluster.synced()
    told = [shape(one) for one in await scene.after(0.1)]
    assert [(sequence, full) for sequence, full, *_ in told] == [(1, True), (2, False)]
    assert [name for _, _, names, _ in told for name in names] == ["n1", "n2", "n3"]
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_an_agent_that_starts_before_its_cluster_waits_for_it() -> None:
    scene = Scene()
    scene.cluster.away = True
    task = asyncio.create_task(scene.agent.run())
    assert await scene.after(10) == []
    assert "m1 is away" in scene.agent.why
    scene.cluster.away = False
    scene.cluster.nodes("n1")
    scene.cluster.synced()
    assert (await scene.after(2))[0].full
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await settle()
