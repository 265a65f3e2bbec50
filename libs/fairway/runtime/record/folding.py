"""Jobs folded from the record, and the rows that a store holds of them."""

from typing import Union, get_args

import msgspec

from fairway.domain import decision
from fairway.domain.events import name_key, row_of
from fairway.domain.fold import fold
from fairway.domain.job import IN_CLUSTER, MOVES, IllegalMove, Job, State
from fairway.domain.preemption.open_claim import kept_key
from fairway.domain.quota.charge import Share
from fairway.domain.reservations import Hold
from fairway.domain.text.decoding import decoder
from fairway.domain.working_sets import WorkingSets
from fairway.runtime.record.missing_events import over_gap
from fairway.runtime.record.senders import in_place
from fairway.wire import jobs as wire
from fairway.wire.capacity import Slot


class _Placed(wire.JobMessage, frozen=True, kw_only=True, tag="placed"):
    """Without the verdicts: of a hundred clusters they take as much memory as all else that is known of a job."""

    verb = "placed"
    cluster: str
    slots: tuple[Slot, ...]

    def placed(self) -> wire.Placed:
        return wire.Placed(
            job=self.job,
            tenant=self.tenant,
            attempt=self.attempt,
            rev=self.rev,
            at=self.at,
            cause=self.cause,
            epoch=self.epoch,
            cluster=self.cluster,
            slots=self.slots,
        )


_encode = msgspec.json.Encoder().encode
_OTHERS = tuple(kind for kind in get_args(wire.Message) if kind is not wire.Placed)


_decode = decoder(Union[(_Placed, *_OTHERS)])  # of a tuple


class Working(msgspec.Struct):
    """What the store is going to hold: rows by table and key, and counters."""

    rows: dict[str, dict[str, tuple[int, bytes]]] = {}
    quota: dict[str, int] = {}

    def put(self, table: str, key: str, value: object, rev: int = 1) -> None:
        self.rows.setdefault(table, {})[key] = (rev, _encode(value))

    def charge(self, share: Share) -> None:
        for one in share.adds():
            self.quota[one.key] = self.quota.get(one.key, 0) + one.amount


class Folding:
    """Jobs from a record in which a later event may stand before an earlier one: services publish after they commit,
    and one that crashed in between is made up for later. Events are folded in the order of their revs; what came too
    late for its working set (one of `sets`) is passed over."""

    def __init__(self, sets: WorkingSets | None = None) -> None:
        self._sets = sets or WorkingSets()
        self._jobs: dict[str, Job] = {}
        self._early: dict[str, dict[tuple[int, str], wire.JobMessage]] = {}
        self._records: dict[str, dict[int, bytes]] = {}
        self._unsure: set[str] = set()

    def read(self, data: bytes, sequence: int = 0, subject: str = "") -> None:
        """One message as it is stored at this place, on this subject if it is known. The records of present placements
        are kept as they are."""
        message = _decode(data)
        if self._sets.late(message, sequence) or (subject and not in_place(subject, message)):
            return
        if isinstance(message, _Placed):
            if not self._others(message):
                self._records.setdefault(message.job, {})[message.rev] = data
            message = message.placed()
        self.hear(message)
        job = self._jobs.get(message.job)
        if job is not None and job.ended:
            self._records.pop(message.job, None)

    def working_set(self, jobs: dict[str, Job], quota: dict[str, int] | None = None) -> Working:
        """What the store holds of these jobs, with the whole record of each placement."""
        working = working_set(jobs, quota)
        for name in working.rows.get(decision.PLACED, ()):
            working.rows[decision.PLACED][name] = (1, self._record(name))
        return working

    def _record(self, name: str) -> bytes:
        """What was said when this job was placed where it is, without the epoch: the live row is written before it is
        known what the outbox stamps on the message."""
        placed = self._jobs[name].placed
        assert placed is not None, "it is asked of jobs that are placed"
        data = self._records[name][placed.rev]
        return data.replace(b'"epoch":%d,' % placed.epoch, b"", 1) if placed.epoch else data

    def _others(self, message: wire.JobMessage) -> bool:
        """Whether it speaks of another tenant's job."""
        job = self._jobs.get(message.job)
        return job is not None and job.tenant != message.tenant

    def hear(self, message: wire.JobMessage) -> None:
        rev = self._rev(message.job)
        if message.rev <= rev or self._others(message):
            return  # a command, or said before, or somebody else's word
        if message.rev == rev + 1 and message.job not in self._early:
            self._fold(message)
            return
        early = self._early.setdefault(message.job, {})
        early.setdefault((message.rev, message.tenant), message)
        while (ready := early.pop((self._rev(message.job) + 1, message.tenant), None)) is not None:
            self._fold(ready)
        if not early:
            del self._early[message.job]

    def _rev(self, job: str) -> int:
        known = self._jobs.get(job)
        return known.rev if known is not None else 0

    def _fold(self, message: wire.JobMessage) -> None:
        """One that may not follow, or that says a rev once more, changes nothing."""
        job = self._jobs.get(message.job)
        if job is not None and message.rev <= job.rev:
            return
        if job is not None and message.rev > job.rev + 1:
            self._unsure.add(message.job)
        try:
            self._jobs[message.job] = self._after(job, message)
        except IllegalMove:
            return
        if MOVES.get(type(message), ((), None))[1] is not None:
            self._unsure.discard(message.job)

    def _after(self, job: Job | None, message: wire.JobMessage) -> Job:
        """What is said behind a gap may leave the state open (that it is held, or to be removed): then what comes next
        tells where the job was."""
        if job is not None and message.job in self._unsure:
            return over_gap(job, message)
        return fold(job, message)

    def jobs(self) -> dict[str, Job]:
        """The jobs at the end of the record. What waits for an event that is not there is taken as it is."""
        for early in self._early.values():
            for place in sorted(early):
                self._fold(early[place])
        self._early.clear()
        return self._jobs


# Until its own room is held, the job has what is kept for its claim.
_CLAIMS = (State.QUEUED, State.DEQUEUED, State.PLACED)


def working_set(jobs: dict[str, Job], quota: dict[str, int] | None = None) -> Working:
    """What the store holds of these jobs; the use of quota is added to `quota`."""
    working = Working(rows={}, quota={} if quota is None else quota)
    for job in jobs.values():
        working.put(decision.JOBS, job.id, row_of(job), job.rev)
        if job.placed is not None and not job.ended:
            working.put(decision.PLACED, job.id, job.placed)
        if job.spec is None:
            continue
        if job.spec.client and job.submitted_as:
            working.put(decision.CLIENTS, job.spec.client, [job.id, "" if job.asked_anew else job.submitted_as.sha256])
        if job.ended:
            continue
        work = job.spec.workload
        working.put(decision.LIVE, job.id, "")
        working.put(decision.NAMES, name_key(work.namespace, work.kind, work.name), job.id)
        if job.charged:
            working.charge(Share(job.path, job.charge))
        if job.attempts and _holds(job):
            tried = job.attempts[-1]
            hold = Hold.of(job, tried.slots, job.held_until)
            working.put(decision.ledger(tried.cluster), f"{job.id}/{tried.number}", hold)
        if (claim := job.open_claim) is not None and claim.cluster and job.state in _CLAIMS:
            working.put(decision.ledger(claim.cluster), kept_key(job), Hold.of(job, claim.slots, claim.until))
    return working


def _holds(job: Job) -> bool:
    """Whether the room of the newest attempt is still its own: while it runs, and until nothing of it is left there. A
    stray of it in another cluster has none."""
    newest = job.attempts[-1]
    return job.state in IN_CLUSTER or (job.removing, job.recalled) == (newest.cluster, newest.number)
