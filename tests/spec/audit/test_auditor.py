"""The auditor of the record: a good one passes, and each way to break one is found and named."""

from collections.abc import Callable

import pytest

from fairway.audit.attempts import Spoken
from fairway.audit.auditor import Checker
from fairway.wire import jobs as wire
from fairway.wire.capacity import Slot
from fairway.wire.policy import Affinity, Placement
from tests.spec.builders.lives import GPU, Life, dequeued, failing, queued, reserved, running, spec, submitted
from tests.spec.builders.records import (
    NODES,
    ROOM,
    TREE,
    answered_twice,
    audit,
    cancelled,
    changed,
    dispatched,
    good,
    heard,
    later,
    more,
    named,
    on_subject_of,
    reserve,
    succeeded,
    twice,
    waiting_for_ever,
    without,
)

HALF = (Slot("Worker", "n1", 2),)


def only(*clusters: str) -> Placement:
    return Placement((Affinity(cluster_names=clusters),))


def placed() -> Life:
    """In c1, as its policy wants it."""
    life = submitted().then(wire.Admitted, attempt=1, spec=spec(placement=only("c1")))
    life.then(wire.Queue, queue="gold").then(wire.Dequeued, path=("root", "root/a"), charge={GPU: 32})
    return life.then(wire.Placed, cluster="c1", slots=HALF)


def moved() -> Life:
    """Back from c1, and its policy now wants it in c2."""
    return placed().then(wire.Queue, queue="gold", why=ROOM).then(wire.Amended, spec=spec(placement=only("c2")))


def smaller() -> Life:
    """It waits, and asks for half of what it asked for at first."""
    return queued().then(wire.Amended, spec=spec(pods=2), queue="gold", leaf=("root", "root/a"))


def changing() -> Life:
    """Made smaller while it runs, and as large again as before; what is asked for meanwhile changes nothing."""
    life = running().then(wire.Adjust, cluster="c1", spec=spec(pods=2))
    life.then(wire.Amended, cluster="c1", spec=spec(pods=2)).then(wire.Amended, cluster="c1", spec=spec())
    return life.then(wire.Unchanged, why=ROOM, digest="b" * 64).then(wire.HoldJob, held=True)


BROKEN: dict[str, tuple[Callable[[], list[Spoken]], str, str]] = {
    "the next attempt is reserved before the former is gone": (
        lambda: heard(reserve(failing(running()))),
        "one attempt",
        "attempt 2 was reserved while attempt 1 in c1",
    ),
    "two jobs are promised the same node": (
        lambda: heard(reserved(), named(reserved(), "other")),
        "room",
        "n1 of c1 has 16 nvidia.com/gpu, but 32",
    ),
    "a node that the cluster does not have is promised": (
        lambda: changed(heard(reserved()), "reserved", slots=(Slot("Worker", "n9", 4),)),
        "room",
        "c1 has no node n9",
    ),
    "two jobs in different clusters use more than their leaf's max": (
        lambda: heard(reserved(), named(reserved("c2"), "other")),
        "quota",
        "root/a uses 64 nvidia.com/gpu of at most 40",
    ),
    "a job is charged less than it asks for": (
        lambda: changed(heard(reserved()), "dequeued", charge={GPU: 1}),
        "quota",
        "was charged 1",
    ),
    "a job is charged to a node that is not in the tree": (
        lambda: changed(heard(reserved()), "dequeued", path=("root", "root/b")),
        "quota",
        "has no node root/b",
    ),
    "a job that ended well fails afterwards": (
        lambda: more(good(), wire.Failed, cluster="c1", why=ROOM, final=True),
        "end",
        "it had succeeded and was then failed",
    ),
    "an end is said twice": (
        lambda: more(good(), wire.Succeeded, cluster="c1"),
        "end",
        "it had succeeded and was then succeeded",
    ),
    "a job comes back after its end": (lambda: more(good(), wire.Queue, queue="gold"), "end", "queue after its end"),
    "an accepted job waits and nobody says why": (
        lambda: heard(queued()),
        "reason",
        "no end and no reason for waiting",
    ),
    "a job disappears between two services": (lambda: heard(dequeued()), "reason", "is dequeued"),
    "an attempt's number is passed over": (
        lambda: changed(heard(failing(running())), "queue", attempt=3),
        "attempt",
        "attempt 3 follows attempt 1",
    ),
    "a message speaks of an attempt that is not the present one": (
        lambda: changed(heard(running()), "running", attempt=2),
        "attempt",
        "while attempt 1 is the present one",
    ),
    "a job is dispatched where nothing is reserved": (
        lambda: changed(heard(dispatched(reserved())), "dispatched", cluster="c2"),
        "place",
        "attempt 1 is in c1",
    ),
    "a job runs where it was not dispatched": (
        lambda: changed(heard(running()), "running", cluster="c2"),
        "place",
        "in c2, where it was not dispatched",
    ),
    "half a gang is reserved": (
        lambda: changed(heard(reserved()), "reserved", slots=HALF),
        "gang",
        "2 pods were reserved of a gang of 4",
    ),
    "a job is placed where its policy does not let it run": (
        lambda: changed(heard(placed()), "placed", cluster="c9"),
        "policy",
        "c9, which its policy rules out",
    ),
    "a job is placed where its policy no longer lets it run": (
        lambda: heard(moved().then(wire.Dequeued).then(wire.Placed, cluster="c1", slots=HALF)),
        "policy",
        "c1, which its policy rules out",
    ),
    "a policy changes under a job that runs": (
        lambda: more(heard(running()), wire.Amended, spec=spec()),
        "policy",
        "while attempt 1 was on its way or running",
    ),
    "an object is changed where its attempt is not": (
        lambda: more(heard(running()), wire.Amended, spec=spec(), cluster="c2"),
        "place",
        "attempt 1 was changed in c2",
    ),
    "an object is changed before it is there": (
        lambda: more(heard(reserved()), wire.Amended, spec=spec(), cluster="c1"),
        "place",
        "attempt 1 was changed in c1",
    ),
    "an object is changed to ask for more than its attempt has": (
        lambda: more(heard(running()), wire.Amended, spec=spec(pods=5), cluster="c1"),
        "quota",
        "attempt 1 was changed to ask for more",
    ),
    "a job is charged for what it asked for before it was changed": (
        lambda: heard(smaller().then(wire.Dequeued, path=("root", "root/a"), charge={GPU: 32})),
        "quota",
        "it asks for 16 nvidia.com/gpu and was charged 32",
    ),
    "a rev is missing": (lambda: without(good(), "recall"), "rev", "is missing"),
    "a rev is said twice": (lambda: more(good(), wire.Removed, cluster="c1", rev=3), "rev", "rev 3 was said twice"),
    "a submitted message is lost": (lambda: heard(submitted()), "lost", "neither admitted nor rejected"),
    "a job appears that nobody submitted": (
        lambda: without(good(), "submitted"),
        "origin",
        "without a submitted message",
    ),
    "one submitted message makes two jobs": (answered_twice, "origin", "was answered before, by job a"),
    "a message is said on the subject of another tenant": (
        lambda: on_subject_of("team-b", good()),
        "tenant",
        "of tenant team-a was said on",
    ),
    "a job's tenant changes": (lambda: changed(good(), "succeeded", tenant="team-b"), "tenant", "its tenant is team-a"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_record_is_found_out(case: str) -> None:
    record, rule, words = BROKEN[case]
    found = audit(record()).violations
    assert [one for one in found if one.rule == rule and words in one.text], found


def test_a_job_that_fails_once_and_then_succeeds_breaks_nothing() -> None:
    found = audit(good())
    assert (found.violations, found.ends, found.accepted, found.attempts) == ((), {"succeeded": 1}, 1, 2)


GOOD: dict[str, Callable[[], list[Spoken]]] = {
    "a rejected manifest": lambda: heard(submitted().then(wire.Rejected, reasons=(ROOM,))),
    "a job that waits with a reason": lambda: heard(waiting_for_ever()),
    "two jobs one after the other on the same nodes": lambda: heard(succeeded(running()), later(succeeded(running()))),
    "a share that was given back while it was decided to charge it again": lambda: changed(
        heard(succeeded(running()), later(succeeded(running()))), "dequeued", at=succeeded(running()).at - 1
    ),
    "a job that asks for less while it waits, and is charged for that": lambda: heard(
        smaller().then(wire.Dequeued, path=("root", "root/a"), charge={GPU: 16}).then(wire.Queue, queue="a", why=ROOM)
    ),
    "a job whose object is changed in its place": lambda: heard(succeeded(changing())),
    "the same submission twice": lambda: twice(good()),
    "a job whose attempts run out": lambda: heard(running().then(wire.Failed, cluster="c1", why=ROOM, final=True)),
    "a job whose policy sends it elsewhere while it waits": lambda: heard(
        succeeded(dispatched(reserve(moved(), "c2"), "c2"), "c2")
    ),
    "a job cancelled while it runs": lambda: heard(cancelled()),
}


@pytest.mark.parametrize("case", GOOD)
def test_a_record_in_order_passes(case: str) -> None:
    assert audit(GOOD[case]()).violations == ()


def test_an_event_stored_before_an_older_one_is_read_in_its_place_and_counted() -> None:
    record = good()
    at = next(index for index, spoken in enumerate(record) if spoken.message.verb == "dispatched")
    record[at], record[at + 1] = record[at + 1], record[at]
    found = audit(record)
    assert (found.violations, found.early) == ((), 1)


def test_the_findings_may_be_asked_for_while_the_record_grows() -> None:
    checker = Checker(NODES, TREE)
    record = good()
    seen = []
    for spoken in record:
        checker.hear(spoken)
        seen.append(len(checker.findings().unfinished))
    assert (seen[0], seen[1], seen[-1]) == (0, 1, 0)
