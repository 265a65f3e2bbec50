"""Why an object of the hub is held, and what is told of it: of itself, and never of another job of its name."""

from dataclasses import dataclass

import msgspec
import pytest

from fairway.domain.held_object import HeldObject
from fairway.domain.job import Job
from fairway.explain.held import NameHolder, story_of_held, why_held
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import T0, S, running

NO_POLICY = Reason(Code.NO_POLICY, "no policy selects Job team-a/llm", remedy="apply a PropagationPolicy in team-a")
NO_QUEUE = Reason(Code.UNKNOWN_QUEUE, "the hub has no Queue gold", remedy="create the Queue, or name another one")
NO_CLASS = Reason(Code.UNKNOWN_PRIORITY_CLASS, "the hub has no PriorityClass high", remedy="create the PriorityClass")
TOO_MANY = Reason(Code.TOO_MANY_PENDING, "5 jobs of team-a are pending, and 5 may be", remedy="submit it anew")
REFUSED = Reason(Code.INVALID, "is -1", "spec.parallelism")
TAKEN = Reason(Code.DUPLICATE, "Job team-a/llm is live already, as job llm-1", "metadata.name", "cancel that one")


def held(why: Reason, holder: str = "") -> HeldObject:
    return HeldObject("Job.batch/v1", "team-a", "llm", "u-2", T0, why, "llm-bbbbbbbbbb", holder)


def over_http(**more: object) -> Job:
    job = running().now
    assert job.spec is not None
    return msgspec.structs.replace(job, spec=msgspec.structs.replace(job.spec, who=Actor("ada", "http", "r")), **more)


def of_earlier_object(**more: object) -> Job:
    job = running().now
    assert job.spec is not None
    spec = msgspec.structs.replace(job.spec, hub=wire.HubRef("u-1", "jobs"))
    return msgspec.structs.replace(job, spec=spec, **more)


def ended() -> Job:
    return running().then(wire.Succeeded, cluster="c1").now


@dataclass
class Case:
    why: Reason
    because: str
    moves: tuple[str, ...]
    holder: NameHolder | None = None


ENDS = "Job llm-1 ends, or is cancelled and nothing of it is left in a cluster."
OTHER_NAME = "This object is applied under another name."
CASES = {
    "no policy selects it: the policy that would": Case(
        NO_POLICY,
        "No policy selects Job team-a/llm.",
        ("Apply a PropagationPolicy in team-a.", "A policy that is there is changed so that it selects it."),
    ),
    "its queue is not there": Case(NO_QUEUE, "The hub has no Queue gold.", ("Create the Queue, or name another one.",)),
    "its priority class is not there": Case(
        NO_CLASS, "The hub has no PriorityClass high.", ("Create the PriorityClass.",)
    ),
    "its tenant has too many pending: nobody has to submit it anew": Case(
        TOO_MANY,
        "5 jobs of team-a are pending, and 5 may be.",
        ("Jobs of its namespace go to a cluster or end: it is then submitted by itself.",),
    ),
    "it was refused: the field, and that a change is looked at": Case(
        REFUSED, "spec.parallelism: is -1.", ("Its object is changed on the hub: it is looked at again at once.",)
    ),
    "a job from another door has its name: its id, door and who": Case(
        TAKEN,
        "Its name is taken by job llm-1, which ada (over HTTP) submitted, and which is running in c1.",
        (ENDS, OTHER_NAME),
        NameHolder("llm-1", over_http()),
    ),
    "the job of a deleted object of its name is still being removed": Case(
        TAKEN,
        "Its name is taken by job llm-1, which stands for an earlier object of that name (uid u-1), "
        "and which is still being removed from c1.",
        (ENDS, OTHER_NAME),
        NameHolder("llm-1", of_earlier_object(cancelling=True)),
    ),
    "whoever has its name is not to be seen: no id": Case(
        msgspec.structs.replace(TAKEN, text="the name is taken"),
        "metadata.name: the name is taken.",
        ("That job ends, or is cancelled and nothing of it is left in a cluster.", OTHER_NAME),
        NameHolder("llm-1"),
    ),
    "the job that had its name has ended": Case(
        TAKEN,
        "Job llm-1, which had its name, has ended: succeeded.",
        ("The hub takes its object up, now that the name is free.",),
        NameHolder("llm-1", ended()),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_it_says(case: Case) -> None:
    answer = why_held(held(case.why, case.holder.id if case.holder else ""), case.holder, T0 + 10 * S)
    assert (answer.because, answer.moves) == (case.because, case.moves)
    assert answer.where == "Job team-a/llm is held on the hub since 2023-11-14 22:13:20Z (10 s); it is not submitted."
    assert (answer.state, answer.reason, answer.next_event) == ("held", case.why.code.value, "submitted")


def test_nothing_of_the_other_job_is_answered_as_its_own() -> None:
    answer = why_held(held(TAKEN, "llm-1"), NameHolder("llm-1", over_http()), T0)
    assert (answer.job, answer.attempt, answer.clusters, answer.before, answer.queue) == (
        "llm-bbbbbbbbbb",
        0,
        (),
        (),
        None,
    )


def test_its_story_tells_earlier_jobs_as_such_in_their_order_and_ends_with_the_holding() -> None:
    reasons = (Reason(Code.INVALID, "is -1", "spec.parallelism", "write 0 or more"),)
    refused = wire.Rejected(job="llm-aaaaaaaaaa", tenant="team-a", at=T0 - 5 * S, reasons=reasons)
    earlier = msgspec.structs.replace(ended(), since=T0 - 9 * S)
    story = story_of_held(held(TAKEN, "llm-1"), [earlier], [refused], "its name is taken by job llm-1")
    assert [(line.what, line.after, line.sentence, line.details) for line in story.lines] == [
        ("succeeded", 0, "Earlier job llm-1 of this object ended succeeded.", ()),
        (
            "rejected",
            4 * S,
            "Earlier job llm-aaaaaaaaaa of this object was rejected for 1 reason.",
            ("spec.parallelism: is -1 [Invalid]; write 0 or more",),
        ),
        (
            "held",
            5 * S,
            "Held on the hub and not submitted: metadata.name: Job team-a/llm is live already, as job llm-1 "
            "[Duplicate]; cancel that one.",
            ("Its name is taken by job llm-1.",),
        ),
    ]
    assert (story.job, story.state, story.attempt, story.name) == ("llm-bbbbbbbbbb", "held", 0, "llm")
