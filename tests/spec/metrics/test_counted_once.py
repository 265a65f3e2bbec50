"""A step that was refused is counted when it is decided again and taken, and names that nobody set are not told."""

import asyncio
from typing import Any

import msgspec

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.domain.decision import NOTHING, Decision, Heard
from fairway.domain.events import Teller, current
from fairway.domain.job import State
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.metrics.accumulators import Durations
from fairway.runtime.metrics.label_values import NONE, OTHER, SettingsNames
from fairway.runtime.ports import Commit, Outgoing, World
from fairway.runtime.service import Consumer, Service
from fairway.runtime.views.jobs import JobsMemory
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet, subjects
from fairway.wire import jobs as wire
from tests.spec.builders.lives import queued
from tests.support.memory.clock import ManualClock, settle


class Refusing(MemoryStore):
    """Takes nothing of so many commits."""

    refuses = 2

    async def commit(self, commit: Commit) -> list[bool]:
        if commit.steps and self.refuses:
            self.refuses -= 1
            return [False for _ in commit.steps]
        return await super().commit(commit)


def decide(view: JobsMemory[Any], heard: Heard[wire.Queue], now: int) -> Decision:
    job = current(view, heard.message, State.QUEUED)
    if job is None:
        return NOTHING
    return Decision((Teller(view, "s", heard, now, job.id).say(wire.Dequeued, path=(), charge={}).step(),))


def told(meter: Meter) -> dict[tuple[str, tuple[str, ...]], float]:
    samples = [*meter.jobs.samples(), *meter.decisions.samples()]
    return {
        (n.removeprefix("fairway_"), labels): v.count if isinstance(v, Durations) else v for n, labels, v in samples
    }


async def test_a_refused_step_is_counted_once_and_a_message_that_comes_again_not_at_all() -> None:
    life = queued()
    clock = ManualClock(life.at + 2_000)
    store = Refusing()
    bus = MemoryBus(clock)
    consumer = Consumer(subjects.JOBS, "s", ("fairway.job.queue.>",), msgspec.json.Decoder(wire.Queue))
    meter = Meter()
    world = World(bus, store, clock, "o")
    for at, (_, message) in enumerate(life.said[1:]):  # what the working set is made from
        await bus.publish([Outgoing(f"m-{at}", subjects.job(message.verb, "team-a"), msgspec.json.encode(message))])
    loop = asyncio.create_task(Loop(Service("s", (consumer,), decide, JobsMemory), world, meter).run())
    await settle(200)
    again = msgspec.structs.replace(life.said[-1][1], epoch=store.born)
    await bus.publish([Outgoing("again", "fairway.job.queue.team-a", msgspec.json.encode(again))])
    await settle(200)
    loop.cancel()
    await asyncio.gather(loop, return_exceptions=True)
    found = told(meter)
    assert store.refuses == 0
    assert found["decisions_total", ("s", "conflict")] == 2
    assert found["decisions_total", ("s", "committed")] == 1
    assert found["decisions_total", ("s", "nothing")] == 1
    assert found["decision_duration_seconds", ("s",)] == 4
    assert found["job_stage_duration_seconds", ("queue",)] == 1
    assert found["job_wait_seconds", (OTHER,)] == 1


def test_names_that_are_not_of_the_settings_are_others_and_those_that_go_are_forgotten() -> None:
    catalog = Catalog()

    def take(kind: str, name: str, body: Any) -> None:
        catalog.take(fleet.Configured(kind=kind, name=name, manifest=msgspec.Raw(msgspec.json.encode(body))))

    names = SettingsNames(catalog)
    assert [names.queue(one) for one in ("default", "gold", "")] == ["default", OTHER, NONE]
    queue = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "Queue", "metadata": {"name": "gold"}, "spec": {}}
    take("Queue", "gold", queue)
    take("Cluster", "c1", {"labels": {}})
    assert (names.queue("gold"), names.cluster("c1"), names.cluster("c2")) == ("gold", "c1", OTHER)
    meter = Meter(catalog)
    meter.jobs.ended.add(("gold", "failed", "JobFailed"))
    meter.jobs.attempts.add(("c1", "JobFailed"))
    assert {("gold", "failed", "JobFailed"), ("c1", "JobFailed")} <= {labels for _, labels in told(meter)}
    take("Queue", "gold", None)
    take("Cluster", "c1", None)
    assert not {"gold", "c1"} & {label for _, labels in told(meter) for label in labels}
    assert (names.queue("gold"), names.cluster("c1")) == (OTHER, OTHER)
