"""The working set from the record: every job folded again from what was said about it.

Rows, live jobs, taken names, client ids, quota usage and the reservation ledger come from the jobs. Capacity does
not: it is unknown until each agent has reported, and nothing is placed on the unknown.
"""

import contextlib

import msgspec

from fairway.domain import decision
from fairway.domain.job import IN_CLUSTER, IllegalMove, Job, fold
from fairway.domain.ledger import Hold
from fairway.domain.tell import name_key, quota_key
from fairway.runtime.ports import Bus, Store
from fairway.wire import jobs as wire

# By job and rev: what was stored before an older event of the same job.
Early = dict[str, dict[int, wire.JobMessage]]
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(wire.Message).decode


class Working(msgspec.Struct):
    """What the store is going to hold: rows by table and key, and counters."""

    rows: dict[str, dict[str, tuple[int, bytes]]] = {}
    quota: dict[str, int] = {}

    def put(self, table: str, key: str, value: object, rev: int = 1) -> None:
        self.rows.setdefault(table, {})[key] = (rev, _encode(value))


async def rebuild(bus: Bus, store: Store, owner: str) -> int:
    """Fills an empty store and gives it an epoch; returns how many jobs it now knows."""
    jobs: dict[str, Job] = {}
    early: Early = {}
    last = 0
    async for delivery in bus.history("JOBS"):
        last = delivery.sequence
        try:
            message = _decode(delivery.data)
        except msgspec.DecodeError:
            continue  # its consumer has put it among the dead letters
        if message.rev:
            advance(jobs, early, message)
    settle(jobs, early)
    working = working_set(jobs)
    for table, rows in working.rows.items():
        await store.load(table, rows)
    await store.load_counters(decision.QUOTA, working.quota)
    # What was said before the wipe names smaller counts of freed room than any from now on.
    await store.load_counters(decision.FREED, {"": (last + 1) << 20})
    await store.finish_rebuild(f"{last}-{owner}")
    return len(jobs)


def advance(jobs: dict[str, Job], early: Early, message: wire.JobMessage) -> None:
    """Folds one recorded message; one that is older than the job, or may not follow, changes nothing.

    Services publish after they commit, so an event can be stored before an older one of its job: it waits in
    `early` until that one was read."""
    job = jobs.get(message.job)
    if message.rev > (job.rev if job else 0) + 1:
        early.setdefault(message.job, {})[message.rev] = message
        return
    following: wire.JobMessage | None = message
    while following is not None:
        _take(jobs, following)
        after = jobs[message.job].rev + 1 if message.job in jobs else 0
        following = early.get(message.job, {}).pop(after, None)


def settle(jobs: dict[str, Job], early: Early) -> None:
    """At the end of the record: what still waits for an event that was never stored is folded as far as it goes."""
    for waiting in early.values():
        for rev in sorted(waiting):
            _take(jobs, waiting[rev])


def _take(jobs: dict[str, Job], message: wire.JobMessage) -> None:
    job = jobs.get(message.job)
    if job is not None and message.rev <= job.rev:
        return
    with contextlib.suppress(IllegalMove):
        jobs[message.job] = fold(job, message)


def working_set(jobs: dict[str, Job]) -> Working:
    working = Working(rows={}, quota={})
    for job in jobs.values():
        working.put(decision.JOBS, job.id, job, job.rev)
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
            for node in job.path:
                for name, amount in job.charge.items():
                    key = quota_key(node, name)
                    working.quota[key] = working.quota.get(key, 0) + amount
        if job.attempts and _holds(job):
            tried = job.attempts[-1]
            hold = Hold.of(job, tried.slots, job.held_until)
            working.put(decision.ledger(tried.cluster), f"{job.id}/{tried.number}", hold)
    return working


def _holds(job: Job) -> bool:
    """Whether the room of the newest attempt is still its own: while it runs, and until nothing of it is left."""
    return job.state in IN_CLUSTER or bool(job.removing and job.recalled == job.attempts[-1].number)
