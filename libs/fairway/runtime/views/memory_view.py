"""The one view of every service: its memory, kept current by the loop, and what is recorded of that."""

from collections.abc import Callable, Sequence
from typing import Any

from fairway.domain.decision import Decision, Heard, Step, job_spoken_of
from fairway.domain.job import Job
from fairway.runtime.ports import Store, Wanted
from fairway.runtime.service import AnyService, Memory

Decide = Callable[[Any, Heard[Any], int], Decision]


class MemoryView:
    """Gives the memory what it asks for, and tells `recording` of it where there is one."""

    def __init__(self, service: AnyService) -> None:
        self.memory: Memory[Any] = service.memory()
        self._recording = service.recording
        self._shown = service.shown
        self._known: Callable[[str], Job | None] = getattr(self.memory, "known_job", _unknown)

    @property
    def jobs(self) -> dict[str, Job]:
        """A memory that knows no jobs can tell of none."""
        known: dict[str, Job] = getattr(self.memory, "jobs", {})
        return known

    async def load(self, store: Store) -> None:
        """Another working set, or a new start."""
        self.memory.begin()
        wanted = self.memory.first(None)
        while wanted is not None:
            wanted = self.memory.first(await store.read(wanted))
        if self._recording is not None:
            self._recording.begun(store.born)

    async def look(self, store: Store, heard: Sequence[Heard[Any]], now: int, lease: tuple[str, int]) -> None:
        """Reads what has to be known before these messages are decided on."""
        if self._recording is not None:
            self._recording.asked(self.memory, heard, now)
        wanted: Wanted = self.memory.wants(heard, now)
        wanted.lease, wanted.token = lease
        found = await store.read(wanted)
        if self._recording is not None:
            self._recording.took(self.memory, found, now)
        self.memory.take(found, heard, now)
        if self._shown is not None:
            self._shown(self.memory)

    def decide(self, decide: Decide, heard: Heard[Any], now: int) -> Decision:
        made = self.memory.make_up(heard, decide(self.memory, heard, now), now)
        if self._recording is not None:
            self._recording.decided(heard, made, now)
        return made

    def apply(self, step: Step) -> Job | None:
        """Its job as it was before, if the memory knows."""
        before = self._known(job_spoken_of(step)) if step.events else None
        self.memory.apply(step)
        return before

    def refused(self, step: Step) -> None:
        self.memory.refused(step)
        if self._recording is not None:
            self._recording.refused(step)

    def settled(self) -> None:
        if self._recording is not None:
            self._recording.settled()

    def torn(self) -> None:
        """Something broke: from here on nobody can follow what the memory was given."""
        if self._recording is not None:
            self._recording.torn()


def _unknown(name: str) -> None:
    """Of a memory that knows no jobs."""
