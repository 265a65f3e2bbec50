"""Quota trees, classes and jobs of a fleet in memory, and who had to go in it."""

from collections.abc import Sequence
from typing import Any

from fairway.domain.job import Job, State
from fairway.domain.preemption.claim import is_claims
from fairway.wire import jobs as wire
from fairway.wire.preemption.claims import Cause, Claimed
from fairway.wire.reasons import Code
from tests.scenarios.memory_agents import GPU
from tests.scenarios.memory_fleet import Fleet, runs
from tests.support.memory.cluster import Scene

FOREVER: list[Sequence[Scene]] = [runs(ends=""), runs(ends=""), runs(ends="")]


def tree(fleet: Fleet, total: int = 24, order: str = "time", **leaves: dict[str, Any]) -> None:
    """Under a root of so many GPUs: by the namespace that each leaf is named after, its attributes, min and max."""
    children = [
        {"name": name, **({} if "children" in spec else {"namespaces": [f"team-{name}"]}), **spec}
        for name, spec in leaves.items()
    ]
    root = {
        "name": "root",
        "min": {GPU: total},
        "max": {GPU: total},
        "children": children,
        "attributes": {"fairway.io/order": order},
    }
    head = {"apiVersion": "scheduling.sigs.k8s.io/v1beta1", "kind": "ElasticQuotaTree", "metadata": {"name": "t"}}
    fleet.configure("ElasticQuotaTree", "t", {**head, "spec": {"root": root}})


def least(gpus: int, **attributes: str) -> dict[str, Any]:
    return {"min": {GPU: gpus}, "attributes": {name.replace("_", "-"): value for name, value in attributes.items()}}


def classes(fleet: Fleet, **values: int) -> None:
    for name, value in values.items():
        fleet.configure("PriorityClass", name, {"value": value, "metadata": {"name": name}})


def bounds(fleet: Fleet, namespace: str, *priority_classes: str) -> None:
    """No others may be named in the namespace."""
    head = {"apiVersion": "fairway.io/v1alpha1", "kind": "TenantProfile", "metadata": {"name": namespace}}
    spec = {"namespaces": [namespace], "priorityClasses": priority_classes}
    fleet.configure("TenantProfile", namespace, {**head, "spec": spec})


async def submit(fleet: Fleet, name: str, pods: int, gpus: int = 8, **more: Any) -> str:
    fleet.plays[name] = FOREVER
    job = await fleet.submit(name, pods, gpus, **more)
    await fleet.quiet(1)
    return job


def slowly(fleet: Fleet, seconds: float) -> None:
    """So long pods take to go from now on."""
    for cluster in fleet.clusters.values():
        cluster.slow_s = seconds


def kept(fleet: Fleet) -> list[str]:
    """The lines of the ledger that are claims'."""
    return [key for name in fleet.clusters for key in fleet.store.rows.get(f"ledger/{name}", {}) if is_claims(key)]


def evicted(fleet: Fleet) -> list[wire.Evicted]:
    return [one for one in fleet.record() if isinstance(one, wire.Evicted)]


def went(fleet: Fleet, cause: Cause) -> list[tuple[str, str]]:
    """The leaf of each that had to go, and for which leaf it went. All of them went for this cause."""
    assert {one.right for one in evicted(fleet)} <= {cause}
    jobs = fleet.jobs()
    return [(_leaf(jobs[one.job].leaf[-1]), _leaf(one.leaf)) for one in evicted(fleet)]


def claims(fleet: Fleet) -> list[Claimed]:
    return [one for one in fleet.record() if isinstance(one, Claimed)]


def waits_for(fleet: Fleet, *jobs: str) -> set[Code | None]:
    """The reasons for which these wait."""
    found = [fleet.jobs()[job] for job in jobs]
    assert {job.state for job in found} == {State.QUEUED}
    return {job.why.code if job.why is not None else None for job in found}


async def until_running(fleet: Fleet, job: str, seconds: int = 30) -> Job:
    for _ in range(seconds):
        if fleet.jobs()[job].state == "running":
            break
        await fleet.quiet(1)
    return fleet.jobs()[job]


def shares(fleet: Fleet) -> dict[str, int]:
    """How many jobs run, by the name of their leaf."""
    leaves = [_leaf(job.leaf[-1]) for job in fleet.jobs().values() if job.state == "running"]
    return {name: leaves.count(name) for name in sorted(set(leaves))}


def _leaf(path: str) -> str:
    return path.rpartition("/")[2]
