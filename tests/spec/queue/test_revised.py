"""queue: a job that waits takes over another manifest; any other says why not."""

from collections.abc import Callable
from typing import Any

import pytest

from fairway.domain.decision import Decision
from fairway.domain.job import Job
from fairway.domain.quota.tree import QuotaNode
from fairway.queue.decide import decide
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import GPU, T0, Life, S, admitted, spec
from tests.spec.builders.views import adds, events, of, puts, told, tree, verbs
from tests.spec.builders.waiting import BLOCK, flying, held, quota, room, waiting
from tests.spec.queue.test_order import removing

NOW = T0 + 900 * S
NEW = wire.ManifestRef(99, "9" * 64, 500)
FULL = {"tree": tree(), "usage": {"root/a|nvidia.com/gpu": 32}}
STOP = Reason(Code.CANCELLED, "cancelled by ann")


def revised(name: str = "a", delivered: int = 1, **more: Any) -> Any:
    """What admission understood of the new manifest: so many `gpus` of each of its `pods`, its `priority`, `queue`."""
    new = spec(name, **{"pods": 1, "gpus": 8, "manifest": NEW, **more})
    return told(wire.Revised(job=name, tenant="team-a", spec=new), delivered=delivered)


def after(decision: Decision, name: str = "a") -> Job:
    return puts(decision, "jobs")[name]


def test_it_takes_over_the_manifest_and_goes_in_one_step() -> None:
    decision = decide(of(waiting("a", why=quota()), tree=tree()), revised(gpus=4), NOW)
    (amended, dequeued) = events(decision)
    assert (len(decision.steps), amended.verb, dequeued.verb, dequeued.woken_by) == (
        1,
        "amended",
        "dequeued",
        "revised",
    )
    assert (amended.spec.manifest, amended.queue, amended.leaf) == (NEW, "a", ("root", "root/a"))
    assert adds(decision)["quota root/a|nvidia.com/gpu"] == 4, "what it asks for now"


def test_it_keeps_its_place_by_its_time() -> None:
    life = waiting("a", 7)
    job = after(decide(of(life, **FULL), revised(queue="gold"), NOW))
    assert (job.enqueued_at, job.state, job.attempt) == (life.now.enqueued_at, "queued", 1)


@pytest.mark.parametrize(
    ("life", "view"),
    [
        pytest.param(waiting("a", why=room(), freed=3), {}, id="it lacked room"),
        pytest.param(waiting("a", why=room(Code.NO_CLUSTER_EVER), freed=3), {}, id="no cluster could ever hold it"),
        pytest.param(waiting("a", why=quota()), {}, id="it lacked quota"),
        pytest.param(waiting("a"), {}, id="nobody has looked at it"),
    ],
)
def test_what_was_found_for_it_before_says_nothing_any_more(life: Life, view: dict[str, Any]) -> None:
    given = of(life, **{"tree": tree(), "freed": 3, **view})
    given.queued.found_none("a", 3)
    assert verbs(decide(given, revised(gpus=4), NOW)) == ["amended", "dequeued"]


def test_one_that_quota_keeps_says_so_with_its_new_size() -> None:
    amended, blocked = events(decide(of(waiting("a", why=quota()), **FULL), revised(gpus=2), NOW))
    assert (amended.verb, blocked.why.code, "needs 2" in blocked.why.text) == ("amended", Code.WAITING_FOR_QUOTA, True)


def test_one_that_is_held_takes_it_over_and_is_not_let_go() -> None:
    amended, blocked = events(decide(of(waiting("a").then(wire.Held, held=True)), revised(gpus=2), NOW))
    assert (amended.verb, blocked.why.code) == ("amended", Code.SUSPENDED)


TWO = QuotaNode(
    "root",
    "root",
    {},
    {},
    children=(
        QuotaNode("a", "root/a", {}, {GPU: 8, "kube-queue/max-jobs": 9}, namespaces=("team-a",)),
        QuotaNode("b", "root/b", {}, {GPU: 8, "kube-queue/max-jobs": 9}, namespaces=("team-b",)),
    ),
)


def test_it_moves_to_the_queue_that_it_names_now_and_the_next_one_of_the_old_queue_has_its_turn() -> None:
    decision = decide(of(waiting("a"), waiting("b", 1), queues=BLOCK), revised(queue="silver"), NOW)
    assert [(one.verb, one.job) for one in events(decision)] == [
        ("amended", "a"),
        ("dequeued", "a"),
        ("dequeued", "b"),
    ]
    assert events(decision)[0].queue == "silver"


@pytest.mark.parametrize(
    ("lower", "want"),
    [pytest.param(0, ["b"], id="less than the next one"), pytest.param(5, [], id="still more than that")],
)
def test_in_a_blocking_queue_the_head_is_who_has_the_highest_priority_then(lower: int, want: list[str]) -> None:
    head = waiting("a", priority=9, why=quota())
    small = {"tree": tree(), "usage": {"root/a|nvidia.com/gpu": 28}, "queues": BLOCK}
    view = of(head, waiting("b", 1, gpus=4, priority=3), **small)
    decision = decide(view, revised(priority=lower, queue="gold"), NOW)
    assert [one.job for one in events(decision) if one.verb == "dequeued"] == want


REFUSED: dict[str, tuple[Callable[[], Life], dict[str, Any], dict[str, Any], Code]] = {
    "its leaf can never hold it": (lambda: waiting("a"), {"tree": TWO}, {"gpus": 9}, Code.EXCEEDS_MAX_QUOTA),
    "it may not be evicted now, and its leaf guarantees it nothing": (
        lambda: waiting("a"),
        {"tree": TWO},
        {"evictable": False},
        Code.EXCEEDS_MIN_QUOTA,
    ),
    "its label names no leaf": (
        lambda: waiting("a"),
        {"tree": TWO},
        {"labels": {"quota.scheduling.koordinator.sh/name": "z"}},
        Code.UNKNOWN_QUOTA,
    ),
    "its label names somebody else's": (
        lambda: waiting("a"),
        {"tree": TWO},
        {"labels": {"quota.scheduling.koordinator.sh/name": "b"}},
        Code.NOT_YOUR_QUOTA,
    ),
    "it was let go meanwhile": (lambda: flying("a"), {}, {}, Code.BEING_STARTED),
    "it has its room meanwhile": (lambda: held("a"), {}, {}, Code.BEING_STARTED),
    "it was applied meanwhile": (
        lambda: held("a").then(wire.Dispatched, cluster="c1"),
        {},
        {},
        Code.BEING_STARTED,
    ),
    "its last attempt is still there": (lambda: removing("a"), {}, {"delivered": 20}, Code.WAITING_FOR_REMOVAL),
    "it is being cancelled": (
        lambda: flying("a").then(wire.Recall, cluster="", why=STOP),
        {},
        {},
        Code.NOT_CHANGEABLE,
    ),
    "it has ended": (lambda: waiting("a").then(wire.Cancelled), {}, {}, Code.NOT_CHANGEABLE),
}


@pytest.mark.parametrize(("given", "view", "more", "code"), REFUSED.values(), ids=list(REFUSED))
def test_it_says_why_it_takes_over_nothing(
    given: Callable[[], Life], view: dict[str, Any], more: dict[str, Any], code: Code
) -> None:
    life = given()
    decision = decide(of(life, **view), revised(**more), NOW)
    (said,) = events(decision)
    assert (said.verb, said.why.code, said.digest, bool(said.why.remedy)) == ("unchanged", code, NEW.sha256, True)
    assert puts(decision, "jobs") == {}


@pytest.mark.parametrize("life", [admitted(), removing("llm-1")], ids=["on its way to a queue", "being removed"])
def test_it_waits_a_little_for_a_job_that_soon_waits(life: Life) -> None:
    assert decide(of(life), revised("llm-1"), NOW) == Decision(again_in=500)


def test_what_was_taken_over_is_not_taken_over_again() -> None:
    life = waiting("a", manifest=NEW)
    assert decide(of(life), revised(), NOW) == Decision()
    assert decide(of(), revised(delivered=20), NOW) == Decision()


def test_the_manifest_that_was_submitted_is_remembered() -> None:
    life = waiting("a")
    job = after(decide(of(life, **FULL), revised(), NOW))
    assert life.now.spec is not None and job.spec is not None
    assert (job.submitted_as, job.spec.manifest) == (life.now.spec.manifest, NEW)
