"""global-scheduler: one choice over all clusters, with its proof; or what is lacking, with its numbers."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import asdict, replace

from fairway.domain.attempts.attempt import Attempt
from fairway.domain.decision import NOTHING
from fairway.domain.recorded_verdicts import scores, verdicts
from fairway.domain.resources import BATCH_CPU
from fairway.global_scheduler.decide import decide
from fairway.global_scheduler.service import SchedulerMemory
from fairway.placement.fleet import Fleet
from fairway.placement.scores import Weights
from fairway.wire import jobs as wire
from fairway.wire.policy import Affinity, Placement
from fairway.wire.reasons import Code, Reason
from fairway.wire.workload import PodSet, Workload
from tests.spec.builders.lives import T0, Life, S, dequeued, placed, queued
from tests.spec.builders.views import Given, cluster, events, heard, node, of

NOW = T0 + 60 * S
BIG = [node("n1", 32)]
HALF = [node("n1", 16), node("n2", 8), node("n3", 8)]


def where(life: Life, **nodes: Any) -> Given:
    view = of(life, freed={"c1": 2, "c2": 1})
    built = {name: one if not isinstance(one, list) else cluster(name, one, NOW) for name, one in nodes.items()}
    view.clusters = Fleet(built)
    return view


def test_the_gang_goes_where_it_fits_with_the_proof_and_every_clusters_verdict() -> None:
    (said,) = events(decide(where(dequeued(), c1=[node("n1", 8)], c2=HALF), heard(dequeued()), NOW))
    assert (said.verb, said.cluster, sum(slot.count for slot in said.slots), said.seen) == ("placed", "c2", 4, 9)
    assert {one.cluster: one.code for one in verdicts(said)} == {"c1": Code.NEVER_FITS, "c2": Code.FITS}
    assert set(scores(said)) == {"c2"}


ELSEWHERE = Placement(affinities=(Affinity(cluster_names=("c2",)),))
ORDERED = Placement(affinities=(Affinity(name="near", cluster_names=("c2",)), Affinity(name="far")))


@pytest.mark.parametrize(
    ("life", "nodes", "want"),
    [
        pytest.param(dequeued(), {"c1": BIG, "c2": BIG}, "c1", id="equal clusters: the first by name"),
        pytest.param(dequeued(placement=ELSEWHERE), {"c1": BIG, "c2": BIG}, "c2", id="only where the policy allows"),
        pytest.param(dequeued(placement=ORDERED), {"c1": BIG, "c2": HALF}, "c2", id="the first affinity that has room"),
        pytest.param(dequeued(placement=ORDERED), {"c1": BIG, "c2": []}, "c1", id="the next when it has none"),
    ],
)
def test_the_choice(life: Life, nodes: dict[str, Any], want: str) -> None:
    (said,) = events(decide(where(life, **nodes), heard(life), NOW))
    assert said.cluster == want


def test_what_each_score_counts_is_a_setting_that_stands_in_the_record() -> None:
    """The first cluster is the tighter one, the second has more to spare."""
    nodes = {"c1": [node("n1", 32)], "c2": [node("n1", 64)]}
    for weights, want in ((Weights(), "c1"), (Weights(tightness=0, spread_load=9), "c2")):
        view = where(dequeued(), **nodes)
        view.weights = weights
        (said,) = events(decide(view, heard(dequeued()), NOW))
        assert said.cluster == want
        for each in scores(said).values():
            total = each.pop("total")
            assert total == sum(weight * each[name] for name, weight in asdict(weights).items())


def test_it_is_told_with_all_that_the_scheduler_knew() -> None:
    """So that decisions are made again with the same."""
    told = SchedulerMemory(Weights(fewest_nodes=7))
    again = SchedulerMemory()
    for one in told.remembered():
        again.recall(one.table, one.key, one.rev, msgspec.json.encode(one.value))
    assert again.weights == Weights(fewest_nodes=7)


FULL = [node("n1", 32, used={"nvidia.com/gpu": 8})]
TAKEN = cluster("c1", [node("n1", 32, holds={"other/1": {"nvidia.com/gpu": 8, "pods": 1}})], NOW)
PIECES = [node("n1", 32, used={"nvidia.com/gpu": 12}), node("n2", 32, used={"nvidia.com/gpu": 20})]


@pytest.mark.parametrize(
    ("nodes", "code", "verdict"),
    [
        pytest.param({}, Code.WAITING_FOR_ROOM, None, id="no cluster yet: one may come"),
        pytest.param({"c1": FULL}, Code.WAITING_FOR_ROOM, Code.NOT_ENOUGH, id="three of four pods fit"),
        pytest.param({"c1": TAKEN}, Code.WAITING_FOR_ROOM, Code.NOT_ENOUGH, id="what is reserved is not free"),
        pytest.param({"c1": PIECES}, Code.WAITING_FOR_ROOM, Code.FRAGMENTED, id="enough by sum, not node by node"),
        pytest.param({"c1": [node("n1", 8)]}, Code.NO_CLUSTER_EVER, Code.NEVER_FITS, id="too big for all there is"),
        pytest.param(
            {"c1": cluster("c1", BIG, NOW, kinds=())}, Code.NO_CLUSTER_EVER, Code.KIND_NOT_SERVED, id="kind not served"
        ),
        pytest.param(
            {"c1": cluster("c1", BIG, NOW, observed_at=NOW - 31 * S)},
            Code.WAITING_FOR_ROOM,
            Code.CAPACITY_STALE,
            id="silent for too long",
        ),
        pytest.param(
            {"c1": cluster("c1", BIG, NOW, observed_at=0)},
            Code.WAITING_FOR_ROOM,
            Code.CAPACITY_UNKNOWN,
            id="not heard of since the cache began",
        ),
    ],
)
def test_what_is_lacking_goes_back_with_the_job(nodes: dict[str, Any], code: Code, verdict: Code | None) -> None:
    life = dequeued()
    (said,) = events(decide(where(life, **nodes), heard(life), NOW))
    assert (said.verb, said.why.code, bool(said.why.remedy), said.freed) == ("queue", code, True, 3)
    assert [one.code for one in verdicts(said)] == ([verdict] if verdict else [])
    assert (said.queue, said.leaf, said.enqueued_at) == ("gold", ("root", "root/a"), T0 + S)


def test_a_job_whose_policy_names_a_cluster_that_is_not_there_waits_for_it() -> None:
    life = dequeued(placement=ELSEWHERE)
    (said,) = events(decide(where(life, c1=BIG), heard(life), NOW))
    assert (said.verb, said.why.code, said.freed) == ("queue", Code.UNKNOWN_CLUSTER, 3)
    assert "c2" in said.why.text and said.why.remedy


def test_a_cluster_where_it_failed_is_avoided_until_its_time_is_over() -> None:
    why = Reason(Code.JOB_FAILED, "exit code 1")
    life = placed(avoid=30 * S)
    life.then(wire.Reserved, cluster="c1", slots=(), expires_at=0).then(wire.Failed, cluster="c1", why=why)
    until = life.at + 30 * S
    life.then(wire.Queue, queue="gold", enqueued_at=T0 + S, attempt=2).then(wire.Dequeued)
    view = where(life, c1=cluster("c1", BIG, until - 2 * S))
    (said,) = events(decide(view, heard(life), until - S))
    assert (said.verb, verdicts(said)[0].code) == ("queue", Code.RECENTLY_FAILED)
    assert verdicts(said)[0].numbers["until"] == until
    (said,) = events(decide(view, heard(life), until))
    assert (said.verb, said.attempt) == ("placed", 2)


def test_a_job_that_is_being_cancelled_is_not_placed() -> None:
    life = dequeued().then(wire.Recall, cluster="", why=Reason(Code.CANCELLED, "cancelled by ann"))
    (said,) = events(decide(where(life, c1=BIG), heard(life, -2), NOW))
    assert (said.verb, said.why.code) == ("queue", Code.CANCELLED)


@pytest.mark.parametrize("life", [queued(), placed()], ids=["back in its queue", "placed already"])
def test_a_turn_is_heard_once(life: Life) -> None:
    assert decide(where(life, c1=BIG), heard(dequeued()), NOW) == NOTHING


def either(batch: bool) -> Life:
    """Four pods of eight cores that may have batch resources or cpu."""
    pods = (PodSet("Worker", 4, {BATCH_CPU if batch else "cpu": 8_000}),)
    return dequeued(workload=Workload("kubeflow.org/v1", "PyTorchJob", "team-a", "llm", pods, 4, batch_first=True))


def test_what_has_no_batch_resources_is_sent_back_for_normal_ones_with_what_was_found() -> None:
    both = [replace(node("n1"), allocatable={"cpu": 64_000, BATCH_CPU: 24_000, "pods": 110})]
    life = either(batch=True)
    (said,) = events(decide(where(life, c1=both), heard(life), NOW))
    assert (said.verb, said.why.code, said.freed) == ("queue", Code.NO_BATCH_ROOM, 3)
    assert said.why.text.startswith(
        "not on batch resources, so cpu and memory are next: none of 1 clusters can take it"
    )
    assert [one.code for one in verdicts(said)] == [Code.NEVER_FITS]
    life = either(batch=False)
    (said,) = events(decide(where(life, c1=both), heard(life), NOW))
    assert said.verb == "placed"


@pytest.mark.parametrize("idle", [24_000, 4_000, 0])
def test_of_batch_resources_there_may_be_more_in_a_minute(idle: int) -> None:
    life = either(batch=True)
    work = replace(life.now.spec.workload, batch_first=False)
    life.job = replace(life.now, spec=replace(life.now.spec, workload=work))
    nodes = [replace(node("n1"), allocatable={"cpu": 64_000, BATCH_CPU: idle, "pods": 110})]
    (said,) = events(decide(where(life, c1=nodes), heard(life), NOW))
    assert (said.verb, said.why.code) == ("queue", Code.WAITING_FOR_ROOM)
    assert said.why.text.endswith("; batch resources are counted as its nodes list them now")


@pytest.mark.parametrize(
    ("code", "batch", "verb"),
    [
        pytest.param(Code.BATCH_SHRUNK, False, "placed", id="batch resources became less, and it is to have cpu"),
        pytest.param(Code.BATCH_SHRUNK, True, "queue", id="batch resources became less, and it is to have those"),
        pytest.param(Code.JOB_FAILED, False, "queue", id="it failed there"),
    ],
)
def test_where_only_batch_resources_became_less_cpu_may_be_had(code: Code, batch: bool, verb: str) -> None:
    life = either(batch)
    ended = Attempt(1, "c1", why=Reason(code, "it ended"), ended_at=1)
    life.job = replace(life.now, avoid={"c1": NOW + S}, attempts=(ended,))
    both = [replace(node("n1"), allocatable={"cpu": 64_000, BATCH_CPU: 64_000, "pods": 110})]
    (said,) = events(decide(where(life, c1=both), heard(life), NOW))
    assert said.verb == verb
