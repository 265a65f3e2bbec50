"""The working set from the record: every job folded again from what was said about it.

Rows, live jobs, taken names, client ids, quota usage and the reservation ledger come from the jobs. Capacity does
not: it is unknown until each agent has reported, and nothing is placed on the unknown.
"""

import asyncio
from collections import Counter
from itertools import islice
from typing import Union, get_args

import msgspec

from fairway.domain import decision
from fairway.domain.events import message_id, name_key, row_of
from fairway.domain.job import IN_CLUSTER, MOVES, IllegalMove, Job, fold
from fairway.domain.missing_events import over_gap
from fairway.domain.quota.shares import Share
from fairway.domain.reservations import Hold
from fairway.domain.tenancy import submission_limits
from fairway.domain.text.decoding import decoder
from fairway.domain.working_sets import WorkingSets
from fairway.runtime.ports import Bus, Outgoing, Store, Unreachable
from fairway.runtime.record.senders import in_place
from fairway.runtime.record.working_sets import rebuild_of
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.capacity import Slot

_encode = msgspec.json.Encoder().encode


class _Placed(wire.JobMessage, frozen=True, kw_only=True, tag="placed"):
    """Without the verdicts: of a hundred clusters they take as much memory as all else that is known of a job."""

    verb = "placed"
    cluster: str
    slots: tuple[Slot, ...]

    def placed(self) -> wire.Placed:
        return wire.Placed(
            job=self.job, tenant=self.tenant, attempt=self.attempt, rev=self.rev, at=self.at, cause=self.cause,
            epoch=self.epoch, cluster=self.cluster, slots=self.slots,
        )  # fmt: skip


_OTHERS = tuple(kind for kind in get_args(wire.Message) if kind is not wire.Placed)
_decode = decoder(Union[(_Placed, *_OTHERS)])  # of a tuple
# Of what changes a job: manifests as they were submitted are most of the record's bytes, and change none.
_KINDS: tuple[type[wire.JobMessage], ...] = (wire.Admitted, *MOVES)
_FOLDED = frozenset(kind.verb for kind in _KINDS)
# Events, or jobs, after which others get their turn: among them whoever renews the lock of this very rebuild.
_TURN = 200
# So many pieces of jobs are on their way to the store while the next one is made ready.
_LOADS = 2


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
        gap = job is not None and message.rev > job.rev + 1
        try:
            self._jobs[message.job] = over_gap(job, message) if job is not None and gap else fold(job, message)
        except IllegalMove:
            return

    def jobs(self) -> dict[str, Job]:
        """The jobs at the end of the record. What waits for an event that is not there is taken as it is."""
        for early in self._early.values():
            for place in sorted(early):
                self._fold(early[place])
        self._early.clear()
        return self._jobs


async def rebuild(bus: Bus, store: Store, owner: str, number: int = 1) -> int:
    """Fills an empty store and gives it an epoch; returns how many jobs it now knows. `number` counts this owner's
    rebuilds. What others decided in the former working set, and say from here on, comes too late."""
    born, sets = await _begun(bus, owner, number)
    folding, heard = Folding(sets), 0
    # All of it: to pass messages over costs the server more than to send them (docs/performance.md).
    async for delivery in bus.history(subjects.JOBS):
        heard += 1
        if heard % _TURN == 0:
            await asyncio.sleep(0)
        if delivery.subject.split(".", 3)[2] not in _FOLDED:
            continue
        try:
            folding.read(delivery.data, delivery.sequence, delivery.subject)
        except msgspec.DecodeError:
            continue  # its consumer has put it among the dead letters
    jobs = folding.jobs()
    await store.load_counters(decision.QUOTA, await _filled(store, folding, jobs))
    pending = Counter(job.tenant for job in jobs.values() if submission_limits.pending(job))
    await store.load_counters(decision.PENDING, pending)
    # What was said before the wipe names smaller counts of freed room than any from now on.
    await store.load_counters(decision.FREED, {"": born << 20})
    # Before anybody decides anything in it: whoever reads the record has to know that it was in use.
    await bus.publish([_said(wire.Rebuild(owner=owner, begun=born), number)])
    await store.finish_rebuild(f"{born}-{owner}")
    return len(jobs)


async def _filled(store: Store, folding: Folding, jobs: dict[str, Job]) -> dict[str, int]:
    """Loads the rows of these jobs; the use of quota that they make together."""
    quota: dict[str, int] = {}
    left, room = iter(jobs.items()), asyncio.Semaphore(_LOADS)

    async def load(rows: dict[str, dict[str, tuple[int, bytes]]]) -> None:
        for table, some in rows.items():
            await store.load(table, some)
        room.release()

    try:
        async with asyncio.TaskGroup() as loads:
            while piece := dict(islice(left, _TURN)):
                await room.acquire()
                loads.create_task(load(folding.working_set(piece, quota).rows))
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return quota


def _said(message: wire.Rebuild, number: int) -> Outgoing:
    name = message_id("rebuild", message.owner, number, "over" if message.begun else "begins")
    return Outgoing(name, subjects.job(message.verb, message.tenant), _encode(message), "fairway.job.rebuild")


async def _begun(bus: Bus, owner: str, number: int) -> tuple[int, WorkingSets]:
    """Says that a rebuild begins: its place in the record, and the working sets that were in use before."""
    start, sets, born = _said(wire.Rebuild(owner=owner), number), WorkingSets(), 0
    await bus.publish([start])
    async for delivery in bus.history(subjects.JOBS, (start.subject,)):
        if (message := rebuild_of(delivery)) is not None:
            sets.hear(message, delivery.sequence)
        born = delivery.sequence if delivery.id == start.id else born
    if not born:
        raise Unreachable("the record does not show yet that a rebuild has begun")
    return born, sets


def working_set(jobs: dict[str, Job], quota: dict[str, int] | None = None) -> Working:
    """What the store holds of these jobs; the use of quota is added to `quota`."""
    working = Working(rows={}, quota={} if quota is None else quota)
    for job in jobs.values():
        working.put(decision.JOBS, job.id, row_of(job), job.rev)
        if job.placed is not None and not job.ended:
            working.put(decision.PLACED, job.id, job.placed)
        if job.spec is None:
            continue
        if job.spec.client:
            working.put(decision.CLIENTS, job.spec.client, [job.id, job.spec.manifest.sha256])
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
    return working


def _holds(job: Job) -> bool:
    """Whether the room of the newest attempt is still its own: while it runs, and until nothing of it is left."""
    return job.state in IN_CLUSTER or bool(job.removing and job.recalled == job.attempts[-1].number)
