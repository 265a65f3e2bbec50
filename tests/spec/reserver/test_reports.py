"""reserver: reports make the capacity cache; holds lie over them; more room than before is said once."""

from typing import Any

import pytest

from fairway.domain.decision import NOTHING, Call, Outcome
from fairway.domain.reservations import Hold
from fairway.reserver.decide import decide
from fairway.reserver.view import Expire
from fairway.runtime.views.members import Facts
from fairway.wire.capacity import Node, Pods, Slot, Taint
from fairway.wire.fleet import Report
from tests.spec.builders.lives import GPU, T0, S
from tests.spec.builders.views import KIND, Given, adds, cluster, events, node, puts, told

NOW = T0 + 60 * S
ONE = {GPU: 8, "pods": 1}


def report(*nodes: Node, **more: Any) -> Report:
    fields = {"cluster": "c1", "epoch": "e1", "sequence": 6, "kinds": (KIND,), **more}
    return Report(nodes=nodes, **fields)


def known(*nodes: Node, **more: Any) -> Given:
    """c1 as of report 5 of epoch e1, a second ago."""
    return Given(clusters={"c1": cluster("c1", nodes, NOW, **more.pop("info", {}))}, freed={"c1": 2}, **more)


RESYNC = (Call("resync", "c1", "", 0),)


@pytest.mark.parametrize(
    ("said", "taken", "asks"),
    [
        pytest.param(report(sequence=6), True, False, id="the next one is taken"),
        pytest.param(report(sequence=5), False, False, id="the same once more is passed over"),
        pytest.param(report(sequence=4), False, False, id="an older one is passed over"),
        pytest.param(report(sequence=7), False, True, id="after a gap everything is asked for"),
        pytest.param(report(epoch="e2", sequence=1), False, True, id="another epoch begins with everything"),
        pytest.param(report(node("n1"), full=True, sequence=9), True, False, id="a full one closes a gap"),
        pytest.param(report(node("n1"), full=True, epoch="e2", sequence=1), True, False, id="and begins an epoch"),
        pytest.param(report(node("n1"), full=True, sequence=5), False, False, id="a full one once more"),
        pytest.param(report(cluster="c9", sequence=1), False, True, id="a cluster that nobody knows yet"),
    ],
)
def test_reports_in_and_out_of_order(said: Report, taken: bool, asks: bool) -> None:
    decision = decide(known(node("n1")), told(said), NOW)
    assert (bool(puts(decision, "clusters")), bool(decision.calls)) == (taken, asks)
    if asks:
        done = (Outcome(decision.calls[0], True),)
        assert decide(known(node("n1")), told(said, outcomes=done), NOW) == NOTHING


@pytest.mark.parametrize(("ago", "asks"), [(0, False), (999, False), (1_000, True)])
def test_an_agent_that_was_asked_a_moment_ago_is_not_asked_by_the_next_report_that_it_had_said_before(
    ago: int, asks: bool
) -> None:
    """Else it says everything once more for each of them: of a store that was wiped they wait in a line."""
    view = known(node("n1"), asked={"c1": NOW - ago})
    assert decide(view, told(report(sequence=7)), NOW).calls == (RESYNC if asks else ())
    assert decide(view, told(report(cluster="c9", sequence=1)), NOW).calls, "another one was not asked"


@pytest.mark.parametrize("said", [report(left=True, epoch="", sequence=0), report(), report(node("n2"), full=True)])
def test_of_a_cluster_that_has_left_nothing_is_kept_whatever_its_agent_goes_on_to_say(said: Report) -> None:
    view = known(node("n1"), left=("c1",))
    decision = decide(view, told(said), NOW)
    assert (puts(decision, "clusters"), puts(decision, "nodes/c1")) == ({"c1": None}, {"n1": None})
    assert decide(Given(left=("c1",)), told(said), NOW) == NOTHING


def test_a_cluster_does_not_say_of_itself_that_it_has_left() -> None:
    """What was known of its size would be forgotten, and whatever it said next would be its size."""
    said = told(report(left=True, full=True, epoch="e9", sequence=1))
    assert decide(known(node("n1"), facts={"c1": Facts(mode="pull")}), said, NOW) == NOTHING
    assert puts(decide(known(node("n1")), said, NOW), "clusters") == {"c1": None}


def test_a_cluster_that_the_hub_no_longer_has_is_forgotten_though_it_says_nothing() -> None:
    """Its last word may have been heard before the hub's."""
    decision = decide(known(node("n1"), left=("c1",)), told(Expire()), NOW)
    assert (puts(decision, "clusters"), puts(decision, "nodes/c1")) == ({"c1": None}, {"n1": None})
    assert [(one.verb, one.cluster, one.free) for one in events(decision)] == [("freed", "c1", {})]
    assert decide(known(node("n1"), facts={"c1": Facts()}), told(Expire()), NOW) == NOTHING


@pytest.mark.parametrize(
    ("stored_at", "observed_at"),
    [
        pytest.param(NOW - 400 * S, NOW - 400 * S, id="what waited to be read is as old as it is"),
        pytest.param(NOW + 5 * S, NOW, id="by a bus whose clock is ahead"),
        pytest.param(0, NOW, id="not known"),
    ],
)
def test_the_cluster_is_known_by_what_it_said_and_when_the_bus_had_it(stored_at: int, observed_at: int) -> None:
    said = told(report(labels={"gpu": "a100"}, at=1), stored_at=stored_at)
    (info,) = puts(decide(known(info={"observed_at": NOW - 500 * S}), said, NOW), "clusters").values()
    assert (info.observed_at, info.epoch, info.sequence, info.labels) == (observed_at, "e1", 6, {"gpu": "a100"})


def test_what_an_earlier_agent_said_is_passed_over_when_it_comes_again() -> None:
    again = report(node("n1", 64), full=True, epoch="e0", sequence=9)
    assert decide(known(node("n1")), told(again, stored_at=NOW - 2 * S), NOW) == NOTHING
    assert puts(decide(known(node("n1")), told(again, stored_at=NOW), NOW), "clusters")


@pytest.mark.parametrize(("late", "freed"), [(400 * S, []), (S, ["freed"])])
def test_a_cluster_that_was_silent_is_back_with_a_report_that_is_new(late: int, freed: list[str]) -> None:
    view = known(node("n1"), info={"observed_at": NOW - 500 * S})
    decision = decide(view, told(report(), stored_at=NOW - late), NOW)
    assert puts(decision, "clusters") and [event.verb for event in events(decision)] == freed


NEWS = {
    "a new node": (known(), report(node("n1")), True),
    "a node that is as it was": (known(node("n1")), report(node("n1")), False),
    "others use less": (known(node("n1", used={GPU: 4})), report(node("n1", used={GPU: 3})), True),
    "others use more": (known(node("n1")), report(node("n1", used={GPU: 3})), False),
    "a node was uncordoned": (known(node("n1", schedulable=False)), report(node("n1")), True),
    "a node was cordoned": (known(node("n1")), report(node("n1", schedulable=False)), False),
    "a node lost its taint": (
        known(node("n1", taints=(Taint("gpu", "NoSchedule"),))),
        report(node("n1")),
        True,
    ),
    "a node has other labels": (known(node("n1")), report(node("n1", labels={"zone": "b"})), True),
    "a node is gone": (known(node("n1"), node("n2")), report(gone=("n2",)), False),
    "the cluster lost its taint": (
        known(node("n1"), info={"taints": (Taint("drain", "NoSchedule"),)}),
        report(),
        True,
    ),
    "the cluster has other labels": (known(node("n1")), report(labels={"gpu": "h100"}), True),
    "the cluster serves another kind": (known(node("n1")), report(kinds=(KIND, "Job.batch/v1")), True),
    "the cluster was silent for long": (known(node("n1"), info={"observed_at": NOW - 21 * S}), report(), True),
}


@pytest.mark.parametrize(("view", "said", "freed"), NEWS.values(), ids=list(NEWS))
def test_more_room_than_before_is_said(view: Given, said: Report, freed: bool) -> None:
    decision = decide(view, told(said), NOW)
    assert [event.verb for event in events(decision)] == (["freed"] if freed else [])
    assert adds(decision) == ({"freed c1": 1} if freed else {})


def reserved_on(*names: str) -> dict[str, Any]:
    slots = tuple(Slot("Worker", name, 1) for name in names)
    return {"ledger": {"c1": {"j/1": Hold(slots, {"Worker": ONE})}}}


def seen(count: int, pods: str = "Worker") -> dict[str, Pods]:
    return {"j/1": Pods({pods: count}, {GPU: 8 * count, "pods": count})}


def holds(decision: Any) -> dict[str, dict[str, int]]:
    return {name: one.holds.get("j/1", {}) for name, one in puts(decision, "nodes/c1").items()}


TWO = {GPU: 16, "pods": 2}
COUNTED = {
    "pods where they were planned count once": (
        known(node("n1", holds={"j/1": ONE}), **reserved_on("n1")),
        report(node("n1", attempts=seen(1))),
        {"n1": ONE},
    ),
    "pods on another node take the planned place with them": (
        known(node("n1", holds={"j/1": ONE}), node("n2"), **reserved_on("n1")),
        report(node("n2", attempts=seen(1))),
        {"n1": {}, "n2": ONE},
    ),
    "pods that are still to come keep their place": (
        known(node("n1", holds={"j/1": ONE}), node("n2", holds={"j/1": ONE}), **reserved_on("n1", "n2")),
        report(node("n1", attempts=seen(1))),
        {"n1": ONE, "n2": ONE},
    ),
    "pods that do not say what they are count as planned ones": (
        known(node("n1", holds={"j/1": ONE}), node("n2"), **reserved_on("n1")),
        report(node("n2", attempts=seen(1, ""))),
        {"n1": {}, "n2": ONE},
    ),
    "pods without a reservation count as seen": (
        known(node("n1", 16)),
        report(node("n1", 16, attempts=seen(2))),
        {"n1": TWO},
    ),
    "pods that went leave the plan": (
        known(node("n1", attempts=seen(1), holds={"j/1": ONE}), **reserved_on("n1")),
        report(node("n1")),
        {"n1": ONE},
    ),
    "pods that went without a reservation leave nothing": (
        known(node("n1", attempts=seen(1), holds={"j/1": ONE})),
        report(node("n1")),
        {"n1": {}},
    ),
    "a full report brings back every hold after the cache was lost": (
        known(**reserved_on("n1")),
        report(node("n1"), full=True),
        {"n1": ONE},
    ),
    "a node that comes back finds its holds": (known(**reserved_on("n1")), report(node("n1")), {"n1": ONE}),
}


@pytest.mark.parametrize(("view", "said", "want"), COUNTED.values(), ids=list(COUNTED))
def test_reserved_and_running_are_counted_once(view: Given, said: Report, want: dict[str, dict[str, int]]) -> None:
    assert holds(decide(view, told(said), NOW)) == want
