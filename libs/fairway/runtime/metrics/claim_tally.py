"""What is counted of claims, and of whom is evicted for them. A job's row has all of it: whichever process commits the
end of a claim counts it, and keeps nothing of it before."""

from collections.abc import Iterator

from fairway.domain.decision import Step
from fairway.domain.job import Job
from fairway.domain.preemption.claim import Claim
from fairway.domain.preemption.outcome import USED, claim_end, in_vain
from fairway.runtime.metrics.accumulators import OF_CLAIMS, Counts, Sample, Timings
from fairway.wire import jobs as wire
from fairway.wire.jobs import JobMessage
from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Code

# How a claim ends with a place for its job; how it ends without one, its reason says.
_USED = "Used"
# How a claim may end once attempts were ended for it.
_IN_VAIN = (Code.CLAIM_EXPIRED, Code.CLAIM_NOT_NEEDED, Code.CLAIM_OVERTAKEN, Code.CLAIM_WITHDRAWN)


class ClaimTally:
    def __init__(self) -> None:
        self.evictions = Counts()
        self.ended = Counts()
        self.wasted = Counts()
        self.durations = Timings(OF_CLAIMS)
        # There before the first one, so that an increase to it is seen.
        for right in Cause:
            self.evictions.add((right.value,), 0)
        for end in (_USED, Code.CLAIM_EXPIRED.value):
            self.ended.add((end,), 0)
        for code in _IN_VAIN:
            self.wasted.add((code.value,), 0)
        self.durations.of(())

    def evicted(self, message: wire.Evicted) -> None:
        self.evictions.add((message.right.value,))

    def committed(self, step: Step, before: Job, claim: Claim) -> None:
        """A step of a job whose claim was open before it."""
        for say in step.events:
            message = say.message
            if isinstance(message, JobMessage) and (end := claim_end(message, before.attempt, claim.cluster)):
                self._ends(end, claim, message.at)
                return

    def _ends(self, end: str, claim: Claim, now: int) -> None:
        self.ended.add((_USED if end == USED else str(end),))
        # As decided when its room was kept: who ended by itself between that decision and its commit counts, too.
        if in_vain(end) and claim.evicted:
            self.wasted.add((str(end),), claim.evicted)
        if end == USED and claim.begun:  # a version before this one did not keep when it began
            self.durations.observe((), max(0, now - claim.begun) / 1000)

    def samples(self) -> Iterator[Sample]:
        yield from self.evictions.samples("fairway_evictions_total")
        yield from self.ended.samples("fairway_claims_ended_total")
        yield from self.wasted.samples("fairway_evictions_wasted_total")
        yield from self.durations.samples("fairway_claim_duration_seconds")
