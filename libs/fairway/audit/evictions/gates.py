"""What a job has to leave alone when it is let go: quota that open claims keep for others, what nodes do not lend, and,
for one that is never evicted, what is beyond their min."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from fairway.audit.attempts import Spoken, Violation
from fairway.audit.evictions.claims import Claims
from fairway.audit.evictions.history import ActiveHistory, Moment, Spans, TreeHistory, UsageHistory
from fairway.audit.evictions.levels import guarantors
from fairway.audit.evictions.relation import counted, rank_of
from fairway.domain.preemption.levels import GUARANTEED, SPARE
from fairway.domain.quota.charge import path_nodes, quota_key
from fairway.domain.quota.tree import MAX_JOBS, QuotaNode
from fairway.domain.resources import Resources, show
from fairway.wire import jobs as wire


class KeptQuota(Struct, frozen=True):
    """What an open claim keeps for a job of what it `asks` at the nodes of `path`: all but what it was `short` of, by
    quota key, while others still have that."""

    job: str
    path: tuple[str, ...]
    asks: Resources
    short: Resources

    def at(self, node: str, name: str) -> int:
        if node not in self.path:
            return 0
        return max(0, self.asks.get(name, 0) - self.short.get(quota_key(node, name), 0))


class Gates:
    """`claims` are jobs that wait with an open claim, `fixed` those that are charged and never evicted; `said` is what
    the record says of claims."""

    def __init__(self, said: Claims, active: ActiveHistory, usage: UsageHistory, trees: TreeHistory) -> None:
        self.claims = Spans()
        self.fixed = Spans()
        self.passed: list[tuple[Spoken, bool]] = []
        self._said = said
        self._active = active
        self._usage = usage
        self._trees = trees

    def judged(self) -> Iterator[Violation]:
        self.claims.asked()
        self.fixed.asked()
        for spoken, fixed in sorted(self.passed, key=lambda one: one[0].sequence):
            message = spoken.message
            assert isinstance(message, wire.Dequeued), "it was let go"
            now = Moment(spoken.sequence, message.at)
            known = self._trees.about(now.at)
            for rule, text in self._wrong(message, now, known) if known else ():
                yield Violation(message.job, spoken.sequence, rule, text)
            if fixed and known and (text := self._beyond_min(message, now, known)):
                yield Violation(message.job, spoken.sequence, "min", text)

    def _wrong(
        self, message: wire.Dequeued, now: Moment, known: Sequence[QuotaNode | None]
    ) -> Iterator[tuple[str, str]]:
        kept = self._kept(message, now)
        wrong = [self._passes(tree, message, now, ()) for tree in known]
        if all(wrong):
            yield "lending", wrong[0]
        elif kept and all(self._passes(tree, message, now, kept) for tree in known):
            left = [one for one in kept if not self._precedes(message.job, one.job, now, known)]
            wrong = [self._passes(tree, message, now, left) for tree in known]
            if left and all(wrong):
                yield "kept", f"{wrong[0]}; {', '.join(one.job for one in left)} claimed it"

    def _kept(self, message: wire.Dequeued, now: Moment) -> list[KeptQuota]:
        """What claims of others keep. Beside a job that goes to its own room, what nobody has given back yet for
        another one does not count."""
        found = []
        for one in self.claims.at(now):
            claim = self._said.open_at(one.job, now) if message.kept else None
            short = claim.said.short if claim is not None and claim.awaits_victims(now) else {}
            found.append(KeptQuota(one.job, one.path, one.asks, short))
        return [one for one in found if one.job != message.job]

    def _passes(self, tree: QuotaNode | None, message: wire.Dequeued, now: Moment, kept: Sequence[KeptQuota]) -> str:
        """The node whose max is passed with what claims keep and nodes do not lend; empty when there is none."""
        path = path_nodes(tree, message.path)
        for name in (name for name, amount in message.charge.items() if amount):
            taken = self._taken(name, now, kept)
            for node in path:
                total = counted(node, name, taken)
                used = self._usage.used(node.path, name, now.place)
                if total > max(used, node.max.get(name, total)):
                    return (
                        f"quota {node.path} uses {show(name, used)} {name} of at most {show(name, node.max[name])}, "
                        f"and {show(name, total - used)} are kept there"
                    )
        return ""

    def _taken(self, name: str, now: Moment, kept: Sequence[KeptQuota]) -> Callable[[str], int]:
        """What is used of a resource at a node, with what claims keep there."""
        return lambda node: self._usage.used(node, name, now.place) + sum(one.at(node, name) for one in kept)

    def _precedes(self, job: str, other: str, now: Moment, known: Sequence[QuotaNode | None]) -> bool:
        """Whether it may have looked as if the job came before the other one."""
        for tree in known:
            high = SPARE
            low = GUARANTEED
            for there in self._active.about(now):
                if job not in there or other not in there:
                    continue
                found = guarantors(tree, there.values())
                high = max(high, GUARANTEED if job in found else SPARE)
                low = min(low, GUARANTEED if other in found else SPARE)
                if rank_of(tree, there[job], high).over(rank_of(tree, there[other], low)):
                    return True
        return False

    def _beyond_min(self, message: wire.Dequeued, now: Moment, known: Sequence[QuotaNode | None]) -> str:
        """The node whose min is passed by those that are never evicted, by every tree that may have been known."""
        text = ""
        fixed = self.fixed.at(now)
        for tree in known:
            text = ""
            for node in path_nodes(tree, message.path):
                there = [one.asks for one in fixed if node.path in one.path]
                text = text or _more_than_min(node, message.charge, there)
            if not text:
                return ""
        return text


def _more_than_min(node: QuotaNode, charge: Resources, there: Sequence[Resources]) -> str:
    for name, amount in charge.items():
        if not amount or name == MAX_JOBS or (name not in node.min and name not in node.max):
            continue
        total = amount + sum(one.get(name, 0) for one in there)
        least = node.min.get(name, 0)
        if total > least:
            return (
                f"jobs that are never evicted use {show(name, total)} {name} of quota {node.path}, more than its min "
                f"of {show(name, least)}"
            )
    return ""
