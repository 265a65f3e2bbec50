"""What the witness of a simulation looks at by itself: charges and reservations of every commit, and who was silent."""

from random import Random

import msgspec
import pytest

from fairway.agent.report import Seen
from fairway.audit.auditor import USUAL
from fairway.domain.decision import JOBS, OWED, Put, Step, ledger, nodes
from fairway.domain.quota.charge import Share, owed_key
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.reservations import Hold
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.invariants.events import EventChecks
from fairway.lab.simulation.invariants.silent_times import Silence
from fairway.lab.simulation.invariants.store_rows import CheckedStore, StoreChecks
from fairway.lab.simulation.members import pods
from fairway.lab.simulation.members.controllers import MemberEvents
from fairway.lab.simulation.members.member import SimulatedMember
from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.people.faults import CALM, FaultInjector
from fairway.runtime.ports import Commit, Delivery
from fairway.wire import fleet, subjects
from fairway.wire import jobs as wire
from fairway.wire.capacity import Node, Slot
from fairway.wire.reasons import Code, Reason
from fairway.workloads.member_copy import job_labels
from tests.spec.builders.lives import GPU, dequeued, queued
from tests.support.memory.clock import ManualClock

LEAF = ("root", "root/a")
WAITS = queued().now
GOES = dequeued().now
SHARE = Share(LEAF, GOES.charge)
TURN = Put(JOBS, GOES.id, GOES, rev=3)
BACK = Put(JOBS, GOES.id, WAITS, rev=4)
STEPS = {
    "a turn with its charge": ([[TURN, *SHARE.adds()]], 0),
    "a turn without one": ([[TURN]], 1),
    "a turn whose root is not charged": ([[TURN, *SHARE.adds()[1:]]], 1),
    "a share that is owed stays charged": ([[TURN, *SHARE.adds()], [BACK, Put(OWED, owed_key("llm-1", 4), SHARE)]], 0),
    "a share that is neither owed nor given back": ([[TURN, *SHARE.adds()], [BACK]], 1),
    "a share that is given back and still owed": (
        [[TURN, *SHARE.adds()], [BACK, Put(OWED, owed_key("llm-1", 4), SHARE), *SHARE.adds(-1)]],
        1,
    ),
}


Wrong = list[tuple[str, str, str]]


async def looked_over() -> tuple[CheckedStore, StoreChecks, Wrong]:
    """An empty store, who looks over it, and what that finds wrong: rule, job and sentence."""
    books = StoreChecks()
    found = Wrong()
    books.wrong = lambda *what: found.append(what)
    store = CheckedStore(books, ManualClock())
    await store.begin_rebuild("a", 1_000)
    await store.finish_rebuild("1-a")
    return store, books, found


@pytest.mark.parametrize("name", STEPS)
async def test_every_commit_charges_what_its_rows_say(name: str) -> None:
    steps, wrong = STEPS[name]
    store, _, found = await looked_over()
    for step in steps:
        await store.commit(Commit((Step(tuple(step)),)))
    assert len(found) == wrong, found
    assert all((rule, job) == ("quota", "llm-1") and "its rows make it" in text for rule, job, text in found)


async def test_no_commit_charges_a_node_of_the_tree_more_than_its_max() -> None:
    store, books, found = await looked_over()
    books.most = lambda node, resource: {("root/a", GPU): GOES.charge[GPU] - 1}.get((node, resource))
    await store.commit(Commit((Step((TURN, *SHARE.adds())),)))
    assert found == [("quota", "llm-1", f"a step charges root/a|{GPU} to 32 of 31")]


HOLD = Hold((Slot("Worker", "n1", 2),), {"Worker": {GPU: 8, "pods": 1}})
HELD = {GPU: 16, "pods": 2}
ROWS = {
    "a reservation on a node that has room": (Node("n1", {GPU: 16, "pods": 9}, holds={"llm-1/1": HELD}), []),
    "what others use counts": (
        Node("n1", {GPU: 16, "pods": 9}, used={GPU: 1}, holds={"llm-1/1": HELD}),
        [f"n1 is too full with llm-1/1 by its own row: ['{GPU}']"],
    ),
    "and what is held": (
        Node("n1", {GPU: 20, "pods": 9}, holds={"llm-1/1": HELD, "b/1": {GPU: 5}}),
        [f"n1 is too full with llm-1/1 by its own row: ['{GPU}']"],
    ),
    "half of it": (
        Node("n1", {GPU: 16, "pods": 9}, holds={"llm-1/1": {GPU: 8, "pods": 1}}),
        ["llm-1/1 is reserved, and the row of n1 does not say so"],
    ),
    "on another node": (Node("n2", {GPU: 16}), ["llm-1/1 is reserved, and the row of n1 does not say so"]),
}


@pytest.mark.parametrize("name", ROWS)
async def test_every_reservation_lies_on_nodes_that_have_room_for_it(name: str) -> None:
    node, wrong = ROWS[name]
    store, _, found = await looked_over()
    reserved = Step((Put(ledger("c1"), "llm-1/1", HOLD, expect=0), Put(nodes("c1"), node.name, node)))
    await store.commit(Commit((reserved,)))
    assert [(rule, text) for rule, _, text in found] == [("room", one) for one in wrong]


@pytest.mark.parametrize(
    ("size", "rules"),
    [
        pytest.param({"cpu": 8}, [], id="as large as its cluster"),
        pytest.param({"cpu": 7}, ["size"], id="larger than its cluster"),
        pytest.param({}, ["size"], id="of what its cluster has not"),
        pytest.param(None, [], id="of a cluster that nobody has counted"),
    ],
)
async def test_no_node_is_larger_than_its_cluster(size: dict[str, int] | None, rules: list[str]) -> None:
    store, books, found = await looked_over()
    books.sizes = {} if size is None else {"c1": size}
    await store.commit(Commit((Step((Put(nodes("c1"), "n1", Node("n1", {"cpu": 8})),)),)))
    assert [rule for rule, _, _ in found] == rules


async def test_a_rebuild_charges_what_its_rows_say() -> None:
    books = StoreChecks()
    found = list[str]()
    books.wrong = lambda rule, job, text: found.append(text)
    store = CheckedStore(books, ManualClock())
    await store.begin_rebuild("a", 1_000)
    await store.load_counters("quota", {f"root|{GPU}": 8})
    await store.finish_rebuild("1-a")
    assert found == [f"a rebuild has charged root|{GPU} 8, and its rows make it 0"]


def lost(code: Code = Code.VANISHED) -> wire.Lost:
    return wire.Lost(job="llm-1", tenant="team-a", attempt=1, rev=9, cluster="c1", why=Reason(code, "gone"))


SILENCES = {
    "while two of three are silent": (lost(), 91_000, ("c2",), True),
    "while they may not be known to be": (lost(), 89_000, ("c2",), False),
    "while one of three is": (lost(), 91_000, ("c2", "c3"), False),
    "for what no member has shown": (lost(Code.RESERVATION_EXPIRED), 91_000, (), False),
}


@pytest.mark.parametrize("name", SILENCES)
def test_nothing_is_given_up_while_most_agents_are_silent(name: str) -> None:
    message, at, speaking, wrong = SILENCES[name]
    silence = Silence(late_ms=60_000)
    for cluster in ("c1", "c2", "c3", "left"):
        silence.hear(fleet.Report(at=0, cluster=cluster, epoch="", sequence=1), 0)
    silence.hear(fleet.Report(at=0, cluster="left", epoch="", sequence=2, left=True), 1)
    for cluster in speaking:
        silence.hear(fleet.Report(at=0, cluster=cluster, epoch="", sequence=2), at - 1)
    assert bool(silence.broken_by(message, at, ("c1", "c2", "c3"))) is wrong
    assert not silence.broken_by(message, at, ("c1", "c2")), "one of two: nobody can tell whose fault it is"


def watched() -> tuple[EventChecks, SimulatedMember]:
    """Who looks at a fleet of one member with one node, and that member."""
    checks = EventChecks({"c1": {"n0": {GPU: 8}}}, QuotaNode("root", "root"), USUAL)
    heard = MemberEvents(checks.started, checks.ended, checks.gone, checks.deleted)
    checks.fleet = SimulatedFleet(FaultInjector(CALM, Random(1)), {"c1": {"n0": 8}}, heard, RunPlan(1))
    return checks, checks.fleet.members["c1"]


def reported(checks: EventChecks, seen: Seen, sequence: int) -> list[str]:
    """Of which attempts the only node still has pods, after the agent has reported what it has seen."""
    rows, _ = seen.take(full=True)
    said = fleet.Report(at=0, cluster="c1", epoch="e", sequence=sequence, full=True, nodes=rows)
    subject = subjects.cluster("report", "c1")
    checks.stored("CLUSTERS", Delivery(f"r{sequence}", subject, msgspec.json.encode(said), sequence))
    return present(checks)


def present(checks: EventChecks) -> list[str]:
    return [key for node in checks.reported("c1") for key in node.attempts]


@pytest.mark.parametrize(
    ("intruder", "want"),
    [
        pytest.param(False, ["llm-1/1"], id="alone"),
        pytest.param(True, ["llm-1/1@evil", "llm-1/1@team-a"], id="beside a stranger's pod that says to be of it too"),
    ],
)
async def test_a_reported_pod_counts_until_it_is_gone(intruder: bool, want: list[str]) -> None:
    """Its agent's watch stalls, and goes on reporting it."""
    checks, member = watched()
    labels = job_labels("llm-1", 1)
    if intruder:
        member.intrude("intruder", labels, 1)
    own = member.put(pods.POD, pods.pod("team-a", "llm", pods.WantedPod("pod", 1, 4, labels)))
    member.stranger(1, 60)  # somebody comes, and the scheduler looks at all pods
    seen = Seen()
    for one in member.every(pods.NODE):
        seen.node(one.key.name, one.obj)
    for one in member.every(pods.POD):
        seen.pod(one.key.namespace, one.key.name, one.obj)
    assert reported(checks, seen, 1) == want
    checks.gone("c1", "llm-1", 1)
    assert present(checks) == []
    member.leave(own.key)
    assert reported(checks, seen, 2) == []
