"""Which cluster is chosen, and what every other one says."""

import pytest
from msgspec.structs import replace

from fairway.placement.choose import Choice, choose
from fairway.placement.cluster import ClusterView
from fairway.placement.fleet import Fleet
from fairway.placement.scores import Weights
from fairway.placement.verdicts.sentences import sentence
from fairway.wire.policy import Affinity, Placement
from fairway.wire.reasons import Code
from fairway.wire.workload import Expression, Workload
from tests.spec.placement.builders import GPU, KIND, NOW, cluster, context, gpus, job, node, taint, tolerate, workers

ANY = Placement()


def pick(views: list[ClusterView], when: Workload, placement: Placement = ANY, **fields: object) -> Choice:
    return choose(Fleet({view.name: view for view in views}), when, placement, context(**fields))


@pytest.mark.parametrize(
    ("given", "affinity", "fields", "code", "want"),
    [
        pytest.param(
            {},
            Affinity(cluster_names=("other",)),
            {},
            Code.NOT_SELECTED,
            "the policy's clusterAffinity does not name it in clusterNames",
            id="not named",
        ),
        pytest.param(
            {},
            Affinity(cluster_names=("c",), exclude=("c",)),
            {},
            Code.NOT_SELECTED,
            "the policy's clusterAffinity excludes it by name",
            id="excluded, though named",
        ),
        pytest.param(
            {"labels": {"gpu": "v100"}},
            Affinity(labels=(Expression("gpu", "In", ("a100", "h100")),)),
            {},
            Code.LABELS_DIFFER,
            "the policy's clusterAffinity wants the cluster label gpu In (a100, h100); it is v100",
            id="another label",
        ),
        pytest.param(
            {},
            Affinity(labels=(Expression("gpu", "Exists"),)),
            {},
            Code.LABELS_DIFFER,
            "the policy's clusterAffinity wants the cluster label gpu Exists; it has none",
            id="no label",
        ),
        pytest.param(
            {"taints": (taint("own", value="x"),)},
            Affinity(),
            {},
            Code.TAINTED,
            "its taint own=x:NoSchedule is not tolerated by the policy",
            id="tainted",
        ),
        pytest.param(
            {"cordoned": True},
            Affinity(),
            {},
            Code.CORDONED,
            "it is cordoned: it is to leave the fleet and takes no new work",
            id="cordoned",
        ),
        pytest.param(
            {"kinds": ("Job.batch/v1",)},
            Affinity(),
            {},
            Code.KIND_NOT_SERVED,
            f"it does not serve {KIND}",
            id="kind not served",
        ),
        pytest.param(
            {"kinds": (), "observed_at": 0},
            Affinity(),
            {},
            Code.CAPACITY_UNKNOWN,
            "it has not reported its nodes yet",
            id="unknown before the first report, kinds included",
        ),
        pytest.param(
            {"observed_at": NOW - 42_500},
            Affinity(),
            {},
            Code.CAPACITY_STALE,
            "its last report is 42 s old; 30 s is the limit",
            id="stale",
        ),
        pytest.param(
            {},
            Affinity(),
            {"avoid": {"c": NOW + 95_000}},
            Code.RECENTLY_FAILED,
            "an attempt failed there; it is avoided for another 95 s",
            id="failed there lately",
        ),
        pytest.param(
            {"observed_at": NOW - 42_000},
            Affinity(),
            {"avoid": {"c": NOW + 95_000}},
            Code.CAPACITY_STALE,
            "its last report is 42 s old; 30 s is the limit",
            id="stale comes before failed",
        ),
        pytest.param(
            {"observed_at": NOW - 42_000},
            Affinity(exclude=("c",)),
            {},
            Code.NOT_SELECTED,
            "the policy's clusterAffinity excludes it by name",
            id="a rule comes before stale",
        ),
        pytest.param(
            {},
            Affinity(cluster_names=("c",)),
            {"avoid": {"c": NOW}},
            Code.FITS,
            "fits: needs 1 pod of 1 cpu, 1 nvidia.com/gpu, node by node 8 fit, score 1467",
            id="fits, and what was avoided until now is open again",
        ),
        pytest.param(
            {"observed_at": NOW - 30_000},
            Affinity(),
            {},
            Code.FITS,
            "fits: needs 1 pod of 1 cpu, 1 nvidia.com/gpu, node by node 8 fit, score 1467",
            id="a report exactly as old as the limit counts",
        ),
    ],
)
def test_what_a_cluster_says(given, affinity, fields, code, want) -> None:  # type: ignore[no-untyped-def]  # the table above has the types
    view = cluster(gpus(8, 0), **given)
    when = job(workers(1))
    choice = pick([view], when, Placement((affinity,)), **fields)
    assert [(one.code, sentence(one, choice.asks)) for one in choice.verdicts] == [(code, want)]
    assert choice.cluster == ("c" if code is Code.FITS else "")


def test_a_cluster_taint_that_the_policy_tolerates_is_no_obstacle() -> None:
    view = cluster(gpus(8), taints=(taint("own"),))
    assert pick([view], job(workers(1)), Placement(tolerations=(tolerate("own"),))).cluster == "c"


@pytest.mark.parametrize(
    ("given", "when", "want"),
    [
        pytest.param(
            [cluster(gpus(8, 8), "a"), cluster(gpus(2), "b")],
            job(workers(2)),
            "b",
            id="the cluster that it fills most, so that large gangs find room elsewhere",
        ),
        pytest.param(
            [cluster([node("n", gpu=8)], "a"), cluster([node("n")] * 2, "b")],
            job(workers(1, gpu=0)),
            "b",
            id="a job without GPUs keeps off GPU clusters",
        ),
        pytest.param(
            [cluster(gpus(1, 1, 1, 1), "a"), cluster(gpus(4, 0, 0, 0), "b")],
            job(workers(4)),
            "b",
            id="fewer nodes",
        ),
        pytest.param(
            [cluster(gpus(2), "a"), cluster(gpus(8, 8), "b")],
            job(workers(16), gang=2),
            "b",
            id="all of an elastic job rather than its gang alone",
        ),
        pytest.param(
            [cluster(gpus(8), "b"), cluster(gpus(8), "a")], job(workers(1)), "a", id="equal clusters go by name"
        ),
    ],
)
def test_which_cluster_wins(given: list[ClusterView], when: Workload, want: str) -> None:
    choice = pick(given, when)
    assert choice.cluster == want
    assert {one.cluster for one in choice.verdicts if one.score} == {"a", "b"}


def test_weights_change_the_winner() -> None:
    views = [cluster(gpus(8, 8), "a"), cluster(gpus(2), "b")]
    spread = Weights(tightness=0, spread_load=5)
    assert pick(views, job(workers(2)), weights=spread).cluster == "a"


def test_ordered_affinities_are_tried_one_after_another() -> None:
    views = [cluster(gpus(1), "a"), cluster(gpus(8), "b"), cluster(gpus(8), "c")]
    placement = Placement((Affinity("first", ("a",)), Affinity("second", ("c",))))
    choice = pick(views, job(workers(4)), placement)
    assert (choice.cluster, choice.affinity) == ("c", "second")
    assert [one.code for one in choice.verdicts] == [Code.NOT_ENOUGH, Code.NOT_SELECTED, Code.FITS]
    assert pick(views, job(workers(1)), placement).affinity == "first"


def test_a_choice_follows_what_happens_in_the_cluster() -> None:
    view = cluster(gpus(8))
    when = job(workers(8))
    chosen = pick([view], when)
    assert chosen.plan
    view.hold("job/1", chosen.plan.slots, {"Worker": {GPU: 1}})
    assert [(one.code, one.by_node) for one in pick([view], when).verdicts] == [(Code.NOT_ENOUGH, 0)]
    view.drop("job/1")
    assert pick([view], when) == chosen
    view.put(gpus(8, 8)[1])
    assert [(one.code, one.by_node) for one in pick([view], when).verdicts] == [(Code.FITS, 16)]
    view.info = cluster([], kinds=()).info
    assert pick([view], when).verdicts[0].code is Code.KIND_NOT_SERVED


def test_a_cluster_serves_the_kinds_of_all_that_stand_in_a_job() -> None:
    wrapped = replace(job(workers(1)), wrapped_kinds=("Job.batch/v1",))
    (verdict,) = pick([cluster(gpus(8))], wrapped).verdicts
    assert (verdict.code, verdict.about) == (Code.KIND_NOT_SERVED, "Job.batch/v1")
    both = cluster(gpus(8), kinds=(wrapped.key, "Job.batch/v1"))
    assert pick([both], wrapped).plan


def test_two_shapes_that_fit_one_by_one_but_not_together_do_not_fit() -> None:
    view = cluster([node("n", cpu=4_000, gpu=4, used={"cpu": 1})])
    both = job(workers(1, gpu=0, cpu=2_000, name="Launcher"), workers(3))
    assert [one.code for one in pick([view], both).verdicts] == [Code.NEVER_FITS]
    roomy = cluster([node("n", cpu=5_000, gpu=4, used={"cpu": 1})])
    assert [(one.code, one.by_node) for one in pick([roomy], both).verdicts] == [(Code.NOT_ENOUGH, 3)]
