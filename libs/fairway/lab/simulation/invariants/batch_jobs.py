"""What must be so of jobs on batch resources, which become less under them, and of the online pods beside them."""

import math
import re
from collections.abc import Callable, Container, Iterable, Iterator

import msgspec
from msgspec import Struct

from fairway.domain import decision
from fairway.domain.job import Job, State
from fairway.domain.reservations import Hold
from fairway.domain.text.decoding import decoder
from fairway.domain.working_sets import WorkingSets
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.idle.member import IdleMember
from fairway.lab.simulation.invariants.at_the_end import rows
from fairway.lab.simulation.members import pods
from fairway.lab.simulation.members.member import HOSTILE
from fairway.runtime.ports import Delivery
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from fairway.workloads.member_copy import JOB_LABEL

_message = decoder(wire.Message)
_hold = msgspec.json.Decoder(Hold).decode
# For so long (ms) a running job lacks pods before it is taken back, one that does not start waits, and a job that was
# taken back goes elsewhere; and so often that costs it nothing.
SHORT_MS = 60_000
START_MS = 90_000
AVOIDED_MS = 600_000
FREE = 10
# How late (ms) the watcher may know what a member shows, beside the time in which its API was away: without trouble,
# and with watches that stall, and a process that stands still.
_LATE_MS = 2_000
_TROUBLED_MS = 400_000
# How long (ms) it may take beside that until a job is taken back: two sweeps for those who lack pods.
_SWEEP_MS = 60_000
_NORMAL = ("cpu", "memory")
_OUT_OF = re.compile(r"\(attempt (\d+) of \d+; no attempts left\)")
# Ends of attempts that are none of the job's doing, beside those for want of batch resources.
_UNSPENT = (
    Code.RESERVATION_EXPIRED,
    Code.ROOM_TAKEN,
    Code.WEBHOOK_FAILED,
    Code.NAMESPACE_TERMINATING,
    Code.SUSPENDED,
)
Wrong = Callable[[str, str, str], None]


class BatchChecks:
    """`jobs` are those that asked for batch resources; `wrong` is told the rule, the job and a sentence;
    `shrunk` counts how often one was taken back for want of them, `moved` how often it went elsewhere then."""

    def __init__(self, fleet: SimulatedFleet, jobs: Container[str], wrong: Wrong) -> None:
        self._fleet = fleet
        self._jobs = jobs
        self._wrong = wrong
        self.shrunk = 0
        self.moved = 0
        self._dispatched: dict[tuple[str, int], int] = {}

    def stored(self, stream: str, delivery: Delivery) -> None:
        message = _message(delivery.data) if stream == "JOBS" else None
        if isinstance(message, wire.Dispatched):
            self._dispatched.setdefault((message.job, message.attempt), message.at)
        if isinstance(message, wire.Lost) and message.why.code is Code.BATCH_SHRUNK:
            self.shrunk += 1
            member = self._fleet.members[message.cluster]
            if message.job not in self._jobs or not isinstance(member, IdleMember):
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
            if job.id in self._jobs and isinstance(member, IdleMember) and self._forgotten(member, job):
                text = f"attempt {job.attempt} in {member.name} lacks pods for long, and is not taken back"
                self._wrong("batch", job.id, text)

    def _forgotten(self, member: IdleMember, job: Job) -> bool:
        """Whether a running one lacks pods for longer than it may, as far as that could be known."""
        key = (job.id, job.attempt)
        if job.state is not State.RUNNING or job.removing or key in member.touched:
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
        """Batch pods never count against the cpu and memory of a node: no online pod waits because of one."""
        for member in self._fleet.members.values():
            assert isinstance(member, IdleMember), "every member has batch resources, or none"
            for name in member.kept_out():
                self._wrong("online", "", f"{name} in {member.name} waits for what other online pods leave to it")
            for one in member.every(pods.POD):
                job = (one.obj["metadata"].get("labels") or {}).get(JOB_LABEL, "")
                asked = pods.asked(one.obj)
                if job in self._jobs and one.key.namespace != HOSTILE and any(map(asked.get, _NORMAL)):
                    self._wrong("online", job, f"pod {one.key.name} in {member.name} takes what is for online pods")
        for name in self._fleet.members:
            for key, row in self._fleet.store.rows.get(decision.ledger(name), {}).items():
                job = key.partition("/")[0]
                held = _hold(row.data).requests.values()
                if job in self._jobs and any(one.get(what) for one in held for what in _NORMAL):
                    self._wrong("online", job, f"{key} holds cpu or memory in {name}")

    def end(self) -> None:
        record = BatchRecord(self._fleet.bus.stored("JOBS"))
        self.moved = record.moved
        for job, text in record.wrong():
            self._wrong("batch", job, text)


class _Told(Struct):
    """What the record says of one job so far: since when it waits and in which queue, where it may not go until when,
    which attempts were queued, which ended, by what their end costs, and whether the job did. `lost_in` is where the
    last one was taken back."""

    enqueued_at: int = 0
    queue: str = ""
    avoid: dict[str, int] = {}
    shrunk: set[int] = set()
    spent: set[int] = set()
    queued: set[int] = set()
    lost_in: str = ""
    over: bool = False


class BatchRecord:
    """What followed when jobs were taken back for want of batch resources. `moved` counts how often it was another
    cluster."""

    def __init__(self, record: Iterable[Delivery]) -> None:
        self.moved = 0
        self._told: dict[str, _Told] = {}
        self._wrong: list[tuple[str, str]] = []
        for message in _that_counts(record):
            one = self._told.setdefault(message.job, _Told())
            self._wrong += [(message.job, text) for text in self._read(one, message)]

    def wrong(self) -> Iterator[tuple[str, str]]:
        """Of each job, in a sentence."""
        yield from self._wrong
        for job, one in self._told.items():
            for attempt in sorted(one.shrunk):
                if attempt + 1 not in one.queued and not one.over:
                    yield job, f"attempt {attempt} was taken back, and none was queued after it"

    def _read(self, told: _Told, message: wire.JobMessage) -> Iterable[str]:
        match message:
            case wire.Queue():
                return _queued(told, message)
            case wire.Placed():
                if message.attempt - 1 in told.shrunk:
                    self.moved += message.cluster != told.lost_in
                return _placed(told, message)
            case wire.Lost() | wire.Failed():
                return _over(told, message)
            case wire.Cancelled() | wire.Succeeded():
                told.over = True
        return ()


def _that_counts(record: Iterable[Delivery]) -> list[wire.JobMessage]:
    """In the order of each job's revisions, without what came too late for its working set."""
    sets = WorkingSets()
    heard = [(one.sequence, _message(one.data)) for one in record]
    for sequence, message in heard:
        if isinstance(message, wire.Rebuild):
            sets.hear(message, sequence)
    counts = [message for sequence, message in heard if message.rev and not sets.late(message, sequence)]
    return sorted(counts, key=lambda message: (message.job, message.rev))


def _queued(told: _Told, message: wire.Queue) -> Iterable[str]:
    """Who was taken back comes back to where it was: same queue, same time, next attempt."""
    if message.attempt - 1 in told.shrunk and message.attempt not in told.queued:
        if message.enqueued_at != told.enqueued_at:
            yield f"attempt {message.attempt} is queued as of {message.enqueued_at}, and not {told.enqueued_at}"
        if message.queue != told.queue:
            yield f"attempt {message.attempt} is queued in {message.queue}, and not in {told.queue}"
    told.queued.add(message.attempt)
    told.enqueued_at = told.enqueued_at or message.enqueued_at
    told.queue = message.queue


def _placed(told: _Told, message: wire.Placed) -> Iterable[str]:
    if message.at < told.avoid.get(message.cluster, 0):
        left = (told.avoid[message.cluster] - message.at) / 1000
        yield f"attempt {message.attempt} is to go to {message.cluster}, which it is to avoid for {left:.0f} s"
    if message.attempt - 1 in told.shrunk and message.attempt not in told.queued:
        yield f"attempt {message.attempt} was never queued"


def _over(told: _Told, message: wire.Lost | wire.Failed) -> Iterable[str]:
    told.over = message.final
    if message.why.code is Code.BATCH_SHRUNK:
        told.shrunk.add(message.attempt)
        told.avoid[message.cluster] = message.at + AVOIDED_MS
        told.lost_in = message.cluster
        if message.final and len(told.shrunk) <= FREE:
            yield f"it was given up when it was taken back for the {len(told.shrunk)}. time, and {FREE} cost nothing"
    elif message.why.code not in _UNSPENT:
        told.spent.add(message.attempt)
    most = len(told.spent) + max(0, len(told.shrunk) - FREE)
    said = _OUT_OF.search(message.why.text)
    if message.final and said and int(said[1]) > most:
        yield f"{said[1]} attempts are said to be spent, and {most} are"
