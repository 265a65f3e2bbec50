"""Deliberate faults of the loop, the outbox, rebuilds and the store."""

import asyncio
from typing import Any

import pytest

from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.memory.working_set import StoreContents
from fairway.domain.decision import Put, Write
from fairway.domain.job import Job
from fairway.runtime.outbox import Outbox
from fairway.runtime.ports import Commit, Fenced, StoreWiped
from fairway.runtime.record import folding
from fairway.runtime.record.found_writer import FoundWriter

Patch = pytest.MonkeyPatch


def unsaid(patch: Patch) -> None:
    """What a crashed instance left unsaid is not said by the next one."""

    async def forgotten(self: Outbox, entries: dict[str, bytes]) -> None:
        return None

    patch.setattr(Outbox, "_republish", forgotten)


def early(patch: Patch) -> None:
    """A message is acknowledged when what it caused is committed, before that is said."""
    publish = Outbox.publish

    async def later(self: Outbox, messages: Any, commit: Commit) -> None:
        self._done = ()
        task = asyncio.ensure_future(publish(self, messages, commit))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())

    patch.setattr(Outbox, "publish", later)


def unguarded(patch: Patch) -> None:
    """A step is taken though its row has changed since it was read."""
    refused = MemoryStore._refused

    def taken(self: MemoryStore, write: Write) -> bool:
        return False if isinstance(write, Put) else refused(self, write)

    patch.setattr(MemoryStore, "_refused", taken)


def chained(patch: Patch) -> None:
    """A step is taken upon one that was refused, where another's row has the revision that it expects."""
    take = MemoryStore._take
    patch.setattr(MemoryStore, "_take", lambda self, step, missed: take(self, step, set()))


def unrecorded(patch: Patch) -> None:
    """What is found apart from an event is not stored, and the event refers to it all the same."""

    async def nowhere(self: FoundWriter, *what: Any) -> int:
        return 1

    patch.setattr(FoundWriter, "_publish", nowhere)


def stale(patch: Patch) -> None:
    """The store takes what was decided on a working set that is lost, if there is another by now."""

    def unchecked(self: MemoryStore, lease: str, token: int) -> None:
        if not self.epoch:
            raise StoreWiped
        if lease and self._memory.leases.get(lease, ("", 0, 0))[1] != token:
            raise Fenced

    patch.setattr(MemoryStore, "_check", unchecked)


def forgetful(patch: Patch) -> None:
    """A rebuild of the store leaves the reservations out."""
    made = folding.working_set

    def without(jobs: dict[str, Job], quota: dict[str, int] | None = None) -> folding.Working:
        working = made(jobs, quota)
        for table in [one for one in working.rows if one.startswith("ledger/")]:
            del working.rows[table]
        return working

    patch.setattr(folding, "working_set", without)


def unmet(patch: Patch) -> None:
    """A store that came back as it was before goes on as if nothing had happened."""
    patch.setattr(StoreContents, "meet", lambda self: None)
