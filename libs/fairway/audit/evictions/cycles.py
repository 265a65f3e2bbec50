"""Nobody evicts whom he was evicted by, over however many others, as long as nothing comes from outside."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from fairway.audit.attempts import Violation
from fairway.audit.evictions.claims import AuditedClaim
from fairway.audit.evictions.history import TreeHistory


def circles(claims: Sequence[AuditedClaim], outside: Sequence[int], trees: TreeHistory) -> Iterator[Violation]:
    """`outside` are the times (ms) at which jobs came, ended or were changed, in order."""
    times = sorted([*outside, *trees.times()])
    edges: dict[tuple[int, str], set[str]] = {}
    for claim in claims:
        for spoken in claim.victims:
            between = bisect_right(times, claim.begun.at)
            # What was decided before something came, and done after that, is of neither time.
            if between != bisect_right(times, spoken.message.at):
                continue
            edges.setdefault((between, claim.said.job), set()).add(spoken.message.job)
            if _reaches(edges, between, spoken.message.job, claim.said.job):
                text = f"it was evicted for {claim.said.job}, which had been evicted for it, or for whom it evicted"
                yield Violation(spoken.message.job, spoken.sequence, "cycle", text)


def _reaches(edges: dict[tuple[int, str], set[str]], between: int, start: str, end: str) -> bool:
    seen: set[str] = set()
    todo = [start]
    while todo:
        one = todo.pop()
        if one == end:
            return True
        if one not in seen:
            seen.add(one)
            todo += sorted(edges.get((between, one), ()))
    return False
