"""What counts as used for one job at the nodes of its path: beside what is charged, the room of open claims that it
does not precede, and what lend limits keep back. Pure."""

from collections.abc import Callable, Mapping, Sequence

from fairway.domain.decision import Add
from fairway.domain.preemption.precedence import Party, by_priority
from fairway.domain.quota.charge import quota_key
from fairway.domain.quota.lending import kept_back
from fairway.domain.quota.node_terms import preemption_terms
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import Resources, add
from fairway.queue.preemption.active_jobs import Active, ActiveJobs


def party(active: ActiveJobs, one: Active, path: Sequence[QuotaNode]) -> Party:
    """How an active job stands towards others, on the nodes that its leaf has now."""
    terms = preemption_terms(tuple(path))
    domain = terms.domain if terms.by_priority else None
    return Party(tuple(node.path for node in path), domain, one.job.priority, active.levels.level(one.job.id))


class CountedUsage:
    """Of one decision; `paths` gives the nodes of a leaf's path as the tree has them. `gone` is what jobs are charged
    that go in it and are never evicted."""

    def __init__(self, active: ActiveJobs, paths: Callable[[tuple[str, ...]], Sequence[QuotaNode]]) -> None:
        self._active = active
        self._paths = paths
        self.gone: list[Add] = []

    def at(self, path: Sequence[QuotaNode], usage: Mapping[str, int], asks: Resources, job: str) -> Mapping[str, int]:
        """`usage` itself where nothing else counts; else what counts at the nodes of the path, of what is asked for."""
        claimed = self._claimed(job) if self._active.claims else {}
        kept = kept_back(path, usage, asks)
        if not claimed and not kept:
            return usage
        keys = [quota_key(node.path, name) for node in path for name in asks]
        return {key: usage.get(key, 0) + claimed.get(key, 0) + kept.get(key, 0) for key in keys}

    def fixed(self, job: str) -> Mapping[str, int]:
        """What jobs use that are never evicted, with those of them that go in this decision, and those that claim."""
        others = [name for name in self._active.claims if self._active.entries[name].fixed and name != job]
        if not others and not self.gone:
            return self._active.fixed
        found = add(self._active.fixed, self._active.charged(others))
        for one in self.gone:
            found[one.key] = found.get(one.key, 0) + one.amount
        return found

    def _claimed(self, job: str) -> dict[str, int]:
        """Of the claims of others, as far as the job does not precede whose they are."""
        one = self._active.entries.get(job)
        others = [name for name in self._active.claims if name != job and not self._precedes(one, name)]
        return self._active.charged(others)

    def _precedes(self, one: Active | None, name: str) -> bool:
        other = self._active.entries[name]
        if one is None or one.job.priority <= other.job.priority:
            return False
        return by_priority(self._party(one), self._party(other))

    def _party(self, one: Active) -> Party:
        return party(self._active, one, self._paths(one.path))
