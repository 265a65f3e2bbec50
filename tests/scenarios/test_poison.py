"""A message that no stage can handle stops nobody: it becomes a dead letter, and the jobs before and behind it run."""

import msgspec
import pytest

from fairway.runtime.ports import Outgoing
from fairway.runtime.service import Consumer
from fairway.wire import fleet as fleet_wire
from fairway.wire.reasons import Code
from tests.scenarios.memory_fleet import Fleet, running

STAGES = (
    "admission",
    "quota",
    "queue",
    "global-scheduler",
    "reserver",
    "propagator",
    "propagator-recall",
    "watcher",
)
GARBAGE = b"\xff not a message"


def subjects_of(consumer: Consumer) -> list[str]:
    """One subject for each pattern that it hears, of a tenant, or a cluster, that nobody has."""
    return [pattern.replace(">", "poisoned") for pattern in consumer.subjects]


async def poison(fleet: Fleet, stage: str, data: bytes) -> int:
    """On everything that this stage hears; how many messages."""
    said = [subject for consumer in fleet.services()[stage].consumers for subject in subjects_of(consumer)]
    await fleet.bus.publish([Outgoing(f"poison-{stage}-{place}", place, data) for place in said])
    return len(said)


def letters(fleet: Fleet) -> list[fleet_wire.DeadLetter]:
    return [msgspec.json.decode(one.data, type=fleet_wire.DeadLetter) for one in fleet.bus.stored("DLQ")]


@pytest.mark.parametrize("stage", STAGES)
async def test_what_a_stage_cannot_read_stops_neither_it_nor_the_others(stage: str) -> None:
    async with running(c1=(8,)) as fleet:
        before = await fleet.submit("before")
        count = await poison(fleet, stage, GARBAGE)
        behind = await fleet.submit("behind")
        await fleet.quiet(5)
        assert {job: one.state.value for job, one in fleet.jobs().items()} == dict.fromkeys(
            (before, behind), "succeeded"
        )
        assert sum(one.service == stage for one in letters(fleet)) == count
        assert {(one.why.code, one.data) for one in letters(fleet)} == {(Code.UNDECODABLE, GARBAGE)}
        assert fleet.bus.waiting == 0
