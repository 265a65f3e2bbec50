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
from fairway.lab.bench.workers.instances import EACH, QUEUE, stage_of
from fairway.lab.bench.workers.member_objects import MemberObjects
from fairway.process.pipeline import STAGES
from fairway.runtime.ports import Outgoing
from tests.spec.builders.lives import running
from tests.spec.builders.records import NODES, TREE, heard, succeeded, without

JOB = "llm-1"
GOOD = heard(succeeded(running()))


@pytest.mark.parametrize("takeovers", [1, 5, 12])
def test_of_every_stage_one_is_killed_and_one_is_stopped_and_the_queue_so_often(takeovers: int) -> None:
    found = Counter(goings(1, takeovers))
    assert {stage for stage, _ in found} == {"gateway", *STAGES} == set(EACH)
    assert all(found[stage, killed] >= 1 for stage in EACH for killed in (True, False))
    assert (found[QUEUE, True], found[QUEUE, False]) == (takeovers, takeovers)


def test_who_stands_by_for_the_queue_was_there_before_another_goes() -> None:
    stages = [stage for stage, _ in goings(3, 9)]
    assert (QUEUE, QUEUE) not in itertools.pairwise(stages)


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
