"""What every process of a fleet tells: a page that is well made, each fact once over all of them, and again at once
after a restart."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import msgspec
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from fairway.adapters.nats.bus import NatsBus
from fairway.lab.fleet.cluster_shapes import equal_clusters
from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan, running
from fairway.lab.traces.fleet import configured
from fairway.lab.traces.trace import GPU, TraceJob, manifest, policy, quota_tree
from fairway.runtime.metrics.families import FAMILIES
from fairway.runtime.ports import Outgoing
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.envelope import Actor
from fairway.wire.flow import CONSUMERS
from tests.exposition import complaints

CLUSTERS = equal_clusters(2, nodes=2, gpus=8)
# As they may be spread; two of them run the reserver and admission.
GROUPS = (
    ("gateway", "hub"),
    ("inbound", "admission", "reserver"),
    ("agent", "quota"),
    ("queue",),
    ("admission", "reserver"),
    ("global-scheduler", "propagator", "watcher"),
)
OF_REQUESTS = ("http_requests_total", "http_request_duration_seconds", "authz_denied_total")
DOOR = Actor("test", "test")
_SERIES = re.compile(r"(fairway_\w+)(?:\{(.*)\})? (\S+)")
_OPENMETRICS = "application/openmetrics-text; version=1.0.0"
Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


async def pages(fleet: EmbeddedFleet) -> dict[str, str]:
    """The text of each process's page, by the name of the process."""
    async with httpx.AsyncClient() as client:
        found = {}
        for name, process in fleet.processes.items():
            answer = await client.get(f"{process.said['metrics']}/metrics")
            assert answer.status_code == 200, name
            found[name] = answer.text
    return found


def summed(told: dict[str, str]) -> Series:
    """Over all processes."""
    found: Series = {}
    for text in told.values():
        for line in text.splitlines():
            if match := _SERIES.fullmatch(line):
                key = (match[1], frozenset(re.findall(r'(\w+)="([^"]*)"', match[2] or "")))
                found[key] = found.get(key, 0) + float(match[3])
    return found


def of(series: Series, name: str, **labels: str) -> float | None:
    """The sum of those that have these labels; None when there is no such series."""
    found = [v for (one, given), v in series.items() if one == f"fairway_{name}" and labels.items() <= given]
    return sum(found) if found else None


async def until(fleet: EmbeddedFleet, right: Callable[[Series], bool]) -> Series:
    """What they tell once it is so."""
    async with asyncio.timeout(60):
        while not right(series := summed(await pages(fleet))):
            await asyncio.sleep(0.2)
    return series


async def submit(bus: NatsBus, name: str, seconds: float, gpus: int = 8) -> None:
    run_ms = round(seconds * 1000)
    raw = msgspec.Raw(msgspec.json.encode(manifest(TraceJob(name, "team", 0, seconds, 1, {GPU: str(gpus)}), run_ms)))
    message = wire.Submitted(tenant="team", manifest=raw, client=name, source="test", who=DOOR)
    subject = subjects.job(message.verb, "team")
    await bus.publish([Outgoing(name, subject, msgspec.json.encode(message), "fairway.job.submitted")])


@asynccontextmanager
async def spread(dir: Path) -> AsyncIterator[tuple[EmbeddedFleet, NatsBus]]:
    async with running(dir, FleetPlan(CLUSTERS, groups=GROUPS)) as fleet:
        bus = await NatsBus.connect(fleet.nats.url, "test")
        await bus.publish([configured(one) for one in (policy("team"), quota_tree(["team"], 24, {"team": 1}))])
        try:
            yield fleet, bus
        finally:
            await bus.close()


async def test_every_process_tells_what_is_its_own_and_each_fact_is_told_once(tmp_path: Path) -> None:
    async with spread(tmp_path) as (fleet, bus):
        await submit(bus, "short", 0.5)
        await until(fleet, lambda told: of(told, "jobs_ended_total", state="succeeded") == 1)
        for name in ("a", "b", "c", "d"):
            await submit(bus, name, 3_600)
        told = await until(
            fleet,
            lambda told: (
                of(told, "jobs", queue="vc-team", state="running") == 3
                and of(told, "cluster_held", resource=GPU) == 24
                and all(of(told, "consumer_pending_messages", consumer=one.name) is not None for one in CONSUMERS)
                and all(of(told, "outbox_rows", service=one) == 0 for one in ("queue", "reserver", "hub"))
            ),
        )
        check_amounts(told)
        check_counts(told)
        for name, text in (await pages(fleet)).items():
            assert complaints(text) == [], name
        shown = {name.removesuffix("_bucket") for name, _ in told}
        unseen = {one.name for one in FAMILIES} - shown
        # No cluster was joined with a token that ends, and nobody came by HTTP.
        assert unseen <= {f"fairway_{name}" for name in ("member_token_expiry_timestamp_seconds", *OF_REQUESTS)}

        await fleet.processes["queue"].kill()
        await fleet.start_process(("queue",))
        await until(fleet, lambda told: of(told, "jobs", queue="vc-team", state="running") == 3)
        again = summed(await pages(fleet))
        assert of(again, "jobs", queue="vc-team", state="queued") == 1
        assert of(again, "quota_used", node="root/vc-team", resource=GPU) == 24


def check_amounts(told: Series) -> None:
    """Of three jobs that run and one that waits, in two clusters and a quota of 24."""
    assert of(told, "jobs", queue="vc-team", state="queued") == 1
    assert of(told, "pending_jobs", queue="vc-team", reason="WaitingForQuota") == 1
    assert of(told, "quota_used", node="root/vc-team", resource=GPU) == 24
    assert of(told, "quota_max", node="root", resource=GPU) == 24
    assert of(told, "cluster_allocatable", resource=GPU) == 32
    assert of(told, "cluster_free", resource=GPU) == 8
    assert of(told, "cluster_nodes", state="schedulable") == 4
    assert of(told, "lease_held", lease="queue") == of(told, "lease_held", lease="hub") == 1
    assert of(told, "build_info") == len(GROUPS)


def check_counts(told: Series) -> None:
    """Of them, and of one that has ended."""
    assert of(told, "job_wait_seconds_count", queue="vc-team") == 4
    for stage in ("admit", "assign"):
        assert of(told, "job_stage_duration_seconds_count", stage=stage) == 5
    for stage in ("queue", "place", "reserve", "dispatch", "start"):
        assert of(told, "job_stage_duration_seconds_count", stage=stage) == 4
    assert of(told, "rebuilds_total") == of(told, "rebuild_duration_seconds_count") == 1


async def test_openmetrics_is_told_to_who_asks_for_it(tmp_path: Path) -> None:
    async with running(tmp_path, FleetPlan((), stub_clusters=True, groups=(("queue", "reserver"),))) as fleet:
        (process,) = fleet.processes.values()
        async with httpx.AsyncClient() as client:
            answer = await client.get(f"{process.said['metrics']}/metrics", headers={"Accept": _OPENMETRICS})
        names = {one.name for one in text_string_to_metric_families(answer.text)}
        assert {"fairway_lease_changes", "fairway_rebuild_duration_seconds", "fairway_ready"} <= names
