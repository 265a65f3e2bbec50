"""queue: who goes next, under each policy. Letters are jobs in the order in which they came."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace

from fairway.domain.decision import NOTHING
from fairway.domain.quota.node_terms import ORDER, ORDERS
from fairway.queue.decide import decide
from fairway.queue.view import QueueBegins, Sweep
from fairway.wire import jobs as wire
from fairway.wire.policy import Affinity, Placement
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import GPU, T0, Life, S
from tests.spec.builders.views import events, gone, heard, of, told, tree, verbs
from tests.spec.builders.waiting import BLOCK, flying, freed, held, quota, room, waiting

NOW = T0 + 900 * S
FULL = {"root/a|nvidia.com/gpu": 32}
EIGHT_LEFT = {"root/a|nvidia.com/gpu": 24}


@dataclass
class Case:
    given: list[Life]
    when: Any  # a message, or the name of the job whose last message is heard
    want: list[str]  # who is let go, in order
    view: dict[str, Any] = field(default_factory=dict)
    woken: tuple[str, ...] = ()


def only(cluster: str) -> Placement:
    return Placement(affinities=(Affinity(cluster_names=(cluster,)),))


ENDED = held("x").then(wire.Dispatched, cluster="c1").then(wire.Succeeded, cluster="c1")
REMOVING = Reason(Code.JOB_FAILED, "exit code 1")


def removing(name: str, at: int = 0) -> Life:
    life = held(name, at).then(wire.Failed, cluster="c1", why=REMOVING).then(wire.Recall, cluster="c1", why=REMOVING)
    where = {"queue": "gold", "leaf": ("root", "root/a"), "enqueued_at": T0 + at * S}
    return life.then(wire.Queue, attempt=2, why=Reason(Code.WAITING_FOR_REMOVAL, "being removed"), **where)


CASES = {
    "a job that comes goes at once": Case([waiting("a")], "a", ["a"]),
    "a job that finds its quota full waits": Case([waiting("a")], "a", [], {"tree": tree(), "usage": FULL}),
    "what fits goes past what does not": Case(
        [waiting("a", pods=4, why=quota()), waiting("b", 1)], "b", ["b"], {"tree": tree(), "usage": EIGHT_LEFT}
    ),
    "what a raised max makes free goes to one before it first": Case(
        [waiting("a", pods=2, priority=9, why=quota()), waiting("b", 1)],
        "b",
        ["a"],
        {"tree": tree(), "usage": {"root/a|nvidia.com/gpu": 16}},
    ),
    "and what that one leaves is for the one that comes": Case(
        [waiting("a", pods=2, priority=9, why=quota()), waiting("b", 1)],
        "b",
        ["a", "b"],
        {"tree": tree(), "usage": {"root/a|nvidia.com/gpu": 8}},
    ),
    "one that comes goes before those behind it, whatever they wait for": Case(
        [waiting("a", why=quota()), waiting("b", 1, priority=9)], "b", ["b"], {"tree": tree(), "usage": EIGHT_LEFT}
    ),
    "of those that ask the same, only the ones before it go first": Case(
        [waiting("a", priority=9, why=quota()), waiting("b", 1, pods=2, priority=5), waiting("c", 2, why=quota())],
        "b",
        ["a", "b"],
        {"tree": tree(), "usage": {"root/a|nvidia.com/gpu": 8}},
    ),
    "and before the head of another queue, even a blocking one, that has less priority": Case(
        [waiting("a", why=quota()), waiting("b", 1, queue="silver", priority=9)],
        "b",
        ["b"],
        {"tree": tree(), "usage": EIGHT_LEFT, "queues": BLOCK},
    ),
    "behind a blocking head nobody goes": Case(
        [waiting("a", pods=4, why=quota()), waiting("b", 1)],
        "b",
        [],
        {"tree": tree(), "usage": EIGHT_LEFT, "queues": BLOCK},
    ),
    "a head that waits for room blocks too": Case(
        [waiting("a", why=room(), freed=3), waiting("b", 1)], "b", [], {"queues": BLOCK, "freed": 3}
    ),
    "a head that no cluster can hold does not block": Case(
        [waiting("a", why=room(Code.NO_CLUSTER_EVER)), waiting("b", 1)], "b", ["b"], {"queues": BLOCK}
    ),
    "a head whose cluster is not there does not block": Case(
        [waiting("a", why=room(Code.UNKNOWN_CLUSTER)), waiting("b", 1)], "b", ["b"], {"queues": BLOCK}
    ),
    "a head whose last attempt is being removed does not block": Case(
        [removing("a"), waiting("b", 1)], "b", ["b"], {"queues": BLOCK}
    ),
    "a blocking queue lets one job look for room at a time": Case(
        [flying("a"), waiting("b", 1)], "b", [], {"queues": BLOCK}
    ),
    "the next one goes when the head has its room": Case([held("a"), waiting("b", 1)], "a", ["b"], {"queues": BLOCK}),
    "the next one goes when the head was cancelled": Case(
        [waiting("a").then(wire.Cancelled), waiting("b", 1)], "a", ["b"], {"queues": BLOCK}
    ),
    "a higher priority becomes the head": Case(
        [waiting("a"), waiting("b", 1, priority=9)], QueueBegins(), ["b"], {"queues": BLOCK}
    ),
    "quota goes to the higher priority first": Case(
        [ENDED, waiting("a", why=quota()), waiting("b", 1, priority=9, why=quota())],
        "x",
        ["b"],
        {"tree": tree(), "usage": EIGHT_LEFT},
    ),
    "quota given back lets go as many as it reaches": Case(
        [ENDED, waiting("a", why=quota()), waiting("b", 1, why=quota()), waiting("c", 2, why=quota())],
        "x",
        ["a", "b"],
        {"tree": tree(), "usage": {"root/a|nvidia.com/gpu": 16}},
    ),
    "quota given back higher up wakes who lacks it there": Case(
        [ENDED, waiting("a", why=quota("root"))], "x", ["a"], {"tree": tree()}
    ),
    "quota of another leaf wakes nobody here": Case(
        [ENDED, waiting("a", leaf=("root", "root/b"), why=quota("root/b"))], "x", [], {"tree": tree()}
    ),
    "one whom its blocking queue holds back does not stand before another queue's": Case(
        [ENDED, flying("f"), waiting("a", why=quota()), waiting("b", 1, queue="silver", why=quota())],
        "x",
        ["b"],
        {"tree": tree(), "queues": BLOCK},
    ),
    "a job that comes back gives its quota to the others": Case(
        [waiting("a", why=room(), freed=3), waiting("b", 1, why=quota())],
        "a",
        ["b"],
        {"tree": tree(), "usage": EIGHT_LEFT, "freed": 3},
    ),
    "freed room wakes who could use it": Case([waiting("a", why=room())], freed(8), ["a"]),
    "a cluster that comes wakes who is to go there and nobody else": Case(
        [
            waiting("a", why=room(Code.UNKNOWN_CLUSTER), placement=only("c8")),
            waiting("b", 1, why=room(Code.UNKNOWN_CLUSTER), placement=only("c9")),
        ],
        freed(8, "c9"),
        ["b"],
    ),
    "room that is too little wakes nobody": Case([waiting("a", why=room())], freed(7), []),
    "room in pieces too small for one pod wakes nobody": Case(
        [waiting("a", why=room())], freed(16, largest={GPU: 4}), []
    ),
    "of one shape the first is woken": Case([waiting("a", why=room()), waiting("b", 1, why=room())], freed(16), ["a"]),
    "room that one is woken for is not offered to the next shape": Case(
        [waiting("a", why=room()), waiting("b", 1, gpus=4, why=room())], freed(8), ["a"]
    ),
    "room that is left is offered to the next shape": Case(
        [waiting("a", why=room()), waiting("b", 1, gpus=4, why=room())], freed(12), ["a", "b"]
    ),
    "when the woken one has its room the next of its shape is tried": Case(
        [held("x"), waiting("a", 1, why=room(), freed=3)], "x", ["a"], {"room": {"c1": freed(8)}, "freed": 4}, ("x",)
    ),
    "when the woken one finds none, the one that was passed over is tried": Case(
        [waiting("x", why=room(), freed=4), waiting("b", 1, gpus=4, why=room())],
        "x",
        ["b"],
        {"room": {"c1": freed(8)}, "freed": 4},
        ("x",),
    ),
    "one that was not woken passes nothing on": Case(
        [waiting("x", why=room(), freed=4), waiting("b", 1, gpus=4, why=room())],
        "x",
        [],
        {"room": {"c1": freed(8)}, "freed": 4},
    ),
    "room freed while the job was on its way back": Case(
        [waiting("a", why=room(), freed=3)], "a", ["a"], {"room": {"c1": freed(8)}, "freed": 4}
    ),
    "nothing freed since: asking again is vain": Case(
        [waiting("a", why=room(), freed=4)], "a", [], {"room": {"c1": freed(8)}, "freed": 4}
    ),
    "after a restart no room is known: it may be enough": Case(
        [waiting("a", why=room(), freed=3)], "a", ["a"], {"freed": 4, "all_known": False}
    ),
    "a job whose room was taken asks again at once": Case(
        [waiting("a", why=room(Code.ROOM_TAKEN), freed=4)], "a", ["a"], {"freed": 4}
    ),
    "a group that quota holds back does not keep room from those behind": Case(
        [waiting("a", pods=1, leaf=(), why=room()), waiting("b", 1, leaf=(), why=room())], freed(8), ["a"]
    ),
    "the head of a blocking queue is woken by room": Case(
        [waiting("a", why=room()), waiting("b", 1, why=room())], freed(8), ["a"], {"queues": BLOCK}
    ),
    "nothing is left of the last attempt: it goes": Case(
        [removing("a").then(wire.Removed, cluster="c1", attempt=1)], "a", ["a"]
    ),
    "at the start everybody who may goes": Case(
        [waiting("a"), waiting("b", 1, why=quota()), waiting("c", 2, gpus=4, why=room())],
        QueueBegins(),
        ["b", "a", "c"],
    ),
    "the sweep leaves what is owed": Case([waiting("a", why=quota())], Sweep(), [], {"tree": tree(), "usage": FULL}),
    "the sweep finds what was forgotten": Case([waiting("a", why=quota())], Sweep(), ["a"], {"tree": tree()}),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_whose_turn(case: Case, order: str) -> None:
    """In one leaf, where the order among leaves changes nothing."""
    view = of(*case.given, **case.view)
    view.tree = view.tree and replace(view.tree, attributes={ORDER: order})
    view.queued.woken = dict.fromkeys(case.woken)
    lives = {life.name: life for life in case.given}
    when = heard(lives[case.when]) if isinstance(case.when, str) else told(case.when)
    if isinstance(case.when, str) and isinstance(when.message, wire.Queue) and when.message.why:
        view.queued.found_none(case.when, when.message.freed)
    decision = decide(view, when, NOW)
    assert gone(decision) == case.want


def test_why_it_is_blocked_is_said_once() -> None:
    full = {"tree": tree(), "usage": FULL}
    fresh = waiting("a")
    (said,) = events(decide(of(fresh, **full), heard(fresh), NOW))
    assert (said.verb, said.why.code, said.why.field) == ("blocked", Code.WAITING_FOR_QUOTA, "root/a")
    assert "has 0 of 32 nvidia.com/gpu left" in said.why.text
    assert verbs(decide(of(waiting("a", why=quota()), **full), told(QueueBegins()), NOW)) == []


@pytest.mark.parametrize(
    ("told", "full", "want"),
    [
        pytest.param("", ("root", "root/a"), ["root/a"], id="told for the first time, of the nearest to its leaf"),
        pytest.param("root", ("root", "root/a"), [], id="the node it was told of is still full, and so is another"),
        pytest.param("root/a", ("root", "root/a"), [], id="the node it was told of is still full, and one above it"),
        pytest.param("root/a", ("root",), ["root"], id="another one is full now"),
    ],
)
def test_which_of_several_full_quotas_it_waits_for_is_said_only_when_it_changes(
    told: str, full: tuple[str, ...], want: list[str]
) -> None:
    """Where siblings may borrow, now one and now two levels are full; a word at each look would never end."""
    life = waiting("a", why=quota(told)) if told else waiting("a")
    usage = {f"{node}|{GPU}": 1000 if node == "root" else 32 for node in full}
    said = events(decide(of(life, tree=tree(), usage=usage), heard(waiting("a")), NOW))
    assert [one.why.field for one in said] == want


def test_a_message_of_a_job_that_went_on_changes_nothing() -> None:
    assert decide(of(flying("a")), heard(flying("a"), 1), NOW) == NOTHING
