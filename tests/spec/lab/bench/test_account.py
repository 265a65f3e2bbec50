"""A benchmark says what became of each of its jobs, and fails when it cannot."""

import json
from pathlib import Path
from typing import Any

import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.client.failure import Failure
from fairway.domain.quota.node_terms import MIN_RUNTIME, ORDER, PREEMPT_AFTER, RECLAIM_AFTER
from fairway.lab.bench.kueue.courses import Account, Courses, account
from fairway.lab.bench.kueue.load import arrivals, configuration
from fairway.lab.bench.kueue.measure import lost_work
from fairway.lab.bench.measuring.outcome import BenchOutcome
from fairway.lab.bench.options import check, show
from fairway.lab.bench.runs import KueueRun
from fairway.runtime.ports import Outgoing
from fairway.workloads.settings.quota_trees import read_quota_tree

FEW = arrivals(KueueRun(cohorts=1, queues=1, jobs=10))[:2]
FIRST, SECOND = (one.id for one in FEW)
_WAY = ("queue", "dequeued", "dispatched", "succeeded")
ALL = " ".join(f"{job}:{verb}" for job in (FIRST, SECOND) for verb in _WAY)
EVICTED = f"{FIRST}:queue {FIRST}:dequeued {FIRST}:dispatched {FIRST}:evicted {ALL}"


async def accounted(record: str) -> Account:
    """Of the first two jobs of the load, by a record of `job:verb` words."""
    bus = MemoryBus()
    for at, (job, verb) in enumerate(word.split(":") for word in record.split()):
        data = json.dumps({"job": job, "at": at}).encode()
        await bus.publish([Outgoing(str(at), f"fairway.job.{verb}.t", data)])
    return await account(bus, FEW)


@pytest.mark.parametrize(
    ("record", "unaccounted", "besides"),
    [
        pytest.param(ALL, (), (), id="both went their way"),
        pytest.param(ALL.replace(f"{SECOND}:succeeded", ""), (SECOND,), (), id="one has no end"),
        pytest.param(ALL.replace(f"{FIRST}:dispatched", ""), (FIRST,), (), id="one succeeded and never went"),
        pytest.param(f"{ALL} {FIRST}:queue {FIRST}:dequeued", (), (), id="one came back, and was let go once more"),
        pytest.param(EVICTED, (), (), id="one was evicted, and went its way once more"),
        pytest.param(f"{ALL} {FIRST}:dispatched", (), (f"{FIRST} dispatched",), id="one was sent twice for nothing"),
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


@pytest.mark.parametrize(
    ("record", "want"),
    [
        pytest.param(ALL, {}, id="nobody was evicted"),
        pytest.param(EVICTED, {FIRST: [1]}, id="from when it was dispatched"),
        pytest.param(
            f"{FIRST}:dequeued {FIRST}:evicted {ALL}",
            {FIRST: [0]},
            id="one that was not dispatched yet has done nothing",
        ),
    ],
)
async def test_what_an_evicted_attempt_did_is_counted(record: str, want: dict[str, list[int]]) -> None:
    """Each word of the record comes a millisecond after the last."""
    assert (await accounted(record)).evicted == want


@pytest.mark.parametrize(
    ("record", "want"),
    [
        pytest.param(f"{FIRST}:queue {FIRST}:claimed {FIRST}:dequeued {FIRST}:dispatched", (2,), id="that was used"),
        pytest.param(f"{FIRST}:claimed {FIRST}:unclaimed {ALL}", (), id="not of one that was over by then"),
        pytest.param(f"{FIRST}:claimed {FIRST}:unclaimed {FIRST}:claimed {ALL}", (3,), id="of the last one"),
    ],
)
async def test_it_is_known_how_long_it_took_from_a_claim(record: str, want: tuple[int, ...]) -> None:
    assert (await accounted(record)).back == want


def test_evictions_cost_what_their_attempts_ran_and_no_more_than_a_whole_run() -> None:
    """Of the first arrivals, which are a large, a medium and a small job: 20 CPUs for 0.4 s, and 1 for all of 0.2 s."""
    some = arrivals(KueueRun(cohorts=1, queues=1, jobs=10))[:3]
    large, _, small = (one.id for one in some)
    assert [one.kind.name for one in some] == ["large", "medium", "small"]
    assert lost_work(some, Account({}, (), {large: [100, 300], small: [5_000]}, ())) == pytest.approx(8.2)


async def test_a_job_that_was_evicted_was_admitted_when_it_was_dispatched_last() -> None:
    heard = Courses(FEW, lambda: None)
    for verb, now in (("dispatched", 1.0), ("dispatched", 5.0), ("succeeded", 6.0), ("succeeded", 7.0)):
        heard.hear(verb, FIRST, now)
    assert (heard["dispatched"], heard["succeeded"]) == ({FIRST: 5.0}, {FIRST: 6.0})


def test_patience_and_order_are_what_the_quota_tree_says_and_without_them_it_says_nothing() -> None:
    def said(**options: str) -> dict[str, str]:
        tree = json.loads(configuration(KueueRun(**options))[-1].data)["manifest"]
        read_quota_tree(tree)
        found: dict[str, str] = tree["spec"]["root"]["attributes"]
        return found

    assert said() == {}
    assert said(patience="2s") == {RECLAIM_AFTER: "2s", PREEMPT_AFTER: "2s", MIN_RUNTIME: "0s"}
    assert said(order="share") == {ORDER: "share"}


@pytest.mark.parametrize(
    ("run", "why"),
    [
        pytest.param(KueueRun(patience="a while"), "'a while' is no duration", id="a patience that is no duration"),
        pytest.param(KueueRun(order="size"), "--order is 'size'", id="an order that there is not"),
    ],
)
def test_what_no_quota_tree_takes_is_refused_before_anything_begins(run: KueueRun, why: str) -> None:
    with pytest.raises(Failure, match=why) as refused:
        check(run)
    assert refused.value.code == 2


def test_a_benchmark_that_lost_something_fails_after_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    async def measured(run: Any, dir: Path, tell: Any) -> BenchOutcome:
        return BenchOutcome(figures={"seconds": 1.0}, wrong="3 jobs are unaccounted for")

    with pytest.raises(Failure, match="3 jobs are unaccounted for") as ended:
        show("x", measured, KueueRun(), "", "json")
    assert ended.value.code == 1
    assert json.loads(capsys.readouterr().out)["figures"] == {"seconds": 1.0}
