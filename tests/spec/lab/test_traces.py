"""Rows of a trace become jobs that admission takes, and the figures of a replay are those of the record."""

from pathlib import Path

import msgspec
import pytest

from fairway.audit.attempts import Spoken
from fairway.audit.auditor import Checker
from fairway.client.failure import Failure
from fairway.lab.fleet.cluster_shapes import equal_clusters
from fairway.lab.traces.replay import WALL_S, speedup_for
from fairway.lab.traces.report import Course, figures, percentiles
from fairway.lab.traces.report import Tally as Count
from fairway.lab.traces.run import read, split, too_fast
from fairway.lab.traces.trace import GPU, TraceJob, manifest, openb, philly, policy, quota_tree
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.workloads.kinds.registry import read as understand
from fairway.workloads.settings.policies import read_policy, select
from fairway.workloads.settings.quota_trees import read_quota_tree
from tests.spec.builders.lives import T0, S

PHILLY = "timestamp,duration,num_gpus,gpu_time,cluster\n"
OPENB = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
)


def written(folder: Path, text: str) -> Path:
    file = folder / "trace.csv"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("gpus", "pods", "each"),
    [(1, 1, "1"), (8, 1, "8"), (12, 2, "6"), (16, 2, "8"), (24, 3, "8"), (9, 2, "5"), (0, 1, "1")],
)
def test_a_philly_row_is_a_gang_of_equal_workers_of_at_most_8_gpus(
    gpus: int, pods: int, each: str, tmp_path: Path
) -> None:
    file = written(tmp_path, f"{PHILLY}2017-10-03 00:00:10,60.0,{gpus},0,6214e9\n")
    (job,) = philly(file, 10).jobs
    assert (job.pods, job.requests[GPU], job.tenant, job.seconds) == (pods, each, "6214e9", 60.0)
    work = understand(manifest(job, 12))
    assert (work.kind, work.gang_minimum, work.namespace) == ("PyTorchJob", pods, "6214e9")
    assert select([read_policy(policy("6214e9"))], manifest(job, 12))


def test_rows_are_taken_in_the_order_of_their_time_and_count_from_the_first(tmp_path: Path) -> None:
    rows = "2017-10-03 00:01:00,5,1,5,b\n2017-10-03 00:00:00,5,1,5,a\n2017-10-03 00:02:00,5,1,5,c\n"
    assert [(job.tenant, job.at) for job in philly(written(tmp_path, PHILLY + rows), 2).jobs] == [("a", 0), ("b", 60)]


@pytest.mark.parametrize(
    ("row", "requests", "seconds", "models"),
    [
        pytest.param("p,4000,8192,1,460,,LS,Running,10,50,20", {GPU: "1"}, 30, (), id="a part of a GPU is a whole one"),
        pytest.param("p,4000,8192,0,0,,BE,Running,10,50,10", {}, 40, (), id="no GPU"),
        pytest.param("p,4000,8192,8,1000,V100|T4,LS,Failed,10,50,10", {GPU: "8"}, 40, ("T4",), id="a model there is"),
        pytest.param("p,4000,8192,1,1000,A10,LS,Failed,10,50,10", {GPU: "1"}, 40, (), id="a model there is not"),
        pytest.param("p,4000,8192,1,1000,,LS,Pending,10,50,", {GPU: "1"}, 40, (), id="a row never scheduled"),
    ],
)
def test_an_openb_row_is_a_job_of_one_pod(
    row: str, requests: dict[str, str], seconds: float, models: tuple[str, ...], tmp_path: Path
) -> None:
    (job,) = openb(written(tmp_path, f"{OPENB}{row}\n"), 5, ["T4"]).jobs
    assert job.requests == {"cpu": "4000m", "memory": "8192Mi", **requests}
    assert (job.pods, job.seconds, job.models) == (1, seconds, models)
    work = understand(manifest(job, 12))
    assert (work.kind, work.gang_minimum) == ("Job", 1)
    assert bool(work.pod_sets[0].node_terms) == bool(models)


def test_the_quota_tree_is_valid_and_gives_each_tenant_its_share() -> None:
    tree = read_quota_tree(quota_tree(["a", "b", "c"], 100, {"a": 2, "b": 1}))
    assert [leaf.min.get(GPU, 0) for leaf in tree.children] == [66, 33, 0]
    assert {leaf.max[GPU] for leaf in tree.children} == {100}


def job(pods: int = 1, seconds: float = 60, **requests: str) -> TraceJob:
    return TraceJob("j", "a", 0.0, seconds, pods, {"cpu": "1", GPU: "8", **requests})


@pytest.mark.parametrize(
    ("asked", "fits"),
    [(job(pods=4), True), (job(pods=5), False), (job(cpu="97"), False), (job(**{GPU: "9"}), False)],
    ids=["a whole cluster", "more nodes than a cluster has", "more cpu than a node has", "more GPUs than a node has"],
)
def test_jobs_that_no_cluster_can_ever_hold_are_told_apart(asked: TraceJob, fits: bool) -> None:
    fitting, never = split([asked], equal_clusters(3, nodes=4, gpus=8))
    assert (len(fitting), len(never)) == ((1, 0) if fits else (0, 1))


def test_the_default_clock_runs_the_whole_trace_in_about_a_minute() -> None:
    assert speedup_for([job(seconds=600 * WALL_S)]) == 600
    assert speedup_for([job(seconds=1)]) == 1


@pytest.mark.parametrize("text", [None, "a,b\n1,2\n", PHILLY + "yesterday,1,1,1,a\n"])
def test_a_file_that_is_no_trace_is_refused_with_what_is_needed(text: str | None, tmp_path: Path) -> None:
    file = tmp_path / "absent.csv" if text is None else written(tmp_path, text)
    with pytest.raises(Failure, match=r"needs a CSV of timestamp, duration") as refused:
        read("philly", file, 10, [])
    assert refused.value.code == 2


@pytest.mark.parametrize(("values", "want"), [([], 0), ([7], 7), (range(1, 101), 95), (range(1, 11), 10)])
def test_percentiles_are_values_that_occurred(values: list[int], want: float) -> None:
    assert percentiles(list(values))["p95"] == want


def test_a_wait_is_split_into_waiting_for_room_and_the_pipelines_own() -> None:
    """At 100 times the speed: 1 s in the pipeline, 4 s told to wait for room, 1 s more until it ran, 2 s at work."""
    course = Course(job(seconds=200), T0)
    head = {"job": "j", "tenant": "a", "attempt": 1}
    told = Reason(Code.WAITING_FOR_QUOTA, "no room")
    for after, kind, more in (
        (1, wire.Queue, {"queue": "q"}),
        (1, wire.Blocked, {"why": told}),
        (5, wire.Dequeued, {}),
        (6, wire.Running, {"cluster": "c1"}),
        (8, wire.Succeeded, {"cluster": "c1"}),
    ):
        course.take(kind(at=T0 + after * S, **head, **more))
    count = Count()
    count.courses["j"] = course
    found = figures("small", count, Checker({}).findings(), 100.0, gpus=8)
    assert found.wait_seconds["p50"] == 600
    assert found.queued_seconds["p50"] == 400
    assert (found.pipeline_ms["p50"], found.pipeline_share) == (2_000, 0.3333)
    assert (found.mean_completion_seconds, found.mean_run_seconds) == (800, 200)
    assert ["33% of the waiting is the pipeline's own time, 100 times over" in note for note in too_fast(found)] == [
        True
    ]
    assert found.gpu_utilisation == 0.25  # 8 GPUs for 200 of 800 seconds


def test_a_tally_knows_a_job_by_the_submission_that_caused_it() -> None:
    count = Count()
    count.submit("s1", job(), T0)
    refused = wire.Rejected(
        job="j-1", tenant="a", rev=1, at=T0 + 1, cause="s1", reasons=(Reason(Code.NO_POLICY, "none"),)
    )
    for message in (refused, msgspec.structs.replace(refused, job="j-2", cause="somebody else's")):
        count.hear(Spoken(1, "m1", "", message))
    assert (count.done, count.accepted, count.courses["s1"].end) == (1, 0, "rejected")
