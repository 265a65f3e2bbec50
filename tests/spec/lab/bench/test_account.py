"""A benchmark says what became of each of its jobs, and fails when it cannot."""

import json
from pathlib import Path
from typing import Any

import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.client.failure import Failure
from fairway.lab.bench.kueue.courses import Account, account
from fairway.lab.bench.kueue.load import arrivals
from fairway.lab.bench.measuring.outcome import BenchOutcome
from fairway.lab.bench.options import show
from fairway.lab.bench.runs import KueueRun
from fairway.runtime.ports import Outgoing

FEW = arrivals(KueueRun(cohorts=1, queues=1, jobs=10))[:2]
FIRST, SECOND = (one.id for one in FEW)
_WAY = ("queue", "dequeued", "dispatched", "succeeded")
ALL = " ".join(f"{job}:{verb}" for job in (FIRST, SECOND) for verb in _WAY)


async def accounted(record: str) -> Account:
    """Of the first two jobs of the load, by a record of `job:verb` words."""
    bus = MemoryBus()
    for at, (job, verb) in enumerate(word.split(":") for word in record.split()):
        await bus.publish([Outgoing(str(at), f"fairway.job.{verb}.t", json.dumps({"job": job}).encode())])
    return await account(bus, FEW)


@pytest.mark.parametrize(
    ("record", "unaccounted", "besides"),
    [
        pytest.param(ALL, (), (), id="both went their way"),
        pytest.param(ALL.replace(f"{SECOND}:succeeded", ""), (SECOND,), (), id="one has no end"),
        pytest.param(ALL.replace(f"{FIRST}:dispatched", ""), (FIRST,), (), id="one succeeded and never went"),
        pytest.param(f"{ALL} {FIRST}:queue {FIRST}:dequeued", (), (), id="one came back, and was let go once more"),
        pytest.param(f"{ALL} {FIRST}:dequeued", (), (f"{FIRST} dequeued",), id="one was let go twice for nothing"),
        pytest.param(f"{FIRST}:queue {FIRST}:dequeued", (FIRST, SECOND), (), id="nothing is known of one"),
        pytest.param(f"{ALL} {FIRST}:succeeded", (), (f"{FIRST} succeeded",), id="one ended twice"),
        pytest.param(f"{ALL} stranger:dispatched", (), ("stranger dispatched",), id="one that is none of these"),
        pytest.param(f"{ALL} {FIRST}:lost", (), (f"{FIRST} lost",), id="one was lost in between"),
    ],
)
async def test_every_job_is_accounted_for_by_the_record(
    record: str, unaccounted: tuple[str, ...], besides: tuple[str, ...]
) -> None:
    found = await accounted(record)
    assert (found.unaccounted, found.besides) == (unaccounted, besides)


def test_a_benchmark_that_lost_something_fails_after_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    async def measured(run: Any, dir: Path, tell: Any) -> BenchOutcome:
        return BenchOutcome(figures={"seconds": 1.0}, wrong="3 jobs are unaccounted for")

    with pytest.raises(Failure, match="3 jobs are unaccounted for") as ended:
        show("x", measured, KueueRun(), "", "json")
    assert ended.value.code == 1
    assert json.loads(capsys.readouterr().out)["figures"] == {"seconds": 1.0}
