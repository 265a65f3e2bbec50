"""What an eviction may do to its victim: never one that may not be evicted, and never more than its place in the
cluster is lost."""

import re
from collections.abc import Iterator

from msgspec import Struct, field

from fairway.audit.attempts import Spoken, Violation
from fairway.audit.evictions.history import TreeHistory
from fairway.audit.evictions.standing import AuditedStanding
from fairway.domain.preemption.claim import ANSWER_MS
from fairway.domain.quota.node_terms import PreemptionTerms, max_grace, max_graces, preemption_terms
from fairway.domain.quota.tree import QuotaNode, leaf_named
from fairway.wire import jobs as wire
from fairway.wire.preemption.claims import Cause

_LEAST_GRACE_MS = 1_000
_SPENT = re.compile(r"\(attempt (\d+) of \d+; no attempts left\)")


def terms_of(tree: QuotaNode | None, leaf: str) -> PreemptionTerms:
    """What holds for the jobs of a leaf; of one that is not in the tree, as of a fleet without one."""
    return preemption_terms((leaf_named(tree, leaf) if tree is not None else None) or ())


class _Evicted(Struct):
    """Of one job: the attempts that were evicted, how many of them by priority, where the last one had to come back to,
    what caused its end, as its recall says too, and the `notice` (ms) that it asked for."""

    attempts: list[int] = field(default_factory=list)
    by_priority: int = 0
    back: tuple[int, str, int] | None = None
    recalls: str | None = None
    notice: int = 0


class _Often(Struct, frozen=True):
    spoken: Spoken
    leaf: str
    count: int
    ran: int


class _Times(Struct, frozen=True):
    """The recall of an attempt that was evicted `at` a time, which asks for `notice` ms and is of the nodes of a
    `path`."""

    recall: Spoken
    at: int
    notice: int
    path: tuple[str, ...]

    def as_said(self, tree: QuotaNode | None) -> bool:
        """Whether it has the notice that it asks for and grace, as long as its quota allows together."""
        most = max_grace(self.path, max_graces(tree))
        notice = min(self.notice, most)
        message = self.recall.message
        assert isinstance(message, wire.Recall), "it was recalled"
        delete_at = self.at + notice if notice else 0
        rest = most - notice
        return message.delete_at == delete_at and rest <= message.grace <= max(rest, _LEAST_GRACE_MS)


class Victims:
    """Takes the events of each job in their order, `standing` as it was before."""

    def __init__(self) -> None:
        self._jobs: dict[str, _Evicted] = {}
        self._by_priority: list[_Often] = []
        self._times: list[_Times] = []
        self._wrong: list[Violation] = []

    def follow(self, standing: AuditedStanding, spoken: Spoken) -> None:
        message = spoken.message
        told = self._jobs.get(message.job)
        if isinstance(message, wire.Evicted):
            told = self._jobs.setdefault(message.job, _Evicted())
            self._evicted(told, standing, spoken)
        elif told is not None and isinstance(message, wire.Recall) and told.recalls == message.cause:
            # Said with the eviction. What is said later, since a working set was lost in between, gives no notice.
            self._times.append(_Times(spoken, message.at, told.notice, standing.path))
            told.recalls = None
        elif told is not None and isinstance(message, wire.Queue) and told.back is not None:
            self._comes_back(told, spoken, message)
        elif told is not None and isinstance(message, wire.Failed | wire.Lost) and message.final:
            self._over(told, spoken, message)

    def _evicted(self, told: _Evicted, standing: AuditedStanding, spoken: Spoken) -> None:
        message = spoken.message
        assert isinstance(message, wire.Evicted), "it was evicted"
        if message.final:
            self._breach(spoken, "the job ended with its eviction")
        if standing.spec is not None and not standing.spec.evictable:
            self._breach(spoken, f"attempt {message.attempt} was evicted of a job that never is")
        if message.attempt in told.attempts:
            self._breach(spoken, f"attempt {message.attempt} was evicted twice")
        told.attempts.append(message.attempt)
        told.back = (message.attempt + 1, standing.queue, standing.enqueued_at)
        told.recalls = message.cause
        told.notice = standing.spec.evict_notice if standing.spec is not None and standing.runs else 0
        if message.right is Cause.PREEMPTION:
            told.by_priority += 1
            leaf = standing.path[-1] if standing.path else ""
            ran = message.at - standing.reserved[1]
            self._by_priority.append(_Often(spoken, leaf, told.by_priority, ran))

    def _comes_back(self, told: _Evicted, spoken: Spoken, message: wire.Queue) -> None:
        """To where it was: the next attempt, the same queue, the same time."""
        assert told.back is not None, "it was evicted"
        attempt, queue, enqueued_at = told.back
        told.back = None
        if message.attempt != attempt:
            self._breach(spoken, f"attempt {message.attempt} follows attempt {attempt - 1}, which was evicted")
        if message.enqueued_at != enqueued_at:
            self._breach(spoken, f"evicted, it is queued as of {message.enqueued_at}, and not {enqueued_at}")
        if message.queue != queue:
            self._breach(spoken, f"evicted, it is queued in {message.queue}, and not in {queue}")

    def _over(self, told: _Evicted, spoken: Spoken, message: wire.Failed | wire.Lost) -> None:
        said = _SPENT.search(message.why.text)
        most = message.attempt - len(told.attempts)
        if said and int(said[1]) > most:
            text = f"{said[1]} attempts are said to be spent, and {most} are: evictions spend none"
            self._breach(spoken, text)

    def _breach(self, spoken: Spoken, text: str) -> None:
        self._wrong.append(Violation(spoken.message.job, spoken.sequence, "victim", text))

    def judged(self, trees: TreeHistory, ends_of: dict[str, str]) -> Iterator[Violation]:
        """`ends_of` has the jobs that have ended."""
        yield from self._wrong
        for job, told in self._jobs.items():
            if told.back is not None and not ends_of.get(job):
                yield Violation(
                    job, 0, "victim", f"attempt {told.back[0] - 1} was evicted, and none was queued after it"
                )
        for recalled in self._times:
            known = [*trees.about(recalled.at), *trees.about(recalled.at - ANSWER_MS)]
            if known and not any(map(recalled.as_said, known)):
                text = f"it asks for a notice of {recalled.notice} ms, and did not get what its quota allows"
                yield Violation(recalled.recall.message.job, recalled.recall.sequence, "notice", text)
        for one in self._by_priority:
            known = trees.about(one.spoken.message.at)
            terms = [terms_of(tree, one.leaf) for tree in known]
            if not terms:
                continue
            if one.count > max(here.max_evictions for here in terms):
                text = f"it was evicted by priority for the {one.count}. time"
                yield Violation(one.spoken.message.job, one.spoken.sequence, "victim", text)
            if one.ran < min(here.min_runtime for here in terms):
                text = f"it was evicted by priority {one.ran / 1000:.1f} s after it got its room"
                yield Violation(one.spoken.message.job, one.spoken.sequence, "victim", text)
