"""reserver: what of a report is believed, and what has to be confirmed first."""

from typing import Any

import msgspec
import pytest

from fairway.domain import decision
from fairway.domain.decision import Call, Heard
from fairway.domain.reservations import Hold, left_on
from fairway.domain.resources import BATCH_CPU
from fairway.reserver.decide import decide
from fairway.reserver.report_checks import SETTLING_MS
from fairway.runtime.views.members import Facts
from fairway.wire.capacity import ClusterInfo, Falls, Node, Pods, Slot, Taint
from fairway.wire.fleet import Report
from tests.spec.builders.lives import T0, S
from tests.spec.builders.views import GPU, node, of, puts
from tests.spec.reserver.test_reports import known, report

NOW = T0 + 60 * S
LATER = NOW + 2 * SETTLING_MS


def row(name: str, gpus: int, **more: Any) -> Node:
    return Node(name, {GPU: gpus, "pods": 110}, **more)


def after(view: Any, said: Any, now: int = NOW) -> tuple[dict[str, Node], ClusterInfo]:
    """The nodes that are written, and what is known of the cluster."""
    decided = decide(view, Heard("m1", said, stored_at=now), now)
    return puts(decided, decision.nodes("c1")), puts(decided, decision.CLUSTERS)["c1"]


ODD = {
    "less than nothing": row("n2", -1),
    "absurdly much": row("n2", 10**18),
    "a name that is none": row("n2\n", 8),
    "no name": row("", 8),
    "a name as long as a page": row("n" * 4_000, 8),
    "somebody uses less than nothing": row("n2", 8, used={GPU: -64}),
    "an attempt takes less than nothing": row("n2", 8, attempts={"j/1": Pods({"Worker": 1}, {GPU: -64})}),
    "less than no pods": row("n2", 8, attempts={"j/1": Pods({"Worker": -9}, {GPU: 8})}),
    "more attempts than a node can run": row("n2", 8, attempts={f"j/{n}": Pods({}, {}) for n in range(5_000)}),
    "a key as long as a page": row("n2", 8, attempts={"j" * 4_000: Pods({}, {})}),
    "more kinds of resources than there are": row("n2", 8, used={f"r{n}": 1 for n in range(1_000)}),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=list(ODD))
def test_a_row_that_cannot_be_true_is_passed_over_and_the_others_stand(odd: Node) -> None:
    nodes, _ = after(of(freed={}), report(row("n1", 8), odd, full=True, sequence=1, epoch="e9"))
    assert set(nodes) == {"n1"}


@pytest.mark.parametrize("amount", ['"8"', "1.5", "null", "true"])
def test_an_amount_that_is_no_whole_number_is_no_report(amount: str) -> None:
    node = f'{{"name":"n","allocatable":{{"cpu":{amount}}}}}'
    text = f'{{"type":"report","cluster":"c1","epoch":"e","sequence":1,"nodes":[{node}]}}'
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(text, type=Report)


def settled(gpus: int = 16, **info: Any) -> Any:
    """c1 has two nodes, and has had them for long."""
    view = known(row("n1", gpus // 2), row("n2", gpus // 2))
    size = {"since": T0, "base": {GPU: gpus, "pods": 220}, "total": {GPU: gpus, "pods": 220}, **info}
    cluster = view.clusters["c1"]
    cluster.info = msgspec.structs.replace(cluster.info, **size)
    return view


def delta(*nodes: Node, **more: Any) -> Any:
    return report(*nodes, epoch="e1", sequence=6, **more)


def test_a_cluster_that_claims_far_more_than_it_joined_with_keeps_what_it_had() -> None:
    nodes, info = after(settled(), delta(row("n1", 10**9), row("n3", 10**9)), LATER)
    assert (nodes, info.unconfirmed) == ({}, "reports 2000000008 nvidia.com/gpu, joined with 16")
    assert info.base[GPU] == info.total[GPU] == 16


def test_so_does_one_that_claims_what_it_never_had() -> None:
    nodes, info = after(settled(), delta(Node("n3", {"vendor.com/npu": 8})), LATER)
    assert (nodes, bool(info.unconfirmed)) == ({}, True)


def test_many_small_steps_are_not_believed_either() -> None:
    view = settled()
    gpus = 8
    for step in range(1, 8):
        gpus *= 2
        said = report(row("n1", gpus), row("n2", 8), full=True, epoch=f"e{step + 1}", sequence=1)
        _, info = after(view, said, LATER + step * S)
        view.clusters["c1"].info = info
        if not info.unconfirmed:
            view.clusters["c1"].put(row("n1", gpus))
    assert info.unconfirmed and info.total[GPU] <= 32 and info.base[GPU] == 16


def test_twice_as_much_is_believed_and_a_smaller_one_may_come_back() -> None:
    nodes, info = after(settled(), delta(row("n3", 16)), LATER)
    assert (set(nodes), info.unconfirmed, info.total[GPU]) == ({"n3"}, "", 32)
    nodes, info = after(settled(total={GPU: 8, "pods": 110}), delta(row("n3", 8)), LATER)
    assert (set(nodes), info.unconfirmed) == ({"n3"}, "")


def test_who_uses_a_node_is_news_though_its_size_is_held_back() -> None:
    nodes, _ = after(settled(), delta(row("n1", 10**9, used={GPU: 3})), LATER)
    assert (nodes["n1"].allocatable[GPU], nodes["n1"].used) == (8, {GPU: 3})


def test_a_new_cluster_may_grow_for_a_while() -> None:
    _, first = after(of(freed={}), report(full=True, sequence=1, epoch="e9"))
    assert first.since == NOW
    view = known()
    view.clusters["c1"].info = msgspec.structs.replace(first, epoch="e1", sequence=5)
    nodes, info = after(view, delta(*(row(f"n{n}", 8) for n in range(40))), NOW + SETTLING_MS - S)
    assert (len(nodes), info.base[GPU], info.unconfirmed) == (40, 320, "")


def test_an_operator_confirms_and_then_all_of_it_is_asked_for_and_counts() -> None:
    view = settled(unconfirmed="reports too much")
    view.facts = {"c1": Facts(confirmed=LATER)}
    assert decide(view, Heard("m1", delta(), stored_at=LATER), LATER).calls == (Call("resync", "c1", "", 0),)
    said = report(row("n1", 512), row("n2", 512), full=True, epoch="e2", sequence=1)
    nodes, info = after(view, said, LATER)
    assert {name: one.allocatable[GPU] for name, one in nodes.items()} == {"n1": 512, "n2": 512}
    assert (info.unconfirmed, info.base[GPU], info.confirmed) == ("", 1_024, LATER)


COUNTED = Facts(capacity={GPU: 16, "pods": 220})


def test_whom_an_administrator_has_counted_is_not_believed_more_because_the_store_was_lost() -> None:
    """No time has passed since the first report to this working set, and what was known before is gone."""
    view = of(freed={})
    view.facts = {"c1": COUNTED}
    said = report(row("n1", 10**9), row("n2", 8), row("n3", 9), full=True, sequence=1, epoch="e9")
    nodes, info = after(view, said)
    assert {name: one.allocatable[GPU] for name, one in nodes.items()} == {"n1": 16, "n2": 0, "n3": 0}
    assert (info.unconfirmed, info.base) == ("reports 1000000017 nvidia.com/gpu, joined with 16", COUNTED.capacity)


def test_what_was_counted_is_the_measure_for_ever_whatever_the_cluster_had_before() -> None:
    view = settled(gpus=64)
    view.facts = {"c1": COUNTED}
    nodes, info = after(view, delta(row("n3", 1)), LATER)
    assert (nodes, info.unconfirmed) == ({}, "reports 65 nvidia.com/gpu, joined with 16")


def test_twice_what_was_counted_is_believed_at_once() -> None:
    view = of(freed={})
    view.facts = {"c1": COUNTED}
    nodes, info = after(view, report(row("n1", 32), full=True, sequence=1, epoch="e9"))
    assert (nodes["n1"].allocatable[GPU], info.unconfirmed, info.base[GPU]) == (32, "", 16)


def test_when_it_is_counted_anew_all_of_it_is_asked_for_once_and_measured_by_that() -> None:
    view = settled(unconfirmed="reports too much")
    view.facts = {"c1": Facts(confirmed=LATER, capacity={GPU: 512, "pods": 220})}
    assert decide(view, Heard("m1", delta(), stored_at=LATER), LATER).calls == (Call("resync", "c1", "", 0),)
    nodes, info = after(view, report(row("n1", 512), row("n2", 513), full=True, epoch="e2", sequence=1), LATER)
    assert (nodes, bool(info.unconfirmed), info.confirmed) == ({}, True, LATER)
    _, info = after(view, report(row("n1", 512), row("n2", 512), full=True, epoch="e2", sequence=1), LATER)
    assert (info.unconfirmed, info.total[GPU]) == ("", 1_024)


def test_no_more_nodes_count_than_the_cluster_was_joined_with() -> None:
    view = known(row("n7", 8))
    view.facts = {"c1": Facts(nodes=3)}
    nodes, info = after(view, delta(*(row(f"n{n}", 8) for n in range(9))))
    assert set(nodes) == {"n0", "n1"} and info.unconfirmed == "reports more than 3 nodes"


def test_what_the_hub_knows_of_a_cluster_its_agent_cannot_say_otherwise() -> None:
    view = known(row("n1", 8))
    taints = (Taint("dedicated", "NoSchedule"),)
    view.facts = {"c1": Facts({"gpu": "t4"}, taints, mode="pull", cordoned=True)}
    _, info = after(view, delta(labels={"gpu": "a100"}, mode="push"))
    assert (info.labels, info.taints, info.cordoned, info.mode) == ({"gpu": "t4"}, taints, True, "pull")


def test_pods_of_another_namespace_take_no_room_of_a_reservation_and_give_none_back() -> None:
    hold = Hold((Slot("Worker", "n1", 1),), {"Worker": {GPU: 8, "pods": 1}}, namespace="team-a")
    for namespace, taken in (("team-a", 8), ("", 8), ("team-evil", 16)):
        view = known(row("n1", 16, holds={"j/1": {GPU: 8, "pods": 1}}), ledger={"c1": {"j/1": hold}})
        pods = Pods({"Worker": 1}, {GPU: 8, "pods": 1}, namespace)
        nodes, _ = after(view, delta(row("n1", 16, attempts={"j/1": pods})))
        assert sum(one.get(GPU, 0) for one in nodes["n1"].holds.values()) == taken


def test_a_placeholder_and_a_pod_of_its_attempt_take_both_their_room_where_strangers_say_they_are_of_it_too() -> None:
    """Planned are two on n1; one of its pods found its room on n2, and the placeholder is there still."""
    one = {GPU: 8, "pods": 1}
    hold = Hold((Slot("Worker", "n1", 2),), {"Worker": one}, namespace="team-a")
    view = known(row("n1", 32), row("n2", 8), ledger={"c1": {"j/1": hold}})
    told_apart = {
        "j/1": Pods({"Worker": 1}, one),
        "j/1@team-a": Pods({"Worker": 1}, one, "team-a"),
        "j/1@team-evil": Pods({"Worker": 1}, one, "team-evil"),
    }
    ours = {"j/1": Pods({"Worker": 1}, one, "team-a")}
    nodes, _ = after(view, delta(row("n1", 32, attempts=told_apart), row("n2", 8, attempts=ours)))
    assert (nodes["n1"].holds["j/1"], nodes["n1"].holds["j/1@team-evil"]) == ({GPU: 16, "pods": 2}, one)
    assert nodes["n2"].holds["j/1"] == one


def test_batch_resources_come_and_go_within_what_they_are_a_part_of() -> None:
    """They are computed from use: a cluster that was busy when it was joined has many times as many at night."""
    cpus = {"cpu": 64_000, "pods": 110}
    view = known(Node("n1", {**cpus, BATCH_CPU: 1_000}))
    size = {"since": T0, "base": {**cpus, BATCH_CPU: 1_000}, "total": {**cpus, BATCH_CPU: 1_000}}
    view.clusters["c1"].info = msgspec.structs.replace(view.clusters["c1"].info, **size)
    nodes, info = after(view, delta(Node("n1", {**cpus, BATCH_CPU: 60_000})), LATER)
    assert (nodes["n1"].allocatable[BATCH_CPU], info.unconfirmed) == (60_000, "")
    _, info = after(view, delta(Node("n1", {**cpus, BATCH_CPU: 129_000})), LATER)
    assert info.unconfirmed == f"reports 129000 {BATCH_CPU}, joined with 64000"


def test_a_part_of_batch_resources_is_left_alone_and_the_record_says_how_much() -> None:
    view = known(node("n1"))
    before = {BATCH_CPU: 8_000}
    falls = Falls(since=LATER - 301_000, first=before, lowest={BATCH_CPU: 4_000}, counts=(0,) * 10 + (1,))
    view.clusters["c1"].info = msgspec.structs.replace(view.clusters["c1"].info, falls=falls)
    nodes, info = after(view, delta(Node("n1", {"cpu": 8_000, **before}, holds={"j/1": {BATCH_CPU: 1_000}})), LATER)
    assert nodes["n1"].margin == {BATCH_CPU: 4_000}
    assert left_on(nodes["n1"])[BATCH_CPU] == 4_000
    assert info.falls == Falls(LATER, before, before, (0,) * 10 + (2,))
