"""Whether the job of each claim precedes whom it evicted, by levels that the auditor works out himself.

What was chosen was right if it was by anything that may have been known when the claim began: levels and use of quota
are looked at there, and at each place of the record in the time about it.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from fairway.audit.attempts import Spoken, Violation
from fairway.audit.evictions.claims import AuditedClaim
from fairway.audit.evictions.history import Active, ActiveHistory, Moment, TreeHistory, UsageHistory
from fairway.audit.evictions.levels import guarantors
from fairway.audit.evictions.relation import giving_back, rank_of
from fairway.domain.preemption.levels import GUARANTEED, SPARE, ActiveJob
from fairway.domain.quota.tree import QuotaNode, leaf_named
from fairway.domain.resources import Resources
from fairway.wire import jobs as wire
from fairway.wire.preemption.claims import Cause


class EvictedAttempt(Struct, frozen=True):
    """An attempt that was evicted: what it was `charged`, and what earlier ones gave back since the claim began."""

    spoken: Spoken
    path: tuple[str, ...]
    charged: Resources
    given: dict[tuple[str, str], int]


class _Seen(Struct):
    """Of one job in the time about a moment: the job, the highest and the lowest level it had, and its guarantors."""

    job: ActiveJob | None = None
    high: int = SPARE - 1
    low: int = GUARANTEED + 1
    guarantors: dict[str, None] = {}

    def see(self, job: ActiveJob | None, guarantor: str | None) -> None:
        """Who is not active has no level that anybody else's is below."""
        level = SPARE if guarantor is None else GUARANTEED
        self.low = min(self.low, level if job is not None else SPARE)
        if job is not None:
            self.job = job
            self.high = max(self.high, level)
        if guarantor is not None:
            self.guarantors = {**self.guarantors, guarantor: None}


class Precedence:
    def __init__(self, active: ActiveHistory, usage: UsageHistory, trees: TreeHistory) -> None:
        self._active = active
        self._usage = usage
        self._trees = trees

    def judged(self, claim: AuditedClaim, victims: Sequence[EvictedAttempt]) -> Iterator[Violation]:
        """Claims come in the order in which they began."""
        known = self._trees.about(claim.begun.at)
        if not victims or not known:
            return
        names = [claim.said.job, *(one.spoken.message.job for one in victims)]
        wrong: dict[str, str] = {}
        for tree in known:
            seen = {name: _Seen() for name in names}
            for there in self._active.about(claim.begun):
                _look(tree, there, seen)
                wrong = {
                    one.spoken.message.job: text
                    for one in victims
                    if (text := self._wrong(tree, claim, one, seen)) is not None
                }
                if not wrong:
                    return
        for one in victims:
            if text := wrong.get(one.spoken.message.job):
                yield Violation(one.spoken.message.job, one.spoken.sequence, "precedes", text)

    def _wrong(
        self, tree: QuotaNode | None, claim: AuditedClaim, victim: EvictedAttempt, seen: dict[str, _Seen]
    ) -> str | None:
        message = victim.spoken.message
        assert isinstance(message, wire.Evicted), "it was evicted"
        mine = seen[claim.said.job]
        other = seen[message.job]
        if mine.job is None:
            return f"it was evicted for {claim.said.job}, which was not active"
        who = f"it was evicted by {message.right} for {claim.said.job}"
        if message.right is Cause.PREEMPTION:
            own = rank_of(tree, mine.job, mine.high)
            theirs = rank_of(tree, other.job, other.low) if other.job is not None else own
            if other.job is not None and not own.over(theirs):
                return f"{who}: level {own.level}, priority {own.priority} over {theirs.level}, {theirs.priority}"
            return None
        if mine.high <= other.low:
            return f"{who}, and has level {other.low} as that has {mine.high}"
        return self._not_owed(tree, claim.begun, victim, mine)

    def _not_owed(self, tree: QuotaNode | None, begun: Moment, victim: EvictedAttempt, mine: _Seen) -> str | None:
        """Why the victim's side owes nothing to the job: that is beyond what its guarantor, and each node above, has
        for it, or nothing was borrowed on the other side."""
        assert mine.job is not None and tree is not None, "a level above the lowest comes from a tree"
        own = [node.path for node in leaf_named(tree, mine.job.leaf) or ()]
        sides = giving_back(own, victim.path)
        if not sides:
            return "it was evicted by Reclaim for a job of its own leaf"
        mins = {node.path: node.min for node in _nodes(tree)}
        asked = [name for name in mins.get(next(iter(mine.guarantors)), {}) if mine.job.asks.get(name)]
        up = [node for node in own[1:] or own if any(_at_or_above(node, one) for one in mine.guarantors)]
        if not any(self._within(begun, (one, mins.get(one, {})), mine.job.asks, victim) for one in up):
            return f"it was evicted by Reclaim for more than the min of {', '.join(mine.guarantors)}"
        for node in sides:
            if not any(self._over(begun, (node, name), mins.get(node, {}).get(name, 0), victim) for name in asked):
                return f"it was evicted by Reclaim, and {node} had no more than its min of {', '.join(asked)}"
        return None

    def _within(self, begun: Moment, share: tuple[str, Resources], asks: Resources, victim: EvictedAttempt) -> bool:
        """With those gone that went before this one: they may be of its own leaf."""
        node, least = share
        return all(
            min(self._usage.about(node, name, begun)) - victim.given.get((node, name), 0) + asks[name] <= amount
            for name, amount in least.items()
            if asks.get(name)
        )

    def _over(self, begun: Moment, key: tuple[str, str], least: int, victim: EvictedAttempt) -> bool:
        return max(self._usage.about(*key, begun)) - victim.given.get(key, 0) > least


def _at_or_above(node: str, other: str) -> bool:
    return node == other or other.startswith(f"{node}/")


def _look(tree: QuotaNode | None, there: Active, seen: dict[str, _Seen]) -> None:
    found = guarantors(tree, there.values())
    for name, one in seen.items():
        one.see(there.get(name), found.get(name))


def _nodes(tree: QuotaNode) -> Iterator[QuotaNode]:
    yield tree
    for child in tree.children:
        yield from _nodes(child)
