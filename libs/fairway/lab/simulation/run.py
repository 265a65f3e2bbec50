"""One run: a fleet of a seed, its troubles, and then enough quiet for everything to end."""

import asyncio
import logging
import time
from hashlib import blake2b
from random import Random

import msgspec
import structlog

from fairway.domain import decision
from fairway.lab.fleet.decided_again import hardly_known
from fairway.lab.simulation.evictions.evictions_of_run import EvictionsOfRun
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.hub.hub_of_run import HubOfRun
from fairway.lab.simulation.idle.idle_of_run import IdleOfRun
from fairway.lab.simulation.idle.left_alone import waits_for_margin
from fairway.lab.simulation.invariants.at_the_end import rests, rows
from fairway.lab.simulation.invariants.events import EventChecks
from fairway.lab.simulation.invariants.job_events import story
from fairway.lab.simulation.invariants.removed_manifests import RemovalChecks
from fairway.lab.simulation.members import pods
from fairway.lab.simulation.members.controllers import MemberEvents
from fairway.lab.simulation.outcome import RunOutcome, RunPlan
from fairway.lab.simulation.people.administrators import Administrators, tree
from fairway.lab.simulation.people.faults import PROFILES, FaultInjector
from fairway.lab.simulation.people.users import People
from fairway.lab.simulation.virtual_time import run_virtual
from fairway.operate.replay.decisions import DecisionFilter, replay
from fairway.runtime.ports import Delivery
from fairway.workloads.settings.quota_trees import read_quota_tree

# When no fault is left, everything that can run has ended within this time (s).
LIVENESS_S = 3600.0
_LOOK_S = 30.0
# With a keeper, after all of that: in this time it removes what is left, whatever became of it before.
_KEEPERS_S = 7200.0


def simulate(plan: RunPlan) -> RunOutcome:
    """The same plan gives the same outcome, but for `seconds`. Nothing is logged meanwhile."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    started = time.process_time()
    try:
        outcome: RunOutcome = run_virtual(_Run(plan).run())
    finally:
        structlog.configure(**before)
    return msgspec.structs.replace(outcome, seconds=time.process_time() - started)


class _Run:
    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan
        rng = Random(f"{plan.seed}")
        self._faults = FaultInjector(PROFILES[plan.profile], rng)
        self._nodes = {
            f"c{index}": {f"n{node}": 8 for node in range(3 if index == 1 else rng.choice((1, 2, 3)))}
            for index in range(1, plan.clusters + 1)
        }
        self._gpus = sum(sum(nodes.values()) for nodes in self._nodes.values())
        can_take = {
            name: {node: {**pods.allocatable(pods.node(node, gpus)), "pods": 110} for node, gpus in nodes.items()}
            for name, nodes in self._nodes.items()
        }
        quota_tree = read_quota_tree(tree(self._gpus))
        self._hub: HubOfRun | None = None
        self._idle: IdleOfRun | None = None
        self._evictions: EvictionsOfRun | None = None
        self._witness = EventChecks(can_take, quota_tree, self._faults.profile.grace)

    async def run(self) -> RunOutcome:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._failed)
        witness = self._witness
        plan = self._plan
        fleet = self._fleet = witness.fleet = self._watched()
        removals = RemovalChecks(fleet, witness.breach)
        fleet.erasing = removals.erasing
        people = self._people = People(fleet, self._faults, witness, plan)
        # In a part of the fleets a job can fail for good. Drawn apart from the rest, which stays as it is.
        few = plan.idle or plan.evictions
        attempts = Random(f"attempts {plan.seed}").choice((20, 20, 3, 1) if few else (20, 20, 20, 3))
        if fleet.hub is not None:
            self._hub = HubOfRun(fleet, fleet.hub, witness, plan)
        if plan.idle:
            self._idle = IdleOfRun(fleet, witness, plan)
            people.idle = self._idle.jobs
        above = Administrators(fleet, self._faults.rng, witness, self._gpus, attempts)
        if plan.evictions:
            self._evictions = EvictionsOfRun(fleet, witness, plan)
            await self._evictions.settle_in(above, people)
        for member in fleet.members.values():
            member.fate = people.fate
        await above.settle_in()
        fleet.processes.begin()
        if self._hub is not None:
            await self._hub.in_force()
        looking = asyncio.ensure_future(self._look())
        parts = [one.live() for one in (self._hub, self._idle, self._evictions) if one is not None]
        await asyncio.gather(people.live(above), *parts)
        await self._quiet()
        if plan.keeper and not witness.breaches:
            await asyncio.sleep(_KEEPERS_S)
            removals.end()
        looking.cancel()
        self._end()
        again = await self._decided_again() if plan.replay else {}
        return msgspec.structs.replace(self._outcome(loop.time()), decided_again=again)

    def _watched(self) -> SimulatedFleet:
        """Of which the witness hears everything."""
        witness = self._witness
        heard = MemberEvents(witness.started, witness.ended, witness.gone, witness.deleted)
        fleet = SimulatedFleet(self._faults, self._nodes, heard, self._plan)
        fleet.bus.told = self._told
        fleet.store.books.wrong = witness.breach
        fleet.store.books.most = witness.most
        return fleet

    def _told(self, stream: str, delivery: Delivery) -> None:
        self._witness.stored(stream, delivery)
        if self._hub is not None:
            self._hub.stored(stream, delivery)
        if self._idle is not None:
            self._idle.checks.stored(stream, delivery)

    def _end(self) -> None:
        """What the hub shows follows from the rest, and is looked at when that holds."""
        self._witness.end()
        if self._idle is not None:
            self._idle.checks.end()
        if self._evictions is not None:
            self._evictions.checks.end()
        if self._hub is not None and not self._witness.breaches:
            for rule, job, text in self._hub.end():
                self._witness.breach(rule, job, text)

    async def _decided_again(self) -> dict[str, int]:
        """What a killed process had not stored nobody can decide again; everything else comes out the same."""
        report = await replay(self._fleet.bus, DecisionFilter())
        for one in report.different:
            self._witness.breach("replay", one.job, f"would be decided otherwise at {one.at}: {one.fields}")
        for row in report.rows:
            self._witness.breach("replay", row.key, f"{row.service} read another row: {row.table} at {row.rev}")
        for text in hardly_known(report):
            self._witness.breach("replay", "", text)
        found = {name: stage.identical for name, stage in report.stages.items()}
        return {**found, "unsaid": report.unsaid, "unknown": len(report.unknown)}

    def _failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        if "exception" in context or "vital" in context:
            self._witness.breach("failed", "", f"{context.get('message')}: {context.get('exception')!r}")

    async def _look(self) -> None:
        if self._evictions is not None:
            watching = asyncio.ensure_future(self._evictions.checks.watch())
            watching.add_done_callback(lambda done: None if done.cancelled() else done.result())
        while True:
            await asyncio.sleep(_LOOK_S)
            self._witness.look()
            if self._hub is not None:
                self._hub.look()
            if self._idle is not None:
                self._idle.checks.look()

    async def _quiet(self) -> None:
        """Nothing goes wrong any more; all that may still happen, happens. As long as jobs end, others wait for
        room."""
        self._faults.clear(self._fleet.clock.now())
        for process in self._fleet.processes.there.values():
            process.resume()
        if self._hub is not None:
            await self._hub.run_on()
        while True:
            over = await self._until_over()
            await asyncio.sleep(2 * _LOOK_S)
            # Who waited for idle resources may have got some in the meantime.
            if not over or self._idle is None or self._over():
                return

    async def _until_over(self) -> bool:
        """False when there was no end for too long, or something broke."""
        ended = 0
        end = asyncio.get_running_loop().time() + LIVENESS_S
        while asyncio.get_running_loop().time() < end and not self._witness.breaches:
            await asyncio.sleep(_LOOK_S)
            if (count := sum(job.ended for job in rows(self._fleet).values())) > ended:
                ended = count
                end = asyncio.get_running_loop().time() + LIVENESS_S
            if self._over():
                return True
        return False

    def _over(self) -> bool:
        known = rows(self._fleet)
        answered = known.keys() >= set(self._witness.submitted.values())
        waits = {name for name, job in known.items() if rests(job) or waits_for_margin(self._fleet, job)}
        over = all((job.ended and not job.removing) or name in waits for name, job in known.items())
        return bool(known) and answered and over and (self._hub is None or self._hub.settled())

    def _outcome(self, seconds: float) -> RunOutcome:
        fleet = self._fleet
        known = rows(self._fleet)
        breaches = tuple(self._witness.breaches)
        parts = (self._hub, self._idle, self._evictions)
        return RunOutcome(
            plan=self._plan,
            seed=self._plan.seed,
            steps=self._faults.steps,
            violations=breaches,
            state_hash=state_hash(fleet),
            jobs=len(known),
            attempts=sum(len(job.attempts) for job in known.values()),
            deaths=fleet.processes.deaths,
            hours=seconds / 3600,
            seconds=0.0,
            drawn=dict(sorted(sum((one.drawn for one in parts if one), self._people.drawn).items())),
            story=story(breaches, fleet.bus.stored("JOBS")),
        )


def state_hash(fleet: SimulatedFleet) -> str:
    """Of the whole record, all rows, and what is in the members."""
    found = blake2b(digest_size=16)
    for stream in ("JOBS", "CLUSTERS", "CONFIG", "DLQ"):
        for one in fleet.bus.stored(stream):
            found.update(f"{one.id} {one.subject} ".encode() + one.data)
    for table, held in sorted(fleet.store.rows.items()):
        for key, row in sorted(held.items()):
            found.update(f"{table} {key} {row.rev} ".encode() + row.data)
    found.update(repr(sorted(fleet.store.counters.get(decision.QUOTA, {}).items())).encode())
    for name, member in sorted(fleet.members.items()):
        found.update(repr((name, member.held())).encode())
    if fleet.hub is not None:
        store = fleet.hub.api.store
        for storage in sorted(store.storages()):
            for there in store.shelf(storage):
                found.update(repr((there.key, there.obj)).encode())
    return found.hexdigest()
