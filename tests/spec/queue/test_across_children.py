"""queue: what tenants of different children of the quota tree's root have in common: the root's max, the room of the
clusters, queues of both, and the order among all of them. Letters are jobs in the order in which they came.

For the sake of these the queue has one owner (docs/decisions/0034): one for each child would not know who is first."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from fairway.domain.queue_policy import QueueSpec
from fairway.domain.quota.tree import QuotaNode
from fairway.queue.decide import decide
from fairway.queue.view import QueueBegins
from fairway.wire import jobs as wire
from tests.spec.builders.lives import GPU, T0, Life, S
from tests.spec.builders.views import gone, heard, of, told
from tests.spec.builders.waiting import BLOCK, flying, freed, held, quota, room, waiting

NOW = T0 + 900 * S
RED = ("root", "root/red")
BLUE = ("root", "root/blue")
MOST = {GPU: 32}
TREE = QuotaNode(
    "root",
    "root",
    {},
    MOST,
    children=(
        QuotaNode("red", "root/red", {}, MOST, namespaces=("team-red",)),
        QuotaNode("blue", "root/blue", {}, MOST, namespaces=("team-blue",)),
    ),
)
# Eight GPUs of the root are left: for one job.
NEARLY_FULL = {"root|nvidia.com/gpu": 24, "root/red|nvidia.com/gpu": 24}


def red(name: str, at: int = 0, **more: Any) -> Life:
    return waiting(name, at, leaf=RED, queue=more.pop("queue", "red"), **more)


def blue(name: str, at: int = 0, **more: Any) -> Life:
    return waiting(name, at, leaf=BLUE, queue=more.pop("queue", "blue"), **more)


@dataclass
class Case:
    given: list[Life]
    when: Any  # a message, or the name of the job whose last message is heard
    want: list[str]  # who is let go, in order
    view: dict[str, Any] = field(default_factory=dict)


def ended(life: Life) -> Life:
    return life.then(wire.Dispatched, cluster="c1").then(wire.Succeeded, cluster="c1")


SHARED = {"tree": TREE, "usage": NEARLY_FULL}
RANKED = {"blue": QueueSpec("blue", priority=5), "low": QueueSpec("low", priority=-1)}
CASES = {
    "what a job of one child gives back at the root wakes one of the other": Case(
        [ended(held("x", leaf=RED)), blue("a", why=quota("root"))], "x", ["a"], SHARED
    ),
    "of two children the one of higher priority goes for what the root has left": Case(
        [ended(held("x", leaf=RED)), red("a", why=quota("root")), blue("b", 1, priority=9, why=quota("root"))],
        "x",
        ["b"],
        SHARED,
    ),
    "of equals the one that came first, whichever child pays": Case(
        [ended(held("x", leaf=RED)), blue("a", why=quota("root")), red("b", 1, why=quota("root"))], "x", ["a"], SHARED
    ),
    "one that comes does not take what the root has left before an older one of the other child": Case(
        [blue("a", why=quota("root")), red("b", 1)], "b", ["a"], SHARED
    ),
    "one that comes back leaves its part of the root to the other child": Case(
        [red("a", why=room(), freed=3), blue("b", 1, why=quota("root"))], "a", ["b"], {**SHARED, "freed": 3}
    ),
    "freed room is offered to the higher priority, whichever child pays": Case(
        [red("a", gpus=8, why=room()), blue("b", 1, gpus=4, priority=9, why=room())], freed(8), ["b"], {"tree": TREE}
    ),
    "freed room that one is sent to is not offered to the other child": Case(
        [red("a", gpus=8, why=room()), blue("b", 1, gpus=4, why=room())], freed(8), ["a"], {"tree": TREE}
    ),
    "and what that one leaves is": Case(
        [red("a", gpus=8, why=room()), blue("b", 1, gpus=4, why=room())], freed(12), ["a", "b"], {"tree": TREE}
    ),
    "of two queues the one of higher priority comes first for what the root has left, whatever their jobs have": Case(
        [ended(held("x", leaf=RED)), red("a", priority=9, why=quota("root")), blue("b", 1, why=quota("root"))],
        "x",
        ["b"],
        {**SHARED, "queues": RANKED},
    ),
    "and one that comes there goes before those that wait in lower ones": Case(
        [red("a", priority=9, why=quota("root")), blue("b", 1)], "b", ["b"], {**SHARED, "queues": RANKED}
    ),
    "freed room is offered to the queue of higher priority, to jobs of one shape": Case(
        [red("a", priority=9, why=room()), blue("b", 1, why=room())], freed(8), ["b"], {"tree": TREE, "queues": RANKED}
    ),
    "and to those of several shapes": Case(
        [red("a", priority=9, gpus=4, why=room()), blue("b", 1, why=room())],
        freed(8),
        ["b"],
        {"tree": TREE, "queues": RANKED},
    ),
    "a queue that nobody declared comes before one below it": Case(
        [red("a", queue="low", priority=9, why=room()), red("b", 1, why=room())],
        freed(8),
        ["b"],
        {"tree": TREE, "queues": RANKED},
    ),
    "at the start the queue of the highest priority is looked at first": Case(
        [red("a", queue="alpha", priority=9), blue("b", 1)], QueueBegins(), ["b"], {**SHARED, "queues": RANKED}
    ),
    "of a blocking queue one goes at a time, though another child pays for it": Case(
        [flying("x", leaf=RED), blue("a", 1, queue="gold")], "a", [], {"tree": TREE, "queues": BLOCK}
    ),
    "and when that one has its room the next goes": Case(
        [held("x", leaf=RED), blue("a", 1, queue="gold")], "x", ["a"], {"tree": TREE, "queues": BLOCK}
    ),
    "the head of a blocking queue holds back those for whom the other child pays": Case(
        [red("a", queue="gold", why=quota("root/red")), blue("b", 1, queue="gold")],
        "b",
        [],
        {"tree": TREE, "usage": {"root/red|nvidia.com/gpu": 32}, "queues": BLOCK},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_whose_turn_among_children(case: Case) -> None:
    view = of(*case.given, **case.view)
    lives = {life.name: life for life in case.given}
    message = heard(lives[case.when]) if isinstance(case.when, str) else told(case.when)
    assert gone(decide(view, message, NOW)) == case.want
