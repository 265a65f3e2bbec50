"""Traces of real fleets as jobs to submit: one row, one job. The files are data of others and are given by path."""

import csv
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from fairway.domain.quota.node_terms import ORDER

GPU = "nvidia.com/gpu"
MODEL_LABEL = "nvidia.com/gpu.product"
# Workers of a gang are at most this large: the GPUs of one node of the trace's own clusters.
WORKER_GPUS = 8


class TraceJob(Struct, frozen=True):
    """`at` and `seconds` (how long its pods run) are in trace time, `at` from the first row. `requests` of one pod are
    Kubernetes quantities; `models` are GPU models that it may run on (none: any)."""

    name: str
    tenant: str
    at: float
    seconds: float
    pods: int
    requests: dict[str, str]
    models: tuple[str, ...] = ()
    kind: str = "PyTorchJob"

    @property
    def gpus(self) -> int:
        return self.pods * int(self.requests.get(GPU, "0"))


class Trace(Struct, frozen=True):
    """`shares` are the nodes of each tenant where the trace says so; `notes` what was done to the rows."""

    name: str
    jobs: tuple[TraceJob, ...]
    shares: dict[str, int] = {}
    notes: tuple[str, ...] = ()


def philly(file: Path, count: int) -> Trace:
    """The first `count` rows of a Philly job list (timestamp, duration, num_gpus, gpu_time, cluster), in time order:
    a gang of equal workers each, its virtual cluster as tenant. Shares are those of philly_vc.csv beside the file."""
    rows = sorted(_rows(file), key=lambda row: row["timestamp"])[:count]
    first = _moment(rows[0]["timestamp"]) if rows else 0.0
    jobs = []
    for index, row in enumerate(rows):
        gpus = max(1, int(row["num_gpus"]))
        pods = math.ceil(gpus / WORKER_GPUS)
        jobs.append(
            TraceJob(
                name=f"philly-{index}",
                tenant=row["cluster"],
                at=_moment(row["timestamp"]) - first,
                seconds=float(row["duration"]),
                pods=pods,
                requests={"cpu": "1", GPU: str(math.ceil(gpus / pods))},
            )
        )
    shares = file.with_name("philly_vc.csv")
    sizes = {row["vc"]: int(row["node num"]) for row in _rows(shares)} if shares.exists() else {}
    notes = () if sizes else ("philly_vc.csv is not beside the file: no virtual cluster has a guaranteed share",)
    return Trace("philly", tuple(jobs), sizes, notes)


def openb(file: Path, count: int, models: Iterable[str] = ()) -> Trace:
    """The first `count` rows of an openb pod list, in time order: a batch Job of one pod each, its QoS class as tenant.
    `models` are the GPU models that the fleet has; a row's gpu_spec counts only if one of them is named."""
    known = set(models)
    rows = sorted(_rows(file), key=lambda row: int(row["creation_time"]))[:count]
    first = int(rows[0]["creation_time"]) if rows else 0
    jobs = [_pod(index, row, first, known) for index, row in enumerate(rows)]
    shared = sum(0 < int(row["gpu_milli"] or 0) < 1000 for row in rows)
    never = sum(not row["scheduled_time"] for row in rows)
    notes = (
        f"{shared} rows ask for a part of a GPU; each gets a whole one",
        f"{never} rows were never scheduled; they run for as long as they were there",
    )
    return Trace("openb", tuple(jobs), {}, notes)


def _pod(index: int, row: dict[str, str], first: int, known: set[str]) -> TraceJob:
    requests = {"cpu": f"{row['cpu_milli']}m", "memory": f"{row['memory_mib']}Mi"}
    if int(row["num_gpu"] or 0):
        requests[GPU] = row["num_gpu"]
    created = int(row["creation_time"])
    began = row["scheduled_time"] or row["creation_time"]
    return TraceJob(
        name=f"openb-{index}",
        tenant=row["qos"].lower() or "none",
        at=float(created - first),
        seconds=float(max(0, int(row["deletion_time"] or began) - int(began))),
        pods=1,
        requests=requests,
        models=tuple(sorted(known.intersection(row["gpu_spec"].split("|")))),
        kind="Job",
    )


def _rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


def _moment(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def manifest(job: TraceJob, run_ms: int) -> dict[str, Any]:
    """The Kubernetes object of a row, whose pods run for `run_ms` in a simulated cluster."""
    resources = {"requests": job.requests, "limits": {name: job.requests[name] for name in job.requests if "/" in name}}
    pod: dict[str, Any] = {"containers": [{"name": "pytorch", "image": "replay", "resources": resources}]}
    if job.models:
        names = {"key": MODEL_LABEL, "operator": "In", "values": list(job.models)}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [names]}]}
        pod["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    meta = {
        "name": job.name,
        "namespace": job.tenant,
        "annotations": {"fairway.test/run-for": f"{run_ms}ms"},
    }
    if job.kind == "Job":
        pod["restartPolicy"] = "Never"
        spec: dict[str, Any] = {"parallelism": job.pods, "completions": job.pods, "template": {"spec": pod}}
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}
    workers = {"replicas": job.pods, "restartPolicy": "Never", "template": {"spec": pod}}
    spec = {"pytorchReplicaSpecs": {"Worker": workers}}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": meta, "spec": spec}


def policy(tenant: str) -> dict[str, Any]:
    """What lets a tenant's jobs go to every cluster."""
    kinds = (("kubeflow.org/v1", "PyTorchJob"), ("batch/v1", "Job"))
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": "replay", "namespace": tenant},
        "spec": {
            "resourceSelectors": [{"apiVersion": version, "kind": kind} for version, kind in kinds],
            "placement": {"clusterAffinity": {}},
        },
    }


def guaranteed(tenants: Iterable[str], gpus: int, shares: Mapping[str, int]) -> dict[str, int]:
    """GPUs by tenant: its share of the fleet, none where the trace gives no shares."""
    names = sorted(set(tenants))
    total = sum(shares.get(tenant, 0) for tenant in names)
    return {tenant: gpus * shares.get(tenant, 0) // total if total else 0 for tenant in names}


def quota_tree(tenants: Iterable[str], gpus: int, shares: Mapping[str, int], order: str = "") -> dict[str, Any]:
    """One leaf a tenant: max is the whole fleet, min what it is guaranteed. `order` is who is next (`fairway.io/order`;
    empty: the default)."""
    leaves = [
        {"name": f"vc-{tenant}", "namespaces": [tenant], "min": {GPU: least}, "max": {GPU: gpus}}
        for tenant, least in guaranteed(tenants, gpus, shares).items()
    ]
    attributes = {ORDER: order} if order else {}
    root = {"name": "root", "min": {GPU: gpus}, "max": {GPU: gpus}, "attributes": attributes, "children": leaves}
    return {
        "apiVersion": "scheduling.sigs.k8s.io/v1beta1",
        "kind": "ElasticQuotaTree",
        "metadata": {"name": "replay", "namespace": "kube-system"},
        "spec": {"root": root},
    }
