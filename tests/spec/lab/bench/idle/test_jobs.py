"""Best-effort pods of the trace as Spark jobs."""

from pathlib import Path

import pytest

from fairway.client.failure import Failure
from fairway.domain.resources import BATCH_CPU, BATCH_MEMORY
from fairway.lab.bench.idle import jobs, trace_rows
from fairway.lab.bench.idle.jobs import DAY_S, LONGEST_S, SparkJob, drawn, grouped, manifest
from fairway.lab.bench.idle.trace_rows import PodRow
from fairway.workloads.kinds.registry import read
from fairway.workloads.settings.policies import read_policy
from fairway.workloads.settings.quota_trees import read_quota_tree

HEAD = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
MIB = 2**20


def row(created: int, seconds: int = 100, cpu: int = 4_000, memory: int = 8_192) -> PodRow:
    return PodRow(cpu, memory, 0, created, seconds)


def test_rows_of_a_size_that_come_together_are_one_job_for_as_long_as_the_longest() -> None:
    first, second = grouped([row(DAY_S + 10, 100), row(DAY_S + 610, 300), row(DAY_S + 611)])
    assert (first.at, first.executors, first.seconds) == (10, 2, 300)
    assert (second.at, second.executors, second.seconds) == (611, 1, 100)
    assert len(grouped([row(0), row(0, cpu=3_000)])) == 2


def test_a_large_row_is_several_executors_and_a_long_one_is_cut() -> None:
    (found,) = grouped([row(0, 10 * LONGEST_S, 9_000, 30_000)])
    assert (found.executors, found.milli, found.mib, found.seconds) == (3, 3_000, 10_000, LONGEST_S)


def test_jobs_are_drawn_until_they_ask_for_so_much_in_the_order_of_their_times() -> None:
    known = grouped([row(7_000, 50), row(100, 200, 8_000)])
    first, again, other = (drawn(known, 20_000, ["a", "b"], seed) for seed in (1, 1, 2))
    assert first == again != other
    assert sum(job.core_seconds for job in first) >= 20_000
    assert [int(job.at) // 1_000 for job in first] == sorted(int(job.at) // 1_000 for job in first)
    assert {job.tenant for job in first} == {"a", "b"}
    assert len({job.name for job in first}) == len(first)


def test_fairway_charges_a_job_for_what_its_pods_take_of_batch_resources() -> None:
    job = SparkJob("s", "team-a", 0.0, 60.0, 3, 3_152, 5_600)
    driver, executor = read(manifest(job)).pod_sets
    assert (executor.count, executor.requests) == (3, {BATCH_CPU: 3_152, BATCH_MEMORY: 5_600 * MIB})
    assert driver.requests == {BATCH_CPU: 1_000, BATCH_MEMORY: 2_048 * MIB}
    assert manifest(job)["metadata"]["annotations"][jobs.WORK] == "180"


def test_a_team_keeps_to_its_clusters_and_has_quota_enough() -> None:
    (affinity,) = read_policy(jobs.policy("team-a", ["c2"])).placement.affinities
    assert affinity.cluster_names == ("c2",)
    (leaf,) = read_quota_tree(jobs.quota_tree(["team-a"])).children
    assert leaf.namespaces == ("team-a",)
    assert leaf.max[BATCH_CPU] >= 10**8


def written(folder: Path, rows: str) -> Path:
    (folder / trace_rows.NODES).write_text("sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,2,T4\n")
    file = folder / "pods.csv"
    file.write_text(HEAD + rows)
    return file


def test_rows_are_online_or_best_effort_and_those_that_were_never_scheduled_are_left_out(tmp_path: Path) -> None:
    lines = ("a,1000,1024,1,500,,LS,Running,5,25,10", "b,2000,2048,0,0,,BE,Failed,7,107,7", "c,1,1,0,0,,BE,Pending,9,,")
    found = trace_rows.read(written(tmp_path, "\n".join(lines)))
    assert found.online == (PodRow(1_000, 1_024, 500, 5, 15),)
    assert found.best_effort == (PodRow(2_000, 2_048, 0, 7, 100),)


@pytest.mark.parametrize(
    ("rows", "text"),
    [("a,1000,1024,0,0,,LS,Running,5,25,10", "lacks"), ("a,many,1,0,0,,LS,Running,5,25,10", "does not read")],
)
def test_a_file_that_is_something_else_is_refused_with_what_is_needed(tmp_path: Path, rows: str, text: str) -> None:
    with pytest.raises(Failure, match=text):
        trace_rows.read(written(tmp_path, rows))
    with pytest.raises(Failure, match="is not there"):
        trace_rows.read(tmp_path / "none" / "pods.csv")
