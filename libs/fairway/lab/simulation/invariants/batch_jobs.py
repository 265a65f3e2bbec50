"""What must be so of jobs on batch resources, which become less under them, and of the online pods beside them."""

import math
from collections.abc import Callable

import msgspec

from fairway.domain import decision
from fairway.domain.batch_resources import has_batch
from fairway.domain.job import Job, State
from fairway.domain.reservations import Hold
from fairway.domain.text.decoding import decoder
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.idle.jobs import IdleJobs
from fairway.lab.simulation.idle.member import IdleMember
from fairway.lab.simulation.idle.taken_back import BatchRecord
from fairway.lab.simulation.invariants.at_the_end import rows
from fairway.lab.simulation.members import pods
from fairway.lab.simulation.members.member import HOSTILE
from fairway.runtime.ports import Delivery
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from fairway.workloads.member_copy import JOB_LABEL

_message = decoder(wire.Message)
_hold = msgspec.json.Decoder(Hold).decode
# For so long (ms) a running job lacks pods before it is taken back, and one that does not start waits.
SHORT_MS = 60_000
START_MS = 90_000
# How late (ms) the watcher may know what a member shows, beside the time in which its API was away: without trouble,
# and with watches that stall, and a process that stands still.
_LATE_MS = 2_000
_TROUBLED_MS = 400_000
# How long (ms) it may take beside that until a job is taken back: two sweeps for those who lack pods.
_SWEEP_MS = 60_000
_NORMAL = ("cpu", "memory")
Wrong = Callable[[str, str, str], None]


class BatchChecks:
    """`jobs` asked for batch resources; `wrong` is told the rule, the job and a sentence; `shrunk` counts how often one
    was taken back for want of them, `moved` how often it went elsewhere then."""

    def __init__(self, fleet: SimulatedFleet, jobs: IdleJobs, wrong: Wrong) -> None:
        self._fleet = fleet
        self._jobs = jobs
        self._wrong = wrong
        self.shrunk = 0
        self.moved = 0
        self._dispatched: dict[tuple[str, int], int] = {}
        self._on_normal: set[tuple[str, int]] = set()

    def stored(self, stream: str, delivery: Delivery) -> None:
        message = _message(delivery.data) if stream == "JOBS" else None
        if isinstance(message, wire.Dequeued):
            there = self._on_normal.discard if has_batch(message.charge) else self._on_normal.add
            there((message.job, message.attempt))
        if isinstance(message, wire.Dispatched):
            self._dispatched.setdefault((message.job, message.attempt), message.at)
        if isinstance(message, wire.Lost) and message.why.code is Code.BATCH_SHRUNK:
            self.shrunk += 1
            member = self._fleet.members[message.cluster]
            normal = message.job not in self._jobs.jobs or (message.job, message.attempt) in self._on_normal
            if normal or not isinstance(member, IdleMember):
                self._wrong("batch", message.job, "it was taken back for want of resources that it never asked for")
            elif (message.job, message.attempt) in member.touched:
                return
            elif message.why.text.startswith("no longer up") and not self._lacked(member, message):
                text = f"attempt {message.attempt} in {member.name} was taken back, and did not lack pods for long"
                self._wrong("batch", message.job, text)
            elif message.why.text.startswith("not running") and not self._waited(member, message):
                text = f"attempt {message.attempt} in {member.name} was taken back, and had started or was to start yet"
                self._wrong("batch", message.job, text)

    def _lacked(self, member: IdleMember, message: wire.Lost) -> bool:
        """For so long before it was taken back, as far as that could be known."""
        known = message.at - self._late(member, message.at)
        times = member.short.get((message.job, message.attempt), ())
        return any(since <= message.at - SHORT_MS and until >= known for since, until in times)

    def _waited(self, member: IdleMember, message: wire.Lost) -> bool:
        """For its start, and was not up, or no more, as far as that could be known."""
        key = (message.job, message.attempt)
        known = message.at - self._late(member, message.at)
        down = member.up_at.get(key, message.at) >= known or any(
            until >= known for _, until in member.short.get(key, ())
        )
        return down and message.at - self._dispatched.get(key, message.at) >= START_MS

    def _late(self, member: IdleMember, at: int) -> int:
        faults = self._fleet.faults
        usual = _TROUBLED_MS if faults.profile.stalls else _LATE_MS
        away = sum(end - began for began, end in member.away_since if end > at - _TROUBLED_MS)
        return usual + away + (_TROUBLED_MS if member.away else 0)

    def look(self) -> None:
        self._look_at_online_pods()
        for job in rows(self._fleet).values():
            member = self._fleet.members.get(job.cluster)
            if job.id in self._jobs.jobs and isinstance(member, IdleMember) and self._forgotten(member, job):
                text = f"attempt {job.attempt} in {member.name} lacks pods for long, and is not taken back"
                self._wrong("batch", job.id, text)

    def _forgotten(self, member: IdleMember, job: Job) -> bool:
        """Whether a running one lacks pods for longer than it may, as far as that could be known."""
        key = (job.id, job.attempt)
        if job.state is not State.RUNNING or job.removing or key in member.touched or not has_batch(job.charge):
            return False
        faults = self._fleet.faults
        # Where processes end every few seconds nobody measures a minute.
        if faults.profile.stalls and not faults.cleared_at:
            return False
        began = faults.cleared_at
        now = self._fleet.clock.now()
        most = SHORT_MS + _SWEEP_MS + self._late(member, now)
        return any(until == math.inf and now - max(since, began) > most for since, until in member.short.get(key, ()))

    def _look_at_online_pods(self) -> None:
        """Batch pods never count against the cpu and memory of a node: no online pod waits because of one. An attempt
        asks for the one or for the other, as it was charged."""
        batch_alone = self._jobs.jobs - self._jobs.either
        for member in self._fleet.members.values():
            assert isinstance(member, IdleMember), "every member has batch resources, or none"
            for name in member.kept_out(self._jobs.either):
                self._wrong("online", "", f"{name} in {member.name} waits for what other online pods leave to it")
            for one in member.every(pods.POD):
                job = (one.obj["metadata"].get("labels") or {}).get(JOB_LABEL, "")
                asked = pods.asked(one.obj)
                if job in batch_alone and one.key.namespace != HOSTILE and any(map(asked.get, _NORMAL)):
                    self._wrong("online", job, f"pod {one.key.name} in {member.name} takes what is for online pods")
        for name in self._fleet.members:
            for key, row in self._fleet.store.rows.get(decision.ledger(name), {}).items():
                job = key.partition("/")[0]
                held = _hold(row.data).requests.values()
                normal = any(one.get(what) for one in held for what in _NORMAL)
                if job in batch_alone and normal:
                    self._wrong("online", job, f"{key} holds cpu or memory in {name}")
                elif job in self._jobs.either and normal and any(map(has_batch, held)):
                    self._wrong("batch", job, f"{key} holds batch resources and cpu or memory in {name}")

    def end(self) -> None:
        record = BatchRecord(self._fleet.bus.stored("JOBS"))
        self.moved = record.moved
        for job, text in record.wrong():
            self._wrong("batch", job, text)
