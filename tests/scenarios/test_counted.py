"""What is counted of jobs is what the record says of them: once each, whatever is decided again or delivered twice."""

import random
import re
from collections import Counter

import pytest
from prometheus_client import generate_latest

from fairway.queue.metrics.gauges import of_claims, of_quota, of_waiting
from fairway.runtime.metrics.label_values import SettingsNames
from fairway.wire import jobs as wire
from tests.exposition import complaints
from tests.scenarios.faults import BLOCK, TREE, Faults
from tests.scenarios.memory_agents import GPU
from tests.scenarios.memory_fleet import Fleet, policy, running, runs

SEEDS = (1, 2)
# What one of the tenants uses is guaranteed to the other.
_LEAVES = [
    {"name": "a", "namespaces": ["team-a"]},
    {"name": "b", "namespaces": ["team-b"], "min": {GPU: 8}},
]
SHARED = {
    "apiVersion": "scheduling.sigs.k8s.io/v1beta1",
    "kind": "ElasticQuotaTree",
    "metadata": {"name": "tree"},
    "spec": {"root": {"name": "root", "min": {GPU: 8}, "max": {GPU: 8}, "children": _LEAVES}},
}
_SERIES = re.compile(r"(fairway_\w+)(?:\{([^}]*)\})? (\S+)")


def counted(fleet: Fleet, name: str, *labels: str) -> dict[tuple[str, ...], float]:
    """By the values of these labels; 0 is left out."""
    found: Counter[tuple[str, ...]] = Counter()
    for line in generate_latest(fleet.meter.registry).decode().splitlines():
        match = _SERIES.fullmatch(line)
        if match is not None and match[1] == f"fairway_{name}":
            given = dict(re.findall(r'(\w+)="([^"]*)"', match[2] or ""))
            found[tuple(given[label] for label in labels)] += float(match[3])
    return {key: value for key, value in found.items() if value}


def ends(fleet: Fleet) -> Counter[tuple[str, ...]]:
    """Of jobs, by state, as their rows have it."""
    return Counter((job.state.value,) for job in fleet.jobs().values() if job.ended)


def attempts(fleet: Fleet) -> Counter[tuple[str, ...]]:
    """Every attempt that was ended, by the reason."""
    found: Counter[tuple[str, ...]] = Counter()
    for one in fleet.record():
        if isinstance(one, wire.Failed | wire.Lost):
            found[(one.why.code.value,)] += 1
        elif isinstance(one, wire.Succeeded):
            found[("none",)] += 1
    return found


async def test_a_job_is_counted_at_each_stage_and_at_its_end() -> None:
    async with running(c1=(8,), c2=(8,)) as fleet:
        fleet.plays["a"] = [runs(500, "Failed"), runs()]
        await fleet.submit("a", 1, 8)
        await fleet.quiet(20)
        stages = counted(fleet, "job_stage_duration_seconds_count", "stage")
        expected = {"admit": 1, "assign": 1, "queue": 2, "place": 2, "reserve": 2, "dispatch": 2, "start": 2, "run": 2}
        assert stages == {(stage,): count for stage, count in (expected | {"remove": 1}).items()}
        assert counted(fleet, "job_wait_seconds_count", "queue") == {("default",): 2}
        assert counted(fleet, "jobs_ended_total", "queue", "state", "reason") == {("default", "succeeded", "none"): 1}
        assert counted(fleet, "attempts_ended_total", "reason") == {("JobFailed",): 1, ("none",): 1}
        assert complaints(generate_latest(fleet.meter.registry).decode()) == []


async def test_a_refused_job_and_a_queue_that_is_none_are_counted_without_their_names() -> None:
    async with running(c1=(8,)) as fleet:
        fleet.configure("ClusterPropagationPolicy", "all", None)
        await fleet.submit("a")
        await fleet.quiet(1)
        fleet.configure("ClusterPropagationPolicy", "all", policy())
        await fleet.submit("b", annotations={"kube-queue/queue-name": "b" * 40})
        await fleet.quiet(20)
        ended = counted(fleet, "jobs_ended_total", "queue", "state")
        assert ended.keys() <= {("none", "rejected"), ("other", "succeeded"), ("other", "rejected")}
        assert sum(ended.values()) == 2


@pytest.mark.parametrize("seed", SEEDS)
async def test_whatever_fails_each_end_is_counted_once(seed: int) -> None:
    """Redelivered messages, refused commits, twins that decide on the same: all but a process that dies between a
    commit and its count."""
    async with running(c1=(8, 8), c2=(4, 4)) as fleet:
        fleet.configure("ElasticQuotaTree", "tree", TREE)
        fleet.configure("Queue", "strict", BLOCK)
        for stage in ("admission", "quota", "global-scheduler", "reserver", "watcher"):
            fleet.start(stage, twin="-twin")
        faults = Faults(fleet, seed, ("job", "cancel"))
        rng = random.Random(seed)
        for _ in range(25):
            await (faults.job() if rng.random() < 0.8 or not faults.ids else faults.cancel())
            await fleet.quiet(rng.choice((0, 0.2, 1)))
        await fleet.quiet(60)
        assert counted(fleet, "jobs_ended_total", "state") == ends(fleet)
        told = counted(fleet, "attempts_ended_total", "reason")
        assert {key: count for key, count in told.items() if key != ("Cancelled",)} == attempts(fleet)


async def test_queues_and_quota_are_told_from_memory_right_after_a_restart() -> None:
    async with running(c1=(8,)) as fleet:
        fleet.configure("ElasticQuotaTree", "tree", TREE)
        fleet.configure("Queue", "strict", BLOCK)
        fleet.plays["a"] = [runs(60_000)]
        for name in ("a", "b", "c"):
            await fleet.submit(name, 1, 8)
            await fleet.quiet(1)
        before = told(fleet)
        assert before["fairway_jobs", ("a", "queued")] == 2
        assert before["fairway_jobs", ("strict", "queued")] == 0
        assert sum(value for (name, _), value in before.items() if name == "fairway_pending_jobs") == 2
        assert before["fairway_oldest_pending_seconds", ("a",)] >= 1
        assert before["fairway_quota_used", ("root/a", GPU, "integer")] == 8
        assert before["fairway_quota_max", ("root", GPU, "integer")] == 20
        await fleet.crash("queue")
        await fleet.quiet(0.5)
        after = told(fleet)
        ages = "fairway_oldest_pending_seconds"
        assert {key: value for key, value in after.items() if key[0] != ages} == {
            key: value for key, value in before.items() if key[0] != ages
        }
        fleet.configure("Queue", "strict", None)
        assert ("fairway_jobs", ("strict", "queued")) not in told(fleet)


async def test_an_eviction_is_counted_once_and_the_claim_by_its_end() -> None:
    async with running(c1=(8,)) as fleet:
        fleet.configure("ElasticQuotaTree", "tree", SHARED)
        fleet.plays["a"] = fleet.plays["b"] = [runs(ends=""), runs(ends="")]
        await fleet.submit("a", 1, 8, namespace="team-a")
        await fleet.quiet(2)
        assert told(fleet)["fairway_evictions_most", ()] == 0
        await fleet.submit("b", 1, 8, namespace="team-b")
        await fleet.quiet(10)
        assert told(fleet)["fairway_claims_open", ()] == 0
        assert told(fleet)["fairway_evictions_most", ()] == 1
        assert counted(fleet, "evictions_total", "cause") == {("Reclaim",): 1}
        assert counted(fleet, "claims_ended_total", "reason") == {("Used",): 1}
        assert counted(fleet, "evictions_wasted_total", "reason") == {}
        assert counted(fleet, "claim_duration_seconds_count") == {(): 1}
        assert counted(fleet, "attempts_ended_total", "reason") == {("Reclaimed",): 1}
        await fleet.crash("queue")
        await fleet.quiet(0.5)
        assert told(fleet)["fairway_evictions_most", ()] == 1
        assert complaints(generate_latest(fleet.meter.registry).decode()) == []


async def test_an_eviction_for_a_job_that_is_cancelled_meanwhile_is_counted_as_wasted() -> None:
    async with running(c1=(8,)) as fleet:
        fleet.configure("ElasticQuotaTree", "tree", SHARED)
        fleet.plays["a"] = fleet.plays["b"] = [runs(ends=""), runs(ends="")]
        await fleet.submit("a", 1, 8, namespace="team-a", annotations={"fairway.io/evict-notice": "60s"})
        await fleet.quiet(2)
        owner = await fleet.submit("b", 1, 8, namespace="team-b")
        await fleet.quiet(10)
        assert counted(fleet, "evictions_total", "cause") == {("Reclaim",): 1}
        assert counted(fleet, "evictions_wasted_total", "reason") == {}
        await fleet.cancel(owner)
        await fleet.quiet(10)
        assert counted(fleet, "evictions_wasted_total", "reason") == {("ClaimWithdrawn",): 1}
        assert fleet.findings().evictions.wasted == {"ClaimWithdrawn": 1}
        assert counted(fleet, "claim_duration_seconds_count") == {}


def told(fleet: Fleet) -> dict[tuple[str, tuple[str, ...]], float]:
    """What the queue that runs now would tell."""
    memory = fleet.queues[-1]
    samples = [
        *of_waiting(memory.queued, SettingsNames(fleet.catalog), fleet.clock.now()),
        *of_quota(fleet.catalog.tree, memory.usage),
        *of_claims(memory.active),
    ]
    return {(name, labels): value for name, labels, value in samples}
