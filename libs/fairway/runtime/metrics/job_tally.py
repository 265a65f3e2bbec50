"""What is counted of jobs: once a step was committed, by the process that committed it, so never twice."""

from collections.abc import Callable, Iterator
from typing import Any

from fairway.domain.decision import JOBS, Heard, Put, Step
from fairway.domain.job import Job, State
from fairway.runtime.metrics.accumulators import OF_JOBS, Counts, Sample, Timings, keep
from fairway.runtime.metrics.claim_tally import ClaimTally
from fairway.runtime.metrics.label_values import NONE, SettingsNames
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code

# A message that ends a stage, the state that the job was in meanwhile, and the stage.
_STAGES: tuple[tuple[type[Any], State, str], ...] = (
    (wire.Queue, State.ADMITTED, "assign"),
    (wire.Dequeued, State.QUEUED, "queue"),
    (wire.Placed, State.DEQUEUED, "place"),
    (wire.Reserved, State.PLACED, "reserve"),
    (wire.Dispatched, State.RESERVED, "dispatch"),
    (wire.Running, State.DISPATCHED, "start"),
    (wire.Succeeded, State.RUNNING, "run"),
    (wire.Failed, State.RUNNING, "run"),
    (wire.Lost, State.RUNNING, "run"),
    (wire.Evicted, State.RUNNING, "run"),
    (wire.Cancelled, State.RUNNING, "run"),
)
STAGES = ("admit", *dict.fromkeys(stage for _, _, stage in _STAGES), "remove")
_ENDS = (wire.Succeeded, wire.Failed, wire.Lost, wire.Evicted, wire.Cancelled)
Tell = Callable[[Any, Job | None, Heard[Any], Step], None]


class JobTally:
    """It is told of every step of every job, so it looks at the type of a message and little more."""

    def __init__(self, names: SettingsNames) -> None:
        self._names = names
        self.stages = Timings(OF_JOBS)
        self.waits = Timings(OF_JOBS)
        self.ended = Counts()
        self.attempts = Counts()
        self.claims = ClaimTally()
        of_stage = {(kind, state): self.stages.of((stage,)) for kind, state, stage in _STAGES}
        self._of_stage = {kind: (state, durations) for (kind, state), durations in of_stage.items()}
        self._special: dict[type[Any], Tell] = {
            wire.Admitted: self._admitted,
            wire.Dequeued: self._dequeued,
            wire.Removed: self._removed,
            wire.Rejected: self._ends,
            **dict.fromkeys(_ENDS, self._ends),
            wire.Evicted: self._evicted,
        }

    def committed(self, step: Step, before: Job | None, heard: Heard[Any]) -> None:
        """A step was taken; `before` is its job as it was, None for one that is new."""
        for say in step.events:
            message: Any = say.message
            kind = type(message)
            if before is not None and (stage := self._of_stage.get(kind)) is not None and stage[0] is before.state:
                stage[1].observe(_seconds(message.at - before.since))
            if (tell := self._special.get(kind)) is not None:
                tell(message, before, heard, step)
        if before is not None and (claim := before.open_claim) is not None:
            self.claims.committed(step, before, claim)

    def _admitted(self, message: wire.Admitted, before: Job | None, heard: Heard[Any], step: Step) -> None:
        if before is None and heard.stored_at:
            self.stages.observe(("admit",), _seconds(message.at - heard.stored_at))

    def _dequeued(self, message: wire.Dequeued, before: Job | None, heard: Heard[Any], step: Step) -> None:
        if before is not None:
            self.waits.observe((self._names.queue(before.queue),), _seconds(message.at - before.since))

    def _removed(self, message: wire.Removed, before: Job | None, heard: Heard[Any], step: Step) -> None:
        if isinstance(heard.message, wire.Recall):
            self.stages.observe(("remove",), _seconds(message.at - heard.message.at))

    def _ends(self, message: wire.JobMessage, before: Job | None, heard: Heard[Any], step: Step) -> None:
        """Of the job, or of an attempt alone, which goes on."""
        if before is not None and before.cluster and before.state is not State.RETURNING and type(message) in _ENDS:
            self.attempts.add((self._names.cluster(before.cluster), _why(message)))
        put = next((one for one in step.writes if isinstance(one, Put) and one.table == JOBS), None)
        if put is not None and put.value.ended and (before is None or not before.ended):
            job: Job = put.value
            self.ended.add((self._names.queue(job.queue), job.state.value, _why(message)))

    def _evicted(self, message: wire.Evicted, before: Job | None, heard: Heard[Any], step: Step) -> None:
        self.claims.evicted(message)
        self._ends(message, before, heard, step)

    def samples(self) -> Iterator[Sample]:
        """Queues and clusters that the settings have no more are forgotten."""
        forgets: list[tuple[Any, Callable[[str], bool]]] = [
            (self.waits.values, self._names.is_queue),
            (self.ended.values, self._names.is_queue),
            (self.attempts.values, self._names.is_cluster),
        ]
        for values, known in forgets:
            keep(values, known)
        yield from self.stages.samples("fairway_job_stage_duration_seconds")
        yield from self.waits.samples("fairway_job_wait_seconds")
        yield from self.ended.samples("fairway_jobs_ended_total")
        yield from self.attempts.samples("fairway_attempts_ended_total")
        yield from self.claims.samples()


def _seconds(ms: int) -> float:
    """Clocks of two processes may differ."""
    return max(0, ms) / 1000


def _why(message: object) -> str:
    """The code of the reason that a message ends with."""
    if isinstance(message, wire.Rejected):
        return message.reasons[0].code.value if message.reasons else NONE
    if isinstance(message, wire.Failed | wire.Lost):
        return message.why.code.value
    return Code.CANCELLED.value if isinstance(message, wire.Cancelled) else NONE
