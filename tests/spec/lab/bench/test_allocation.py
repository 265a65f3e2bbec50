"""The benchmark of allocation, on fleets and lists of pods that are small enough to be worked out by hand."""

from pathlib import Path

import pytest

from fairway.client.failure import Failure
from fairway.lab.bench.allocation import load
from fairway.lab.bench.allocation.measure import allocate, measure
from fairway.lab.bench.allocation.policies import BestFitNode, FairwayNode, FreeNodes, RandomNode
from fairway.lab.bench.runs import AllocationRun
from fairway.lab.traces.trace import GPU, MODEL_LABEL
from fairway.wire.capacity import Node

NODES = "sn,cpu_milli,memory_mib,gpu,model\n"
PODS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"


def written(folder: Path, nodes: str, pods: str) -> Path:
    (folder / load.NODES).write_text(NODES + nodes)
    file = folder / "pods.csv"
    file.write_text(PODS + pods)
    return file


def pod(name: str, gpus: int = 0, milli: int = 1_000, cpu: int = 1_000, models: str = "") -> str:
    return f"{name},{cpu},1024,{gpus},{milli if gpus else 0},{models},LS,Running,0,9,1\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two nodes: one of two GPUs and much else, one of four GPUs."""
    nodes = "n0,64000,65536,2,T4\nn1,16000,65536,4,G2\n"
    pods = pod("half", 1, 500) + pod("two", 2) + pod("none", cpu=4_000) + pod("g2", 1, models="G2|G3")
    return written(tmp_path, nodes, pods)


def test_rows_become_pods_on_whole_gpus_that_know_what_they_asked_for(file: Path) -> None:
    half, two, none, g2 = load.pods(file, load.WHOLE)
    assert [(one.milli, one.job.gpus) for one in (half, two, none, g2)] == [(500, 1), (2_000, 2), (0, 0), (1_000, 1)]
    assert (none.job.requests["cpu"], GPU in none.job.requests, g2.job.models) == ("4000m", False, ("G2", "G3"))
    assert [one.job.name for one in load.pods(file, load.LEFT_OUT)] == ["two", "none", "g2"]


def test_pods_are_drawn_until_they_ask_for_130_percent_and_the_same_for_a_seed(file: Path) -> None:
    known = load.pods(file, load.WHOLE)
    first, again, other = (list(load.drawn(known, 100_000, seed)) for seed in (1, 1, 2))
    assert first == again != other
    asked = [one.milli for one in first]
    assert sum(asked) >= 130_000 > sum(asked[:-1])
    assert {one.job.name for one in first} == {"half", "two", "none", "g2"}


def named(count: int, model: str, first: int = 0) -> list[Node]:
    return [Node(f"{model}-{at}", {GPU: 1}, {MODEL_LABEL: model}) for at in range(first, first + count)]


@pytest.mark.parametrize(
    ("count", "by", "want"),
    [
        pytest.param(1, "model", [["T4"] * 2 + ["G2"] * 6], id="all in one"),
        pytest.param(2, "model", [["T4"] * 2, ["G2"] * 6], id="a cluster for each model"),
        pytest.param(3, "model", [["T4"] * 2, ["G2"] * 3, ["G2"] * 3], id="the largest is halved"),
        pytest.param(2, "round-robin", [["T4"] + ["G2"] * 3, ["T4"] + ["G2"] * 3], id="in turn"),
    ],
)
def test_nodes_are_split_into_clusters(count: int, by: str, want: list[list[str]]) -> None:
    known = [*named(2, "T4"), *named(6, "G2")]
    found = load.clusters_of(known, count, by)
    assert [[node.labels[MODEL_LABEL] for node in part] for part in found.values()] == want
    assert sorted(node.name for part in found.values() for node in part) == sorted(node.name for node in known)


def test_best_fit_takes_the_node_with_least_left_of_processors_and_gpus(file: Path) -> None:
    """Of n0 there is left 63/64 and 1/4 of the largest node, of n1 15/64 and 3/4: 1.23 and 0.98."""
    half, *_ = load.pods(file, load.WHOLE)
    free = FreeNodes(load.nodes(file))
    assert BestFitNode(free).node(half, "p") == 1


@pytest.mark.parametrize("policy", ["random", "best fit", "fairway"])
def test_every_policy_keeps_to_models_and_to_what_is_free(policy: str, file: Path) -> None:
    nodes = load.nodes(file)
    free = FreeNodes(nodes)
    picker = {
        "random": RandomNode(free, 1),
        "best fit": BestFitNode(free),
        "fairway": FairwayNode(free, load.clusters_of(nodes, 2, "model")),
    }[policy]
    g2 = load.pods(file, load.WHOLE)[3]
    found = allocate([g2] * 6, free, picker)
    # Four of the six find a GPU of G2, and the two of T4 stay empty.
    assert (found.held_130, found.asked_130, found.overfull) == (pytest.approx(400 / 6), pytest.approx(400 / 6), 0)


def test_shares_are_taken_when_pods_asked_for_all_gpus_and_in_the_end(file: Path) -> None:
    """Six GPUs. Six pods for G2 ask for all of them, and four find one; two halves get the two of T4."""
    half, _, _, g2 = load.pods(file, load.WHOLE)
    free = FreeNodes(load.nodes(file))
    found = allocate([*[g2] * 6, half, half, half], free, BestFitNode(free))
    assert (found.asked_100, found.held_100) == (pytest.approx(400 / 6), pytest.approx(400 / 6))
    assert (found.asked_130, found.held_130) == (pytest.approx(500 / 6), pytest.approx(100))


async def test_the_outcome_has_each_policy_at_both_loads_with_its_seeds(file: Path) -> None:
    outcome = await measure(AllocationRun("openb", str(file), clusters=(1, 2), seeds=3), Path(), lambda *_: None)
    policies = ("random", "best_fit", "fairway_1", "fairway_2")
    want = {f"{what}_percent_at_{at}_{one}" for what in ("allocated", "held") for at in (100, 130) for one in policies}
    assert set(outcome.figures) == want == set(outcome.details)
    assert all(0 < figure <= 100 for figure in outcome.figures.values())
    assert [len(one["by_seed"]) for one in outcome.details.values()] == [3] * len(want)
    assert outcome.counts == {"nodes": 2, "gpus": 6, "seeds": 3, "overfull": 0}


@pytest.mark.parametrize(
    ("wrong", "text"),
    [({"by": "size"}, "round-robin"), ({"trace": "philly"}, "openb"), ({"parts": "some"}, "left-out")],
)
async def test_what_is_not_known_is_refused_with_what_is(wrong: dict[str, str], text: str, file: Path) -> None:
    run = AllocationRun(**{"trace": "openb", "file": str(file), **wrong})
    with pytest.raises(Failure, match=text):
        await measure(run, Path(), lambda *_: None)


async def test_a_file_that_is_not_there_is_refused_with_what_is_needed(tmp_path: Path) -> None:
    with pytest.raises(Failure, match=load.NODES):
        await measure(AllocationRun("openb", str(tmp_path / "none.csv")), Path(), lambda *_: None)
