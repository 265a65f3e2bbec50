"""queue: a job that its owner holds, and lets go again, at every state."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace

from fairway.domain.decision import NOTHING, Decision
from fairway.domain.job import Job, State
from fairway.queue.decide import decide
from fairway.queue.position import answer
from fairway.queue.view import QueueBegins
from fairway.wire import jobs as wire
from fairway.wire.asks import QueueAsk
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import SLOTS, T0, Life, S, admitted
from tests.spec.builders.views import adds, events, gone, heard, of, puts, told, tree, verbs
from tests.spec.builders.waiting import BLOCK, flying, freed, quota, room, waiting
from tests.spec.builders.waiting import held as reserved
from tests.spec.queue.test_order import removing

NOW = T0 + 900 * S
FULL = {"tree": tree(), "usage": {"root/a|nvidia.com/gpu": 32}}
WHY = Reason(Code.JOB_FAILED, "exit code 1")
SUSPENDED = Reason(Code.SUSPENDED, "suspended by its owner; set suspend to false to let it go")


def hold(name: str = "a", to: bool = True, **more: Any) -> Any:
    return told(wire.HoldJob(job=name, tenant="team-a", held=to), **more)


def held(life: Life) -> Life:
    return life.then(wire.Held, held=True)


def placed() -> Life:
    return flying("a").then(wire.Placed, cluster="c1", slots=SLOTS)


def dispatched() -> Life:
    return reserved("a").then(wire.Dispatched, cluster="c1")


def beside_a_stray(life: Life) -> Life:
    return life.then(wire.Recall, cluster="c2", attempt=0, why=WHY)


@dataclass
class Case:
    given: Callable[[], Life]
    says: list[str]
    code: Code | None = None  # of what it waits for then
    view: dict[str, Any] = field(default_factory=dict)


BACK = ["held", "lost", "recall", "queue"]
HELD = {
    "before it has a queue it is put off": Case(admitted, []),
    "one that waits says for what": Case(lambda: waiting("a"), ["held", "blocked"], Code.SUSPENDED),
    "one that waits for quota": Case(lambda: waiting("a", why=quota()), ["held", "blocked"], Code.SUSPENDED, FULL),
    "one that waits for room": Case(lambda: waiting("a", why=room()), ["held", "blocked"], Code.SUSPENDED),
    "one whose last attempt is being removed": Case(lambda: removing("a"), ["held", "blocked"], Code.SUSPENDED),
    "one that was let go comes back when it has its room": Case(lambda: flying("a"), ["held"]),
    "one that was placed, too": Case(placed, ["held"]),
    "one with a reservation comes back": Case(lambda: reserved("a"), BACK, Code.WAITING_FOR_REMOVAL),
    "one that was applied comes back": Case(dispatched, BACK, Code.WAITING_FOR_REMOVAL),
    "one that runs comes back": Case(
        lambda: dispatched().then(wire.Running, cluster="c1"), BACK, Code.WAITING_FOR_REMOVAL
    ),
    "one that runs beside a stray comes back when that is gone": Case(
        lambda: beside_a_stray(dispatched().then(wire.Running, cluster="c1")), ["held"]
    ),
    "one whose attempt has just ended": Case(
        lambda: dispatched().then(wire.Failed, cluster="c1", why=WHY), ["held"], Code.JOB_FAILED
    ),
    "one that is being cancelled is let alone": Case(
        lambda: dispatched().then(wire.Recall, cluster="c1", why=Reason(Code.CANCELLED, "stop")), []
    ),
    "one that is held already": Case(lambda: held(waiting("a")), []),
    "one that has succeeded": Case(lambda: dispatched().then(wire.Succeeded, cluster="c1"), []),
    "one that failed for good": Case(
        lambda: dispatched().then(wire.Failed, cluster="c1", why=WHY, final=True), [], Code.JOB_FAILED
    ),
    "one that was cancelled": Case(lambda: waiting("a").then(wire.Cancelled), [], Code.CANCELLED),
    "one that was refused": Case(lambda: Life("a").then(wire.Rejected, reasons=(WHY,), attempt=0), [], Code.JOB_FAILED),
}


def after(decision: Decision, before: Life) -> Job:
    return puts(decision, "jobs").get(before.name, before.now)


@pytest.mark.parametrize("case", HELD.values(), ids=list(HELD))
def test_held(case: Case) -> None:
    life = case.given()
    decision = decide(of(life, **case.view), hold(life.name), NOW)
    assert [one.verb for one in events(decision)] == case.says
    assert len(decision.steps) == bool(case.says), "all of it or nothing"
    job = after(decision, life)
    assert (job.held, job.why.code if job.why else None) == (bool(case.says) or life.now.held, case.code)


def test_an_attempt_that_is_taken_back_is_not_spent_and_speaks_against_no_cluster() -> None:
    life = dispatched()
    job = after(decide(of(life), hold(), NOW), life)
    assert (job.attempt, job.removing, job.recalled, job.avoid) == (2, "c1", 1, {"c1": NOW})
    assert job.attempts[-1].why == Reason(Code.SUSPENDED, "suspended by its owner")
    last = dispatched()
    assert last.now.spec is not None
    last.job = replace(last.now, spec=replace(last.now.spec, attempts=1))
    assert verbs(decide(of(last), hold(), NOW)) == BACK, "nor is the last one the end"


def test_every_state_of_a_live_job_has_a_case() -> None:
    states = {case.given().now.state for case in HELD.values()}
    assert states == set(State)


def test_what_waits_says_every_other_gate_too() -> None:
    (_, said) = events(decide(of(waiting("a"), **FULL), hold(), NOW))
    assert [one.code for one in said.gates] == [Code.SUSPENDED, Code.WAITING_FOR_QUOTA]
    assert said.why.text.startswith(SUSPENDED.text)


WAKES = {
    "a change of anything": QueueBegins(),
    "freed room": freed(8),
}


@pytest.mark.parametrize("when", WAKES.values(), ids=list(WAKES))
@pytest.mark.parametrize("why", [None, quota(), room()], ids=["fresh", "quota", "room"])
def test_nothing_wakes_what_is_held(when: Any, why: Reason | None) -> None:
    life = held(waiting("a", why=why) if why else waiting("a"))
    assert events(decide(of(life), told(when), NOW)) == []


def test_what_is_held_steps_aside_in_a_blocking_queue() -> None:
    head = waiting("a")
    decision = decide(of(head, waiting("b", 1), queues=BLOCK), hold(), NOW)
    assert [(one.verb, one.job) for one in events(decision)] == [("held", "a"), ("blocked", "a"), ("dequeued", "b")]
    assert gone(decide(of(held(waiting("a")), waiting("b", 1), queues=BLOCK), told(QueueBegins()), NOW)) == ["b"]


def test_what_comes_back_and_is_held_waits_and_gives_back_its_quota() -> None:
    life = dispatched()
    life.then(wire.Held, held=True).then(wire.Lost, cluster="c1", why=SUSPENDED).then(
        wire.Recall, cluster="c1", why=SUSPENDED
    )
    note = Reason(Code.WAITING_FOR_REMOVAL, "it is being removed")
    life.then(wire.Queue, queue="gold", leaf=("root", "root/a"), enqueued_at=T0, attempt=2, why=note)
    (said,) = events(decide(of(life), heard(life), NOW))
    assert [one.code for one in said.gates] == [Code.SUSPENDED, Code.WAITING_FOR_REMOVAL]
    life.then(wire.Blocked, why=said.why, gates=said.gates).then(wire.Removed, cluster="c1", attempt=1)
    (said,) = events(decide(of(life), heard(life), NOW))
    assert (said.why, said.gates) == (SUSPENDED, ())


def test_what_was_held_on_its_way_comes_back_when_it_has_its_room() -> None:
    life = held(placed()).then(wire.Reserved, cluster="c1", slots=SLOTS, expires_at=NOW + 60 * S)
    decision = decide(of(life, waiting("b", 1), queues=BLOCK), heard(life), NOW)
    assert [(one.verb, one.job) for one in events(decision)] == [
        ("lost", "a"),
        ("recall", "a"),
        ("queue", "a"),
        ("dequeued", "b"),
    ]
    assert events(decide(of(life.then(wire.Dispatched, cluster="c1")), heard(life, -2), NOW))[0].verb == "lost"


def test_what_was_held_beside_a_stray_comes_back_when_that_is_gone() -> None:
    life = held(beside_a_stray(dispatched())).then(wire.Removed, cluster="c2", attempt=0)
    assert verbs(decide(of(life), heard(life), NOW)) == ["lost", "recall", "queue"]


LET_GO = {
    "goes at once": (lambda: held(waiting("a")), {}, ["held", "dequeued"], None),
    "goes only if its quota lets it": (
        lambda: held(waiting("a")),
        FULL,
        ["held", "blocked"],
        Code.WAITING_FOR_QUOTA,
    ),
    "waits until nothing of its last attempt is left": (
        lambda: held(removing("a")),
        {},
        ["held"],
        Code.WAITING_FOR_REMOVAL,
    ),
    "stands behind the head that it had let pass": (
        lambda: held(waiting("a", 5)),
        {"queues": BLOCK},
        ["held", "blocked"],
        Code.BEHIND_HEAD,
    ),
    "is the head again": (lambda: held(waiting("a")), {"queues": BLOCK}, ["held", "dequeued"], None),
    "on its way, it goes on": (lambda: held(flying("a")), {}, ["held"], None),
    "not held, it stays as it is": (lambda: waiting("a"), {}, [], None),
}


@pytest.mark.parametrize(("given", "view", "says", "code"), LET_GO.values(), ids=list(LET_GO))
def test_let_go(given: Callable[[], Life], view: Any, says: list[str], code: Code | None) -> None:
    life = given()
    decision = decide(of(life, waiting("b", 1, why=quota("root/b")), **view), hold(to=False), NOW)
    mine = [one for one in events(decision) if one.job == "a"]
    job = after(decision, life)
    assert ([one.verb for one in mine], job.held, job.why.code if job.why else None) == (says, False, code)
    assert any(one.verb != "dequeued" or one.woken_by == "hold" for one in mine) or not mine


def test_its_charge_goes_with_the_turn_that_it_gets_when_it_is_let_go() -> None:
    assert adds(decide(of(held(waiting("a")), tree=tree()), hold(to=False), NOW))["quota root/a|nvidia.com/gpu"] == 8


@pytest.mark.parametrize(
    ("delivered", "want"), [(1, Decision(again_in=500)), (20, NOTHING)], ids=["it is looked at again", "and given up"]
)
def test_a_hold_that_overtook_its_job_waits_for_it(delivered: int, want: Decision) -> None:
    """For one that is on its way to its queue without end."""
    assert decide(of(), hold(delivered=delivered), NOW) == want
    assert decide(of(admitted()), hold("llm-1", delivered=delivered), NOW) == Decision(again_in=500)


def test_a_held_job_can_be_cancelled() -> None:
    cancel = told(wire.Cancel(job="a", tenant="team-a"))
    assert verbs(decide(of(held(waiting("a"))), cancel, NOW)) == ["cancelled"]


def test_its_place_says_that_it_is_held() -> None:
    place = answer(of(held(waiting("a"))), QueueAsk("a"), NOW)
    assert (place.lacks, place.text) == (Code.SUSPENDED, SUSPENDED.text)
