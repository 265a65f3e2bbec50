"""A process that runs every service of a large fleet, as far as a scrape sees it: settings, waiting jobs, rooms of
clusters, and what was counted."""

import itertools
from collections.abc import Iterator
from typing import Any

import msgspec
from prometheus_client import generate_latest

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.system_clock import SystemClock
from fairway.domain import decision
from fairway.domain.fold import fold
from fairway.domain.job import Job
from fairway.lab.bench.runs import ScrapeRun
from fairway.queue import service as queue
from fairway.queue.memory import QueueMemory
from fairway.reserver import service as reserver
from fairway.reserver.service import ReserverMemory
from fairway.runtime.metrics import Meter
from fairway.runtime.metrics.accumulators import OF_REQUESTS, Durations, Sample
from fairway.runtime.ports import ReadRows, Row
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.capacity import ClusterInfo, Node
from fairway.wire.flow import CONSUMERS
from fairway.wire.policy import Placement
from fairway.wire.reasons import Code, Reason
from fairway.wire.workload import PodSet, Workload

_GIB = 1 << 30
_NODE = {
    "cpu": 96_000,
    "memory": 768 * _GIB,
    "pods": 110,
    "ephemeral-storage": 1_000 * _GIB,
    "nvidia.com/gpu": 8,
    "rdma/hca": 8,
}
_USED = {"cpu": 4_000, "memory": 16 * _GIB, "pods": 12}
_HELD = {"cpu": 32_000, "memory": 256 * _GIB, "nvidia.com/gpu": 4, "pods": 4}
_SHARE = {"cpu": 100, "memory": 800 * _GIB, "nvidia.com/gpu": 8}
_OF_GROUP = 20
_WAITS = (Code.WAITING_FOR_QUOTA, Code.WAITING_FOR_ROOM, Code.BEHIND_HEAD, Code.NO_CLUSTER_EVER, Code.QUEUED)
_ENDS = (Code.JOB_FAILED, Code.VANISHED, Code.START_TIMEOUT, Code.APPLY_REFUSED, Code.CANCELLED)
_STATES = ("admitted", "dequeued", "placed", "reserved", "dispatched", "running", "returning")
_SERVICES = ("admission", "quota", "queue", "global-scheduler", "reserver", "propagator", "watcher", "hub", "inbound")
_encode = msgspec.json.Encoder().encode


class LargeFleet:
    """`page` is what a scrape is answered with."""

    def __init__(self, run: ScrapeRun) -> None:
        self._run = run
        self._catalog = Catalog()
        self._clock = SystemClock()
        self._meter = Meter(self._catalog)
        self._settings()
        self._counted()
        told: list[QueueMemory] = []
        of_queue = queue.service(self._catalog, self._meter, told)
        of_reserver = reserver.service(MemoryBus(self._clock), self._catalog)
        queues = of_queue.gauges
        rooms = of_reserver.gauges
        assert queues is not None and rooms is not None, "both tell of themselves"
        waiting = self._waiting(of_queue.memory())
        self._rooms = self._filled(of_reserver.memory())
        self._meter.sources.all += [
            lambda: queues(waiting, self._clock.now()),
            lambda: rooms(self._rooms, self._clock.now()),
            self._others,
        ]

    def page(self) -> bytes:
        return generate_latest(self._meter.registry)

    def move(self, nodes: int) -> None:
        """So many nodes change between two scrapes."""
        for name, view in itertools.islice(self._rooms.clusters.items(), nodes):
            node = next(iter(view.nodes.values()))
            taken = {"cpu": node.used["cpu"] + 1, **{key: node.used[key] for key in ("memory", "pods")}}
            self._rooms.set_node(name, node.name, msgspec.structs.replace(node, used=taken))

    def _settings(self) -> None:
        leaves: list[dict[str, Any]] = [
            {"name": name, "namespaces": [f"of-{name}"], **_quota(1, 4)} for name in self._queues()
        ]
        groups = [
            {"name": f"group-{at:03}", "children": leaves[at : at + _OF_GROUP], **_quota(_OF_GROUP, 4 * _OF_GROUP)}
            for at in range(0, len(leaves), _OF_GROUP)
        ]
        root = {"name": "root", **_quota(4 * len(leaves), 4 * len(leaves))}
        tree = {
            "apiVersion": "scheduling.sigs.k8s.io/v1beta1",
            "kind": "ElasticQuotaTree",
            "metadata": {"name": "tree", "namespace": "kube-system"},
            "spec": {"root": {**root, "children": groups}},
        }
        self._set("ElasticQuotaTree", "tree", tree)
        for name in self._clusters():
            self._set("Cluster", name, {"labels": {}})

    def _set(self, kind: str, name: str, body: Any) -> None:
        self._catalog.take(fleet.Configured(kind=kind, name=name, manifest=msgspec.Raw(_encode(body))))

    def _clusters(self) -> list[str]:
        return [f"cluster-{at:04}" for at in range(self._run.clusters)]

    def _queues(self) -> list[str]:
        return [f"team-{at:03}" for at in range(self._run.queues)]

    def _waiting(self, memory: QueueMemory) -> QueueMemory:
        queues = itertools.cycle(self._queues())
        for at, name in zip(range(self._run.jobs), queues, strict=False):
            memory.queued.put(_job(f"job-{at}", name, _WAITS[at // self._run.queues % len(_WAITS)], at))
        return memory

    def _filled(self, memory: ReserverMemory) -> ReserverMemory:
        now = self._clock.now()
        changes: list[tuple[str, str, Row | None]] = []
        for name in self._clusters():
            changes.append((decision.CLUSTERS, name, Row(1, _encode(ClusterInfo(name, observed_at=now)))))
            for at in range(self._run.nodes):
                node = Node(f"node-{at:03}", _NODE, used=_USED, holds={f"j-{at}/1": _HELD}, schedulable=at % 10 > 0)
                changes.append((decision.nodes(name), node.name, Row(1, _encode(node))))
        memory.take(ReadRows(changes=changes, version=1), (), now)
        return memory

    def _counted(self) -> None:
        tally = self._meter.jobs
        for name, code in itertools.product(self._queues(), _ENDS):
            tally.ended.add((name, "failed", code.value))
            tally.waits.observe((name,), 1)
        for name, code in itertools.product(self._clusters(), _ENDS):
            tally.attempts.add((name, code.value))
        for name in _SERVICES:
            self._meter.decisions.done(name, (True, True, False), 1)

    def _others(self) -> Iterator[Sample]:
        """What comes of rows, of the bus, of tokens and of HTTP."""
        for labels in itertools.product(self._queues(), _STATES):
            yield "fairway_jobs", labels, 1
        for name in self._clusters():
            yield "fairway_member_token_expiry_timestamp_seconds", (name,), 1.8e9
        for one in CONSUMERS:
            for what in ("pending_messages", "unacked_messages", "oldest_age_seconds"):
                yield f"fairway_consumer_{what}", (one.name,), 0
        for route in map(str, range(12)):
            yield "fairway_http_request_duration_seconds", (route,), Durations(OF_REQUESTS)
            for code in ("200", "202", "400", "401", "403", "404", "409", "422", "429", "503"):
                yield "fairway_http_requests_total", (route, "GET", code), 1


def series(page: bytes) -> int:
    return sum(not line.startswith(b"#") for line in page.splitlines())


def _quota(least: int, most: int) -> dict[str, dict[str, int]]:
    return {
        "min": {name: amount * least for name, amount in _SHARE.items()},
        "max": {name: amount * most for name, amount in _SHARE.items()},
    }


def _job(name: str, queue_name: str, code: Code, at: int) -> Job:
    work = Workload("batch/v1", "Job", "team", name, (PodSet("Worker", 1, {"cpu": 1_000}),), 1)
    spec = wire.JobSpec(
        workload=work, policy="PropagationPolicy team/all", placement=Placement(), manifest=wire.ManifestRef(1, "9f", 1)
    )
    job = fold(None, wire.Admitted(job=name, tenant="team", attempt=1, at=at, rev=1, spec=spec))
    where: dict[str, Any] = {"queue": queue_name, "leaf": ("root",), "enqueued_at": at}
    job = fold(job, wire.Queue(job=name, tenant="team", attempt=1, at=at, rev=2, **where))
    if code is Code.QUEUED:
        return job
    why = Reason(code, "it waits")
    return fold(job, wire.Blocked(job=name, tenant="team", attempt=1, at=at, rev=3, why=why))
