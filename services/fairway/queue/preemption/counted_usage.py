"""What counts as used for one job at the nodes of its path: beside what is charged, the room of open claims that it
does not precede, and what lend limits keep back. Pure."""

from collections.abc import Mapping, Sequence, Set
from typing import Protocol

from fairway.domain.events import claim_id
from fairway.domain.preemption.precedence import Party, by_priority
from fairway.domain.quota.charge import quota_key
from fairway.domain.quota.lending import kept_back
from fairway.domain.quota.node_terms import preemption_terms
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import Resources, add
from fairway.queue.decision_charges import DecisionCharges
from fairway.queue.preemption.active_jobs import Active, ActiveJobs, keys_of
from fairway.queue.view import View

# Who has to leave is said in one breath with the answer to a claim: by then it was heard (ms).
_HEARD_MS = 2_000


class Stands(Protocol):
    """What of a decision's standing counts here: `nodes` of a leaf's path are as the tree has them; those that have
    `gone` in it are charged, and claim nothing any more."""

    @property
    def view(self) -> View: ...
    @property
    def now(self) -> int: ...
    @property
    def active(self) -> ActiveJobs: ...
    @property
    def usage(self) -> Mapping[str, int]: ...
    @property
    def gone(self) -> Set[str]: ...
    def nodes(self, leaf: Sequence[str]) -> Sequence[QuotaNode]: ...


def still_charged(stands: Stands) -> dict[str, dict[str, int]]:
    """Whose claim gets back quota that others have not given back yet, so far as is heard, and how much, by quota key:
    it has no answer, or was answered a moment ago, and not all who leave for it were heard to."""
    leaving = stands.active.leaving
    found = {}
    for name in stands.active.claims:
        job = stands.view.queued.entries[name].job
        claim = job.open_claim
        if claim is None or (claim.cluster and not claim.victims):
            continue
        mine = claim_id(name, job.attempt, claim.number)
        answered = claim.cluster and stands.now - claim.at >= _HEARD_MS
        if not answered and not leaving.all_heard(mine, claim.evicted):
            found[name] = leaving.yet_to_give(mine, claim.short)
    return found


def _asked(one: Active, short: Mapping[str, int]) -> dict[str, int]:
    """What is lacking of the quota, as far as the job asks for that."""
    return {key: min(short[key], amount) for key, amount in keys_of(one) if key in short}


def party(active: ActiveJobs, one: Active, path: Sequence[QuotaNode]) -> Party:
    """How an active job stands towards others, on the nodes that its leaf has now."""
    terms = preemption_terms(tuple(path))
    domain = terms.domain if terms.by_priority else None
    return Party(domain, one.job.priority, active.levels.level(one.job.id))


class CountedUsage:
    """Of one decision, by what it has charged so far. Made for a question and not kept by who makes it: each decision
    would be a circle, which only the collector takes apart."""

    def __init__(self, stands: Stands, charges: DecisionCharges) -> None:
        self._stands = stands
        self._charges = charges

    def at(self, path: Sequence[QuotaNode], asks: Resources, job: str) -> Mapping[str, int]:
        """Usage itself where nothing else counts; else what counts at the nodes of the path, of what is asked for."""
        usage = self._stands.usage
        claimed = self._claimed(job) if self._stands.view.claiming else {}
        kept = kept_back(path, usage, asks, claimed)
        if not claimed and not kept:
            return usage
        keys = [quota_key(node.path, name) for node in path for name in asks]
        return {key: usage.get(key, 0) + claimed.get(key, 0) + kept.get(key, 0) for key in keys}

    def fixed(self, job: str) -> Mapping[str, int]:
        """What jobs use that are never evicted, with those of them that go in this decision, and those that claim."""
        active = self._stands.active
        over = {job, *self._stands.gone}
        others = [name for name in active.claims if active.entries[name].fixed and name not in over]
        if not others and not self._charges.fixed:
            return active.charges.fixed
        found = add(active.charges.fixed, active.charged(others))
        for one in self._charges.fixed:
            found[one.key] = found.get(one.key, 0) + one.amount
        return found

    def _claimed(self, job: str) -> Mapping[str, int]:
        """Of the claims of others, as far as the job does not precede whose they are. Whose own room is free needs no
        more than what its victims gave back and what was free: what others will get back is not theirs yet."""
        active = self._stands.active
        spared = self._spared(job)
        found = add(active.charges.claimed, active.charged(spared), -1) if spared else active.charges.claimed
        if job not in active.ready:
            return found
        found = dict(found)
        for name, short in self._unheard().items():
            for key, amount in short.items() if name not in spared else ():
                found[key] -= amount
        return found

    def _spared(self, job: str) -> set[str]:
        """Those whose claims do not count: its own, that of who goes in this decision, and of whom it precedes. Who
        goes without an answer may have got one meanwhile, and stays then."""
        active = self._stands.active
        spared = {name for name in self._stands.gone if (one := active.entries.get(name)) and one.nominated}
        spared |= {job} & active.claims.keys()
        one = active.entries.get(job)
        least = active.charges.least_priority
        if one is None or least is None or one.job.priority <= least:
            return spared
        return spared | {name for name in active.claims if self._precedes(one, active.entries[name])}

    def _unheard(self) -> dict[str, Mapping[str, int]]:
        active = self._stands.active
        if self._charges.unheard is None:
            still = still_charged(self._stands)
            self._charges.unheard = {name: _asked(active.entries[name], short) for name, short in still.items()}
        return self._charges.unheard

    def _precedes(self, one: Active, other: Active) -> bool:
        """Levels, which cost a pass over a leaf, are asked for last."""
        if one.job.priority <= other.job.priority or self._domain(one) != self._domain(other):
            return False
        return by_priority(self._party(one), self._party(other))

    def _domain(self, one: Active) -> str:
        return preemption_terms(tuple(self._stands.nodes(one.path))).domain

    def _party(self, one: Active) -> Party:
        return party(self._stands.active, one, self._stands.nodes(one.path))
