"""What the door keeps of what was submitted, so that a client that says the same again is known."""

import tracemalloc
from typing import Any

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.domain.submission import Asked, Submission, submission
from fairway.gateway.http.submit import Door
from fairway.runtime.ports import World
from fairway.wire.envelope import Actor
from tests.support.memory.clock import ManualClock

LARGE = 100_000


def door() -> Door:
    unused: Any = None
    world = World(MemoryBus(), MemoryStore(), ManualClock(0), "test")
    return Door(world, unused, unused, unused)


def large(number: int) -> Submission:
    meta = {"name": "train", "namespace": "team-a", "annotations": {"note": "x" * LARGE}}
    manifest = {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta}
    return submission(Asked(manifest, (), f"client-{number}"), Actor("ci", "http", "r"), 0)


async def test_of_large_jobs_it_keeps_digest_and_id_alone() -> None:
    """Ten thousand jobs of a megabyte would be ten gigabytes."""
    one = door()
    tracemalloc.start()
    try:
        for number in range(20):
            one.remember(large(number))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < LARGE
    again = large(7)
    assert await one.known(again) == again.job


async def test_it_keeps_the_last_ten_thousand() -> None:
    one = door()
    said = large(0)
    for number in range(10_001):
        one.remember(Submission(said.job, said.tenant, f"team-a/{number}", said.digest, said.say))
    assert len(one.__dict__["_recent"]) == 10_000
