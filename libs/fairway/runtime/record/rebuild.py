"""The working set from the record: every job folded again from what was said about it.

Rows, live jobs, taken names, client ids, quota usage and the reservation ledger come from the jobs. Capacity does
not: it is unknown until each agent has reported, and nothing is placed on the unknown.
"""

import asyncio
from collections import Counter
from itertools import islice

import msgspec

from fairway.domain import decision
from fairway.domain.events import message_id
from fairway.domain.job import MOVES, Job
from fairway.domain.tenancy import submission_limits
from fairway.domain.working_sets import WorkingSets
from fairway.runtime.ports import Bus, Outgoing, Store, Unreachable
from fairway.runtime.record.folding import Folding
from fairway.runtime.record.working_sets import rebuild_of
from fairway.wire import flow, subjects
from fairway.wire import jobs as wire

_encode = msgspec.json.Encoder().encode


# Of what changes a job: manifests as they were submitted are most of the record's bytes, and change none.
_KINDS: tuple[type[wire.JobMessage], ...] = (wire.Admitted, *MOVES)
_FOLDED = flow.filters(*_KINDS)
# Events, or jobs, after which others get their turn: among them whoever renews the lock of this very rebuild.
_TURN = 200
# So many pieces of jobs are on their way to the store while the next one is made ready.
_LOADS = 2


async def rebuild(bus: Bus, store: Store, owner: str, number: int = 1) -> int:
    """Fills an empty store and gives it an epoch; returns how many jobs it now knows. `number` counts this owner's
    rebuilds. What others decided in the former working set, and say from here on, comes too late."""
    born, sets = await _begun(bus, owner, number)
    folding = Folding(sets)
    heard = 0
    async for delivery in bus.history(subjects.JOBS, _FOLDED):
        heard += 1
        if heard % _TURN == 0:
            await asyncio.sleep(0)
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
    # Those of a cluster one after the other: a piece of jobs is then rows of one ledger or two, not of all.
    left = iter(sorted(jobs.items(), key=_where))
    room = asyncio.Semaphore(_LOADS)

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


def _where(item: tuple[str, Job]) -> str:
    """The cluster of its newest attempt."""
    attempts = item[1].attempts
    return attempts[-1].cluster if attempts else ""


def _said(message: wire.Rebuild, number: int) -> Outgoing:
    name = message_id("rebuild", message.owner, number, "over" if message.begun else "begins")
    return Outgoing(name, subjects.job(message.verb, message.tenant), _encode(message), "fairway.job.rebuild")


async def _begun(bus: Bus, owner: str, number: int) -> tuple[int, WorkingSets]:
    """Says that a rebuild begins: its place in the record, and the working sets that were in use before."""
    start = _said(wire.Rebuild(owner=owner), number)
    sets = WorkingSets()
    born = 0
    await bus.publish([start])
    async for delivery in bus.history(subjects.JOBS, (start.subject,)):
        if (message := rebuild_of(delivery)) is not None:
            sets.hear(message, delivery.sequence)
        born = delivery.sequence if delivery.id == start.id else born
    if not born:
        raise Unreachable("the record does not show yet that a rebuild has begun")
    return born, sets
