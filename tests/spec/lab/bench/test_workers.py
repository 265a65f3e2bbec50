"""The benchmark of several instances: what goes when, who sends a job again, and what it finds in a record."""

import itertools
from collections import Counter

import msgspec
import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.audit.attempts import Spoken
from fairway.audit.auditor import Checker
from fairway.lab.bench.workers.account import RecordAndMembers, account
from fairway.lab.bench.workers.changes import goings
from fairway.lab.bench.workers.instances import SINGLE, WITH_HUB, stage_of
from fairway.lab.bench.workers.member_objects import MemberObjects
from fairway.lab.bench.workers.rates import shared
from fairway.process.pipeline import STAGES
from fairway.runtime.ports import Outgoing
from tests.spec.builders.lives import running
from tests.spec.builders.records import NODES, TREE, heard, succeeded, without

JOB = "llm-1"
GOOD = heard(succeeded(running()))


@pytest.mark.parametrize("takeovers", [1, 5, 12])
def test_of_every_stage_one_is_killed_and_one_is_stopped_and_queue_and_hub_so_often(takeovers: int) -> None:
    found = Counter(goings(1, takeovers))
    assert {stage for stage, _ in found} == {"gateway", "hub", *STAGES} == set(WITH_HUB)
    assert all(found[stage, killed] >= 1 for stage in WITH_HUB for killed in (True, False))
    assert all(found[stage, killed] == takeovers for stage in SINGLE for killed in (True, False))


def test_who_stands_by_was_there_before_an_owner_goes() -> None:
    stages = [stage for stage, _ in goings(3, 9)]
    assert not [pair for pair in itertools.pairwise(stages) if set(pair) <= set(SINGLE)]


def test_the_same_seed_takes_the_same_in_the_same_order() -> None:
    assert goings(1, 3) == goings(1, 3) != goings(2, 3)


@pytest.mark.parametrize(
    ("process", "stage"),
    [
        ("queue", "queue"),
        ("queue-2", "queue"),
        ("global-scheduler", "global-scheduler"),
        ("global-scheduler-12", "global-scheduler"),
    ],
)
def test_the_stage_of_a_process_is_seen_from_its_name(process: str, stage: str) -> None:
    assert stage_of(process) == stage


async def found(record: list[Spoken], *there: tuple[str, str, str]) -> RecordAndMembers:
    """`there` are job, attempt and uid of the objects that members had."""
    bus = MemoryBus()
    for one in record:
        await bus.publish([Outgoing(one.id, one.subject, msgspec.json.encode(one.message))])
    members = MemberObjects()
    for job, attempt, uid in there:
        members.uids.setdefault((job, attempt), set()).add(uid)
    return await account(bus, [JOB], members, Checker(NODES, TREE))


SEEN = (JOB, "1", "u1")


async def test_of_a_job_that_went_its_way_nothing_is_wrong() -> None:
    told = await found(GOOD, SEEN)
    assert (told.wrong, told.counts()["submitted"], told.attempts) == ("", 1, 1)


@pytest.mark.parametrize(
    ("record", "there", "what"),
    [
        pytest.param(without(GOOD, "succeeded"), (SEEN,), {"lost"}, id="it has no end"),
        pytest.param([], (), {"lost"}, id="nobody knows of it"),
        pytest.param(
            [*GOOD, Spoken(99, "again", GOOD[-1].subject, GOOD[-1].message)],
            (SEEN,),
            {"double", "breaches"},
            id="it ends twice",
        ),
        pytest.param(GOOD, (SEEN, (JOB, "1", "u2")), {"double_in_members"}, id="two objects of one attempt"),
        pytest.param(GOOD, (SEEN, (JOB, "2", "u2")), set(), id="an object of another attempt"),
        pytest.param(GOOD, (), {"never_in_members"}, id="it succeeded, and no member has seen it"),
        pytest.param(without(GOOD, "dequeued"), (SEEN,), {"breaches", "lost"}, id="a word of its way is missing"),
    ],
)
async def test_what_is_wrong_with_a_job_is_found(
    record: list[Spoken], there: tuple[tuple[str, str, str], ...], what: set[str]
) -> None:
    counts = (await found(record, *there)).counts()
    assert {name for name, count in counts.items() if count and name != "submitted"} == what


def test_what_a_process_takes_without_a_job_is_no_part_of_what_a_job_takes() -> None:
    """Ten jobs a second, and one process that takes a tenth of a core for nothing."""
    spent = {"queue": 0.020, "reserver": 0.015, "reserver-2": 0.012, "nats": 0.5, "all": 1.0, "bench": 0.1}
    told = shared(spent, dict.fromkeys(spent, 0.0) | {"queue": 0.1}, every_s=0.1)
    assert told.cpu_seconds_per_job == {"queue": 0.01, "reserver": 0.015, "reserver-2": 0.012, "nats": 0.5}
    assert told.details["us_per_job_by_stage"]["reserver"] == 27_000
    assert (told.details["busiest"], told.figures["jobs_per_second_of_its_core"]) == ("reserver", 66.7), (
        "a server has cores of its own"
    )


def test_who_takes_less_for_its_jobs_than_for_nothing_takes_nothing() -> None:
    assert shared({"queue": 0.001}, {"queue": 0.1}, every_s=0.1).figures["jobs_per_second_of_its_core"] == 0
