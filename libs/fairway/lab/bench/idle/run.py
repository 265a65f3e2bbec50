"""One run of a day on a virtual clock: the real services, members that are played, and what came of each job."""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence

import msgspec
import structlog
from msgspec import Raw, Struct

from fairway.audit.attempts import Spoken
from fairway.audit.auditor import Checker
from fairway.domain.job import ends
from fairway.domain.resources import Resources
from fairway.domain.text.decoding import decoder
from fairway.lab.bench.idle import jobs as load
from fairway.lab.bench.idle.application import LostTime
from fairway.lab.bench.idle.jobs import SparkJob
from fairway.lab.bench.idle.member import SparkMember
from fairway.lab.bench.idle.node import NodeTotals, idle_node, node_group
from fairway.lab.bench.idle.online import NodeDay
from fairway.lab.kubesim.__main__ import ClusterConfig
from fairway.lab.kubesim.fit import amounts
from fairway.lab.simulation.virtual_time import run_virtual
from fairway.lab.traces.fleet import REPLAY, configured
from fairway.lab.traces.virtual.fleet import Planned, VirtualFleet
from fairway.process.main import calm_collector
from fairway.runtime.ports import Delivery, Outgoing
from fairway.wire import fleet as said
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.reasons import Code
from fairway.workloads.settings.quota_trees import read_quota_tree

# What services do by the clock comes so much more seldom; a job that lacks its executors is looked for every 10 s.
_PACE = 20.0
# After the last job came all of them have ended within this time (s), or will not.
_DRAIN_S = load.DAY_S
_encode = msgspec.json.Encoder().encode
_decode = decoder(wire.Message)
_report = decoder(said.Report)


class IdlePlan(Struct, frozen=True):
    """`homes` are the clusters that each team's jobs may go to. With `evict` koordlets evict pods, and else they only
    suppress them; with an executor goes what it did in the last `stage` seconds (0: all)."""

    days: dict[str, list[NodeDay]]
    jobs: tuple[SparkJob, ...]
    homes: Mapping[str, tuple[str, ...]]
    evict: bool = True
    stage: float = 0.0


class IdleOutcome(Struct):
    """`completions` are the seconds from a job's submission to its success, by its place in the plan. `shrunk` is how
    often a job was taken back because its batch resources became less, by what the record says."""

    completions: dict[int, float]
    totals: NodeTotals
    lost: LostTime
    shrunk: int = 0
    failed: int = 0
    violations: tuple[str, ...] = ()
    seconds: float = 0.0


def simulate_day(plan: IdlePlan) -> IdleOutcome:
    """The same plan gives the same outcome, but for `seconds`, which are those of this machine."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    began = time.monotonic()
    try:
        outcome: IdleOutcome = run_virtual(_IdleRun(plan).run())
    finally:
        structlog.configure(**before)
    outcome.seconds = round(time.monotonic() - began, 1)
    return outcome


class _IdleRun:
    def __init__(self, plan: IdlePlan) -> None:
        self._plan = plan
        self._clusters = [
            ClusterConfig(name, nodes=tuple(node_group(one, {}) for one in nodes)) for name, nodes in plan.days.items()
        ]
        tree = load.quota_tree(tuple(plan.homes))
        policies = [load.policy(team, clusters) for team, clusters in plan.homes.items()]
        self._settings = [configured(one) for one in (*policies, tree)]
        self._checker = Checker({name: _sizes(nodes) for name, nodes in plan.days.items()}, read_quota_tree(tree))
        self._outcome = IdleOutcome({}, NodeTotals(), LostTime())
        self._jobs: dict[str, int] = {}
        self._submitted: list[int] = []
        self._over = asyncio.Event()

    def _member(self, config: ClusterConfig, planned: Planned) -> SparkMember:
        nodes = [idle_node(one, self._plan.evict) for one in self._plan.days[config.name]]
        return SparkMember(config, planned, nodes, self._plan.stage)

    async def run(self) -> IdleOutcome:
        fleet = self._fleet = VirtualFleet(self._clusters, self._member, _PACE)
        fleet.bus.told = self._told
        await fleet.bus.publish(self._settings)
        async with asyncio.TaskGroup() as group:
            await fleet.start(group)
            # Whatever begins has begun, and every cluster has reported.
            await fleet.clock.sleep(1)
            calm_collector()
            lives = [group.create_task(one.live(_now() + at)) for at, one in enumerate(self._members())]
            await self._submit(fleet)
            try:
                async with asyncio.timeout(_DRAIN_S):
                    await self._over.wait()
            except TimeoutError:
                pass
            fleet.stop()
            for task in lives:
                task.cancel()
        return self._found()

    def _members(self) -> list[SparkMember]:
        return [one for one in self._fleet.members.values() if isinstance(one, SparkMember)]

    async def _submit(self, fleet: VirtualFleet) -> None:
        start = fleet.clock.now()
        for index, job in enumerate(self._plan.jobs):
            due = start + round(job.at * 1000)
            if due > fleet.clock.now():
                await fleet.clock.sleep((due - fleet.clock.now()) / 1000)
            self._submitted.append(due)
            await fleet.bus.publish([_submission(f"idle.{index}", job, due)])

    def _told(self, stream: str, delivery: Delivery) -> None:
        """Everything that is stored, at once."""
        if stream == subjects.JOBS:
            message = _decode(delivery.data)
            self._fleet.hear(message)
            self._checker.hear(Spoken(delivery.sequence, delivery.id, delivery.subject, message))
            self._hear(message)
        elif delivery.subject.startswith("fairway.cluster.report."):
            self._checker.see(_report(delivery.data))

    def _hear(self, message: wire.JobMessage) -> None:
        out = self._outcome
        if isinstance(message, wire.Admitted | wire.Rejected):
            self._jobs[message.job] = int(str(message.cause).rpartition(".")[2])
        if isinstance(message, wire.Lost) and message.why and message.why.code is Code.BATCH_SHRUNK:
            out.shrunk += 1
        if not ends(message):
            return
        if isinstance(message, wire.Succeeded):
            index = self._jobs[message.job]
            out.completions[index] = (message.at - self._submitted[index]) / 1000
        else:
            out.failed += 1
        if len(out.completions) + out.failed == len(self._plan.jobs):
            self._over.set()

    def _found(self) -> IdleOutcome:
        out = self._outcome
        for member in self._members():
            for one, total in ((member.lost, out.lost), (member.totals, out.totals)):
                for name in one.__struct_fields__:
                    setattr(total, name, getattr(total, name) + getattr(one, name))
        found = self._checker.findings().violations
        out.violations = tuple(f"{one.rule}: job {one.job}: {one.text}" for one in found)
        return out


def _now() -> float:
    return asyncio.get_running_loop().time()


def _sizes(days: Sequence[NodeDay]) -> dict[str, Resources]:
    """What each node can take beside batch resources, which come and go."""
    return {one.row.name: amounts(node_group(one, {}).node(one.row.name)["status"]["allocatable"]) for one in days}


def _submission(name: str, job: SparkJob, at: int) -> Outgoing:
    raw = Raw(_encode(load.manifest(job)))
    message = wire.Submitted(tenant=job.tenant, at=at, manifest=raw, client=job.name, source=REPLAY.via, who=REPLAY)
    return Outgoing(name, subjects.job(message.verb, job.tenant), _encode(message), "fairway.job.submitted", "/bench")
