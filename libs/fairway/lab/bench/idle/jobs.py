"""The best-effort pods of the trace as Spark jobs of a day. Pure, and the same for a seed."""

import math
from collections.abc import Sequence
from random import Random
from typing import Any

from msgspec import Struct

from fairway.domain.resources import BATCH_CPU, BATCH_MEMORY
from fairway.lab.bench.idle.trace_rows import PodRow
from fairway.workloads.reading.batch_marks import BATCH, ROOM_ANNOTATION

Json = dict[str, Any]
SPARK = "SparkApplication.sparkoperator.k8s.io/v1beta2"
# On a job's object: the executor-seconds of its work.
WORK = "fairway.test/executor-seconds"
DAY_S = 86_400
# Rows of the same size that came within this time (s) are one job.
TOGETHER_S = 600
# A row is so many executors that none of them has more millicores.
_EXECUTOR_MILLI = 4_000
# One row in twenty runs for longer; a day would tell nothing of such a job.
LONGEST_S = 6 * 3_600
DRIVER_MILLI = 1_000
_DRIVER_MIB = 2_048
# Of every pod, as Spark's own memoryOverhead has it at least.
_OVERHEAD_MIB = 384
# More than any fleet has: the quota is never what a job waits for.
_PLENTY = {BATCH_CPU: "100M", BATCH_MEMORY: "1Pi"}


class SparkJob(Struct, frozen=True):
    """`at` from the begin of the day; `seconds` how long it runs with all of its executors, each of `milli` millicores
    and `mib` of memory, overhead included."""

    name: str
    tenant: str
    at: float
    seconds: float
    executors: int
    milli: int
    mib: int

    @property
    def cores(self) -> float:
        return (self.executors * self.milli + DRIVER_MILLI) / 1000

    @property
    def core_seconds(self) -> float:
        return self.cores * self.seconds


def grouped(rows: Sequence[PodRow]) -> list[SparkJob]:
    """Every row once, at its time of the day."""
    found: list[list[PodRow]] = []
    newest: dict[tuple[int, int], list[PodRow]] = {}
    for row in sorted(rows, key=lambda row: row.created):
        size = (row.cpu_milli, row.memory_mib)
        group = newest.get(size)
        if group is None or row.created - group[0].created > TOGETHER_S:
            group = newest[size] = []
            found.append(group)
        group.append(row)
    return [_job(group) for group in found]


def _job(group: Sequence[PodRow]) -> SparkJob:
    one = group[0]
    parts = math.ceil(one.cpu_milli / _EXECUTOR_MILLI)
    return SparkJob(
        name="",
        tenant="",
        at=float(one.created % DAY_S),
        seconds=float(min(LONGEST_S, max(row.seconds for row in group))),
        executors=parts * len(group),
        milli=math.ceil(one.cpu_milli / parts),
        mib=max(2 * _OVERHEAD_MIB, one.memory_mib // parts),
    )


def drawn(known: Sequence[SparkJob], core_seconds: float, teams: Sequence[str], seed: int) -> list[SparkJob]:
    """Jobs by chance until they ask for so much, each of a team by chance, in the order of their times."""
    draw = Random(seed)
    found: list[SparkJob] = []
    asked = 0.0
    while asked < core_seconds:
        job = draw.choice(known)
        asked += job.core_seconds
        found.append(job)
    found.sort(key=lambda job: job.at)
    return [_named(job, index, draw.choice(teams)) for index, job in enumerate(found)]


def _named(job: SparkJob, index: int, team: str) -> SparkJob:
    # Of those that were drawn twice none comes at the same time as the other.
    at = job.at + index % 60
    return SparkJob(f"spark-{index}", team, at, job.seconds, job.executors, job.milli, job.mib)


def manifest(job: SparkJob) -> Json:
    annotations = {ROOM_ANNOTATION: BATCH, WORK: f"{job.executors * job.seconds:.0f}"}
    executor = {"instances": job.executors, "coreRequest": f"{job.milli}m", **_memory(job.mib)}
    return {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": {"name": job.name, "namespace": job.tenant, "annotations": annotations},
        "spec": {
            "type": "Scala",
            "mode": "cluster",
            "image": "spark",
            "mainApplicationFile": "local:///opt/spark/app.jar",
            "restartPolicy": {"type": "OnFailure", "onFailureRetries": 3},
            "driver": {"coreRequest": f"{DRIVER_MILLI}m", **_memory(_DRIVER_MIB)},
            "executor": executor,
        },
    }


def _memory(mib: int) -> Json:
    return {"memory": f"{mib - _OVERHEAD_MIB}m", "memoryOverhead": f"{_OVERHEAD_MIB}m"}


def policy(tenant: str, clusters: Sequence[str]) -> Json:
    """A team's jobs go to these clusters."""
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": "idle", "namespace": tenant},
        "spec": {
            "resourceSelectors": [{"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication"}],
            "placement": {"clusterAffinity": {"clusterNames": list(clusters)}},
        },
    }


def quota_tree(tenants: Sequence[str]) -> Json:
    """A leaf for each team, all with the same rights."""
    leaves = [{"name": one, "namespaces": [one], "min": {}, "max": _PLENTY} for one in tenants]
    return {
        "apiVersion": "scheduling.sigs.k8s.io/v1beta1",
        "kind": "ElasticQuotaTree",
        "metadata": {"name": "idle", "namespace": "kube-system"},
        "spec": {"root": {"name": "root", "min": {}, "max": _PLENTY, "children": leaves}},
    }
