"""What counts as used for one job at the nodes of its path: beside what is charged, the room of open claims that it
does not precede, and what lend limits keep back. Pure."""

from collections.abc import Mapping, Sequence, Set
from typing import Protocol

from fairway.domain.decision import Add
from fairway.domain.preemption.precedence import Party, by_priority
from fairway.domain.quota.charge import quota_key
from fairway.domain.quota.lending import kept_back
from fairway.domain.quota.node_terms import preemption_terms
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import Resources, add
from fairway.queue.preemption.active_jobs import Active, ActiveJobs
from fairway.queue.view import View


def party(active: ActiveJobs, one: Active, path: Sequence[QuotaNode]) -> Party:
    """How an active job stands towards others, on the nodes that its leaf has now."""
    terms = preemption_terms(tuple(path))
    domain = terms.domain if terms.by_priority else None
    return Party(tuple(node.path for node in path), domain, one.job.priority, active.levels.level(one.job.id))


class Stands(Protocol):
    """What of a decision's standing counts here: `nodes` of a leaf's path are as the tree has them; those that have
    `gone` in it are charged, and claim nothing any more."""

    @property
    def view(self) -> View: ...
    @property
    def active(self) -> ActiveJobs: ...
    @property
    def usage(self) -> Mapping[str, int]: ...
    @property
    def gone(self) -> Set[str]: ...
    def nodes(self, leaf: Sequence[str]) -> Sequence[QuotaNode]: ...


class CountedUsage:
    """Of one decision. `gone` is what jobs are charged that go in it and are never evicted. Made for a question and not
    kept by who makes it: each decision would be a circle, which only the collector takes apart."""

    def __init__(self, stands: Stands, gone: Sequence[Add]) -> None:
        self._stands = stands
        self._gone = gone

    def at(self, path: Sequence[QuotaNode], asks: Resources, job: str) -> Mapping[str, int]:
        """Usage itself where nothing else counts; else what counts at the nodes of the path, of what is asked for."""
        usage = self._stands.usage
        claimed = self._claimed(job) if self._stands.view.claiming else {}
        kept = kept_back(path, usage, asks)
        if not claimed and not kept:
            return usage
        keys = [quota_key(node.path, name) for node in path for name in asks]
        return {key: usage.get(key, 0) + claimed.get(key, 0) + kept.get(key, 0) for key in keys}

    def fixed(self, job: str) -> Mapping[str, int]:
        """What jobs use that are never evicted, with those of them that go in this decision, and those that claim."""
        active = self._stands.active
        over = {job, *self._stands.gone}
        others = [name for name in active.claims if active.entries[name].fixed and name not in over]
        if not others and not self._gone:
            return active.charges.fixed
        found = add(active.charges.fixed, active.charged(others))
        for one in self._gone:
            found[one.key] = found.get(one.key, 0) + one.amount
        return found

    def _claimed(self, job: str) -> Mapping[str, int]:
        """Of the claims of others, as far as the job does not precede whose they are."""
        active = self._stands.active
        one = active.entries.get(job)
        over = {job, *self._stands.gone}
        spared = [name for name in active.claims if name in over or self._precedes(one, active.entries[name])]
        if not spared:
            return active.charges.claimed
        return add(active.charges.claimed, active.charged(spared), -1)

    def _precedes(self, one: Active | None, other: Active) -> bool:
        if one is None or one.job.priority <= other.job.priority:
            return False
        return by_priority(self._party(one), self._party(other))

    def _party(self, one: Active) -> Party:
        return party(self._stands.active, one, self._stands.nodes(one.path))
