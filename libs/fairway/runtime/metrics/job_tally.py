"""What is counted of jobs: once a step was committed, by the process that committed it, so never twice."""

from collections.abc import Callable, Iterator
from typing import Any

from fairway.domain.decision import JOBS, Heard, Put, Step
from fairway.domain.job import Job, State
from fairway.runtime.metrics.accumulators import OF_JOBS, Counts, Sample, Timings, keep
from fairway.runtime.metrics.label_values import NONE, SettingsNames
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code

# A message that ends a stage, the state that the job was in meanwhile, and the stage.
_STAGES: dict[tuple[type[Any], State], tuple[str]] = {
    (wire.Queue, State.ADMITTED): ("assign",),
    (wire.Dequeued, State.QUEUED): ("queue",),
    (wire.Placed, State.DEQUEUED): ("place",),
    (wire.Reserved, State.PLACED): ("reserve",),
    (wire.Dispatched, State.RESERVED): ("dispatch",),
    (wire.Running, State.DISPATCHED): ("start",),
    (wire.Succeeded, State.RUNNING): ("run",),
    (wire.Failed, State.RUNNING): ("run",),
    (wire.Lost, State.RUNNING): ("run",),
    (wire.Cancelled, State.RUNNING): ("run",),
}
STAGES = ("admit", *dict.fromkeys(stage for (stage,) in _STAGES.values()), "remove")
_ENDS = (wire.Succeeded, wire.Failed, wire.Lost, wire.Cancelled)
_MAY_END = (*_ENDS, wire.Rejected)


class JobTally:
    def __init__(self, names: SettingsNames) -> None:
        self._names = names
        self.stages = Timings(OF_JOBS)
        self.waits = Timings(OF_JOBS)
        self.ended = Counts()
        self.attempts = Counts()

    def committed(self, step: Step, before: Job | None, heard: Heard[Any]) -> None:
        """A step was taken; `before` is its job as it was, None for one that is new."""
        for say in step.events:
            message = say.message
            if not isinstance(message, wire.JobMessage):
                continue
            self._said(message, before, heard)
            if type(message) in _MAY_END and (before is None or not before.ended):
                self._end(step, message)

    def _said(self, message: wire.JobMessage, before: Job | None, heard: Heard[Any]) -> None:
        kind = type(message)
        if before is None:
            if kind is wire.Admitted and heard.stored_at:
                self.stages.observe(("admit",), _seconds(message.at - heard.stored_at))
            return
        stage = _STAGES.get((kind, before.state))
        if stage is not None:
            self.stages.observe(stage, _seconds(message.at - before.since))
            if kind is wire.Dequeued:
                self.waits.observe((self._names.queue(before.queue),), _seconds(message.at - before.since))
        elif kind is wire.Removed and isinstance(heard.message, wire.Recall):
            self.stages.observe(("remove",), _seconds(message.at - heard.message.at))
        if kind in _ENDS and before.cluster and before.state is not State.RETURNING:
            self.attempts.add((self._names.cluster(before.cluster), _why(message)))

    def _end(self, step: Step, message: wire.JobMessage) -> None:
        put = next((one for one in step.writes if isinstance(one, Put) and one.table == JOBS), None)
        if put is not None and put.value.ended:
            job: Job = put.value
            self.ended.add((self._names.queue(job.queue), job.state.value, _why(message)))

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
