"""Room held in the member: in which way, and what becomes of a job whose room is held, or cannot be."""

from typing import Any

import msgspec
import pytest

from fairway.domain.decision import Call, Decision, Outcome
from fairway.propagator.calls import Made
from fairway.propagator.decide import decide
from fairway.reserver.decide import decide as reserve
from fairway.reserver.reservation_way import hold_of
from fairway.wire import jobs as wire
from fairway.wire.capacity import ClusterInfo
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import SLOTS, T0, Life, S, placed, spec
from tests.spec.builders.views import cluster, events, heard, node, of, verbs

NOW = T0 + 60 * S
BOTH = ("reservations", "placeholders")
VOLCANO = "Job.batch.volcano.sh/v1alpha1"


def scheduled_by(name: str, **more: Any) -> wire.JobSpec:
    one = spec(**more)
    sets = (msgspec.structs.replace(one.workload.pod_sets[0], scheduler=name),)
    return msgspec.structs.replace(one, workload=msgspec.structs.replace(one.workload, pod_sets=sets))


def kind(api_version: str, name: str) -> wire.JobSpec:
    one = spec()
    work = msgspec.structs.replace(one.workload, api_version=api_version, kind=name)
    return msgspec.structs.replace(one, workload=work)


@pytest.mark.parametrize(
    ("holds", "given", "want"),
    [
        pytest.param(BOTH, spec(), "reservations", id="the best that the cluster can"),
        pytest.param(("placeholders",), spec(), "placeholders", id="what the cluster can"),
        pytest.param((), spec(), "", id="a cluster that can neither: the ledger"),
        pytest.param(BOTH, spec(reserve="placeholders"), "placeholders", id="the policy chooses"),
        pytest.param(BOTH, spec(reserve="ledger"), "", id="the policy wants neither"),
        pytest.param(("placeholders",), spec(reserve="reservations"), "", id="no policy adds what is not there"),
        pytest.param(BOTH, scheduled_by("koord-scheduler"), "reservations", id="pods for koord-scheduler"),
        pytest.param(("placeholders",), scheduled_by("koord-scheduler"), "", id="no placeholder for its pods"),
        pytest.param(BOTH, scheduled_by("volcano"), "", id="Volcano minds neither"),
        pytest.param(BOTH, kind("batch.volcano.sh/v1alpha1", "Job"), "", id="Volcano's own kind"),
        pytest.param(BOTH, kind("argoproj.io/v1alpha1", "Workflow"), "", id="pods that come and go"),
        pytest.param(
            ("placeholders",), kind("sparkoperator.k8s.io/v1beta2", "SparkApplication"), "", id="pods without our gate"
        ),
    ],
)
def test_room_is_held_as_cluster_policy_and_pods_agree(holds: tuple[str, ...], given: wire.JobSpec, want: str) -> None:
    assert hold_of(ClusterInfo("c1", holds=holds), given) == want


def test_a_kubeflow_job_where_volcano_runs_may_be_scheduled_by_it() -> None:
    volcano = ClusterInfo("c1", holds=("placeholders",), kinds=(VOLCANO,))
    assert hold_of(volcano, spec()) == ""
    assert hold_of(volcano, kind("batch/v1", "Job")) == "placeholders"


def test_the_reservation_says_how_the_member_is_to_hold_the_room() -> None:
    room = cluster("c1", [node("n1", 32)], NOW)
    room.info = msgspec.structs.replace(room.info, holds=("placeholders",))
    (said,) = events(reserve(of(placed(), clusters={"c1": room}), heard(placed()), NOW))
    assert (said.verb, said.hold) == ("reserved", "placeholders")


def held(way: str = "placeholders", **more: Any) -> Life:
    life = placed(**more)
    return life.then(wire.Reserved, cluster="c1", slots=SLOTS, expires_at=life.at + 60 * S, hold=way)


def looked(life: Life, made: Made | None = None, code: str = "", text: str = "") -> Decision:
    """Its outcome names the call without its body, as the runtime hands it on."""
    outcome = Outcome(Call("hold", "c1", "llm-1", 1), made is not None, code, text, made)
    return decide(of(life), heard(life, outcomes=(outcome,)), NOW)


def test_the_room_is_held_before_the_job_is_applied() -> None:
    life = held()
    (asked,) = decide(of(life), heard(life), NOW).calls
    assert (asked.verb, asked.body.room.way, asked.body.room.slots) == ("hold", "placeholders", SLOTS)
    (then,) = looked(life, Made(4, 4)).calls
    assert (then.verb, then.body) == ("apply", asked.body)


@pytest.mark.parametrize(
    ("idle", "why"), [(0, "no node"), (1_999, "no node"), (14_999, "")], ids=["at first", "for two seconds", "silence"]
)
def test_room_that_is_not_held_yet_is_looked_at_again(idle: int, why: str) -> None:
    assert looked(held(), Made(3, 4, idle, why)) == Decision(again_in=100)


def test_a_scheduler_that_says_nothing_is_not_waited_for_without_end() -> None:
    (lost, *_) = events(looked(held(), Made(3, 4, 15_000)))
    text = "c1 holds room for 3 of 4 pods; its scheduler has said nothing of the others for 15 s"
    assert (lost.why.code, lost.why.text) == (Code.ROOM_TAKEN, text)


@pytest.mark.parametrize("attempts", [1, 3], ids=["of one attempt", "of three"])
def test_room_that_cannot_be_had_sends_the_job_back_and_spends_nothing(attempts: int) -> None:
    decision = looked(held(attempts=attempts), Made(3, 4, 2_000, "0/8 nodes are available"))
    assert verbs(decision) == ["lost", "recall", "queue"]
    lost, _, queue = events(decision)
    assert (lost.why.code, lost.why.text) == (
        Code.ROOM_TAKEN,
        "c1 holds room for 3 of 4 pods; 0/8 nodes are available",
    )
    assert queue.attempt == 2


def test_a_member_that_refuses_what_holds_room_is_not_asked_for_ever() -> None:
    (lost, *_) = events(looked(held(), None, "Forbidden", "pods is forbidden"))
    assert (lost.why.code, "pods is forbidden" in lost.why.text, lost.why.remedy != "") == (Code.ROOM_TAKEN, True, True)


def test_a_member_that_does_not_answer_is_asked_again() -> None:
    assert looked(held(), None, "") == Decision(again_in=1_000)


def test_room_held_for_an_attempt_that_is_over_is_given_back() -> None:
    life = held()
    before = heard(held())
    life.then(wire.Recall, cluster="c1", why=Reason(Code.CANCELLED, "cancelled by ann"))
    call = Call("hold", "c1", "llm-1", 1)
    late = msgspec.structs.replace(before, outcomes=(Outcome(call, True, body=Made(4, 4)),))
    (asked,) = decide(of(life), late, NOW).calls
    assert (asked.verb, asked.body.room.key) == ("release", "llm-1/1")


def test_the_recall_of_an_earlier_attempt_gives_back_the_room_of_that_one() -> None:
    life = held()
    for event in events(looked(life, Made(3, 4, 5_000, "no node"))):
        life.then(
            type(event),
            **{name: getattr(event, name) for name in ("cluster", "why", "queue", "attempt") if hasattr(event, name)},
        )
    recall = next(index for index, (_, message) in enumerate(life.said) if isinstance(message, wire.Recall))
    (asked,) = decide(of(life), heard(life, recall), NOW).calls
    assert (asked.verb, asked.attempt, asked.body.room.key) == ("delete", 1, "llm-1/1")


@pytest.mark.parametrize("code", [Code.ROOM_TAKEN, Code.WEBHOOK_FAILED, Code.NAMESPACE_TERMINATING])
def test_what_a_member_lacks_again_and_again_is_asked_for_ever_less_often(code: Code) -> None:
    life = held()
    waits = []
    for _ in range(3):
        attempt = life.now.attempt
        why = Reason(code, "not now")
        life.then(wire.Lost, cluster="c1", why=why)
        waits.append(life.now.avoid["c1"] - life.at)
        life.then(wire.Queue, queue="gold", enqueued_at=T0, attempt=attempt + 1)
        life.then(wire.Dequeued).then(wire.Placed, cluster="c1", slots=SLOTS)
        life.then(wire.Reserved, cluster="c1", slots=SLOTS, expires_at=life.at, hold="placeholders")
    assert waits == [2_000, 4_000, 8_000]
    # The fourth attempt is the first that is spent: of two there is another one.
    why = Outcome(Call("apply", "c1", "llm-1", 4), False, "Invalid", "as it says")
    assert verbs(decide(of(life), heard(life, outcomes=(why,)), NOW)) == ["lost", "recall", "queue"]
