"""Deliberate faults of the code, one at a time; the simulation has to find each."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from fairway.adapters.memory_store import Memory, MemoryStore
from fairway.domain import tell
from fairway.domain.decision import NOTHING, Decision, Heard, Put, Write
from fairway.domain.job import Job
from fairway.placement.fit import Plan as Room
from fairway.propagator import decide as propagating
from fairway.queue import turn
from fairway.reserver import decide as reserving
from fairway.runtime import rebuild
from fairway.runtime.loop import Loop
from fairway.runtime.outbox import Outbox
from fairway.runtime.ports import Commit
from fairway.watcher import decide as watching
from fairway.watcher import missing
from fairway.workloads import render

Patch = pytest.MonkeyPatch


def unsaid(patch: Patch) -> None:
    """What a crashed instance left unsaid is not said by the next one."""

    async def forgotten(self: Outbox, entries: dict[str, bytes]) -> None:
        return None

    patch.setattr(Outbox, "_republish", forgotten)


def unguarded(patch: Patch) -> None:
    """A step is taken though its row has changed since it was read."""
    refused = MemoryStore._refused

    def taken(self: MemoryStore, write: Write) -> bool:
        return False if isinstance(write, Put) else refused(self, write)

    patch.setattr(MemoryStore, "_refused", taken)


def impatient(patch: Patch) -> None:
    """The next attempt goes while the last one is still being removed."""
    decided = propagating._recall

    def gone(view: Any, heard: Heard, now: int) -> Decision:
        if not heard.outcomes:
            return decided(view, heard, now)
        outcome = msgspec.structs.replace(heard.outcomes[-1], ok=True, body=True)
        return decided(view, msgspec.structs.replace(heard, outcomes=(outcome,)), now)

    patch.setattr(propagating, "_recall", gone)


def generous(patch: Patch) -> None:
    """Quota is given back twice."""
    settled = turn.settled
    patch.setattr(turn, "settled", lambda key, share: (*settled(key, share), *share.adds(-1)))


def greedy(patch: Patch) -> None:
    """Quota of jobs that have ended is kept."""
    owed = tell.owed
    patch.setattr(tell, "owed", lambda before, after: [] if after.ended else owed(before, after))


def hasty(patch: Patch) -> None:
    """A share of quota is free for others before the record says that it was given back."""
    owed = tell.owed

    def free(before: Job, after: Job) -> list[Write]:
        return [add for one in owed(before, after) if isinstance(one, Put) for add in one.value.adds(-1)]

    patch.setattr(tell, "owed", free)


def credulous(patch: Patch) -> None:
    """What any attempt shows is taken for what the present one does."""
    observed = watching._observed

    def believed(view: Any, heard: Heard, now: int) -> Decision:
        job: Job | None = view.jobs.get(heard.message.job)
        if job is None:
            return observed(view, heard, now)
        message = msgspec.structs.replace(heard.message, attempt=job.attempt, cluster=job.cluster)
        return observed(view, msgspec.structs.replace(heard, message=message), now)

    patch.setattr(watching, "_observed", believed)


def trusting(patch: Patch) -> None:
    """The reserver takes the scheduler's word for the room."""
    patch.setattr(reserving, "recheck", lambda cluster, workload, slots: Room(slots, sum(one.count for one in slots)))


def forgetful(patch: Patch) -> None:
    """A rebuild of the store leaves the reservations out."""
    made = rebuild.working_set

    def without(jobs: dict[str, Job], quota: dict[str, int] | None = None) -> rebuild.Working:
        working = made(jobs, quota)
        for table in [one for one in working.rows if one.startswith("ledger/")]:
            del working.rows[table]
        return working

    patch.setattr(rebuild, "working_set", without)


def unlabelled(patch: Patch) -> None:
    """Every attempt is labelled as the first."""
    labels = render.job_labels
    patch.setattr(render, "job_labels", lambda job, attempt: labels(job, 1))


def keeping(patch: Patch) -> None:
    """Room of attempts that are over is kept."""
    patch.setattr(reserving, "release", lambda view, heard, cluster, key, now: NOTHING)


def blind(patch: Patch) -> None:
    """An object that somebody has deleted is not missed."""
    patch.setattr(missing, "vanished", lambda job, answer: None)


def tardy(patch: Patch) -> None:
    """What was decided in a lost working set counts whenever it is said."""

    async def asked(self: Outbox, messages: Any, commit: Commit) -> None:
        if messages:
            await self.insist(messages, self._entries)
        self._done = (commit.key,) if messages else ()

    patch.setattr(Outbox, "publish", asked)
    patch.setattr(Loop, "_timely", lambda self, plans: plans)


def unmet(patch: Patch) -> None:
    """A store that came back as it was before goes on as if nothing had happened."""
    patch.setattr(Memory, "meet", lambda self: None)


def chained(patch: Patch) -> None:
    """A step is taken upon one that was refused, where another's row has the revision that it expects."""
    take = MemoryStore._take
    patch.setattr(MemoryStore, "_take", lambda self, step, missed: take(self, step, set()))


MUTATIONS: tuple[Callable[[Patch], None], ...] = (
    unsaid, unguarded, impatient, generous, greedy, credulous, trusting, forgetful, unlabelled, keeping, blind, tardy,
    unmet, chained, hasty,
)  # fmt: skip
