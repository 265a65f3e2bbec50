"""What must hold of manifests that are removed from the record: it was said before, their jobs had ended long before by
what a rebuild would make of the record, and in the end none is left of those."""

from collections.abc import Callable, Iterator

from fairway.domain.job import Job
from fairway.domain.text.decoding import decoder
from fairway.domain.working_sets import WorkingSets
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.lives import KEPT_MS
from fairway.runtime.record.folding import Folding
from fairway.wire import jobs as wire
from fairway.wire import subjects

_message = decoder(wire.Message)
# A keeper may have died, and the next one read the record again.
_LATE_MS = 3_600_000


class RemovalChecks:
    """`breach` is told of the rule, the job and a sentence."""

    def __init__(self, fleet: SimulatedFleet, breach: Callable[[str, str, str], None]) -> None:
        self._fleet = fleet
        self._breach = breach

    def erasing(self, sequence: int) -> None:
        """A message of the record is about to be deleted."""
        there = [one for one in self._messages() if one[0] == sequence]
        for _, message in there:
            if not isinstance(message, wire.Manifested):
                self._breach("manifest", message.job, f"message {sequence}, which is {message.verb}, was deleted")
        words = [one for _, one in self._messages() if isinstance(one, wire.ManifestsRemoved)]
        if there and not any(sequence == gone.sequence for one in words for gone in one.removed):
            self._breach("manifest", there[0][1].job, f"message {sequence} was deleted, and nobody had said so")
        for job in self._jobs().values():
            if sequence in _places(job) and not job.ended:
                self._breach("manifest", job.id, f"its manifest was removed, and it is {job.state.value}")
            elif sequence in _places(job) and self._fleet.clock.now() - job.since < KEPT_MS:
                self._breach("manifest", job.id, "its manifest was removed too soon after its end")

    def end(self) -> None:
        there = {sequence for sequence, message in self._messages() if isinstance(message, wire.Manifested)}
        for job in self._jobs().values():
            old = job.ended and self._fleet.clock.now() - job.since > KEPT_MS + _LATE_MS
            if old and there & _places(job):
                self._breach("manifest", job.id, "it ended long ago, and its manifest is still in the record")

    def _messages(self) -> Iterator[tuple[int, wire.JobMessage]]:
        for one in self._fleet.bus.stored(subjects.JOBS):
            yield one.sequence, _message(one.data)

    def _jobs(self) -> dict[str, Job]:
        """As a rebuild would have them."""
        sets = WorkingSets()
        for sequence, message in self._messages():
            if isinstance(message, wire.Rebuild):
                sets.hear(message, sequence)
        folding = Folding(sets)
        for one in self._fleet.bus.stored(subjects.JOBS):
            folding.read(one.data, one.sequence, one.subject)
        return folding.jobs()


def _places(job: Job) -> set[int]:
    refs = (job.spec.manifest if job.spec else None, job.submitted_as)
    return {one.sequence for one in refs if one is not None}
