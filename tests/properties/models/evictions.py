"""Evictions as plain as can be: who may go, what is there with them gone, and every set that would do."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from fairway.lab.bench.evict.candidate_rows import CandidateRow, in_rows
from fairway.placement.cluster import ClusterView
from fairway.placement.fit import Shortfall, fit
from fairway.wire.preemption.claims import Cause
from fairway.wire.preemption.evictions import Relieve, Victim
from fairway.wire.workload import Workload


def without(cluster: ClusterView, gone: Iterable[CandidateRow | Victim]) -> ClusterView:
    """The cluster without these attempts."""
    keys = {f"{one.job}/{one.attempt}" for one in gone if one.cluster == cluster.name}
    left = ClusterView(cluster.info)
    for node in cluster.nodes.values():
        left.put(replace(node, holds={key: held for key, held in node.holds.items() if key not in keys}))
    return left


def quota_left(asked: Relieve, gone: Iterable[CandidateRow]) -> dict[str, int]:
    """What is still short with these gone."""
    left = dict(asked.short)
    for key in left:
        node, _, resource = key.rpartition("|")
        left[key] -= sum(one.charge.get(resource, 0) for one in gone if node in asked.paths[one.path])
    return {key: amount for key, amount in left.items() if amount > 0}


def amounts(views: Mapping[str, ClusterView], one: CandidateRow) -> dict[str, int]:
    """What counts at its lenders."""
    if one.charge:
        return one.charge
    total: dict[str, int] = {}
    for node in views[one.cluster].nodes.values():
        for name, amount in node.holds.get(f"{one.job}/{one.attempt}", {}).items():
            total[name] = total.get(name, 0) + amount
    return total


def lacking(asked: Relieve, view: ClusterView, workload: Workload) -> set[str]:
    """The resources for which a candidate of this cluster may be reclaimed, when the job goes there."""
    said = fit(view, workload)
    return elsewhere(asked) | ({said.lacking} & set(asked.reclaimable) if isinstance(said, Shortfall) else set())


def elsewhere(asked: Relieve) -> set[str]:
    """The resources for which one may be reclaimed where the job does not go."""
    return {key.rpartition("|")[2] for key, amount in asked.short.items() if amount > 0} & set(asked.reclaimable)


class Rights:
    """Who may go to a cluster's benefit after whom."""

    def __init__(self, asked: Relieve, views: Mapping[str, ClusterView], workload: Workload, cluster: str) -> None:
        self._asked = asked
        self._own = {(one.job, one.attempt): amounts(views, one) for one in in_rows(asked)}
        self._here = lacking(asked, views[cluster], workload)
        self._cluster = cluster

    def may_go(self, one: CandidateRow, gone: Iterable[CandidateRow]) -> bool:
        if one.lender < 0:
            return True
        over = [dict(lender.over) for lender in self._asked.lenders]
        for other in gone:
            for at in self._chain(other.lender):
                for name, amount in self._own[other.job, other.attempt].items():
                    over[at][name] = over[at].get(name, 0) - amount
        own = self._own[one.job, one.attempt]
        names = self._here if one.cluster == self._cluster else elsewhere(self._asked)
        chain = self._chain(one.lender)
        return any(own.get(name, 0) > 0 and all(over[at].get(name, 0) > 0 for at in chain) for name in names)

    def _chain(self, lender: int) -> list[int]:
        chain = []
        while lender >= 0:
            chain.append(lender)
            lender = self._asked.lenders[lender].above
        return chain

    def sets(self) -> list[tuple[CandidateRow, ...]]:
        """All that may go together in some order."""
        several = in_rows(self._asked)
        found: dict[int, tuple[CandidateRow, ...]] = {0: ()}
        for _ in several:
            for bits, gone in list(found.items()):
                for at, one in enumerate(several):
                    if not bits & 1 << at and bits | 1 << at not in found and self.may_go(one, gone):
                        found[bits | 1 << at] = (*gone, one)
        return list(found.values())


def legal(rights: Rights, chosen: Sequence[CandidateRow], victims: Sequence[Victim]) -> bool:
    """Each in its turn, and by its own right."""
    both = zip(chosen, victims, strict=True)
    causes = all((one.lender < 0) == (victim.cause is Cause.PREEMPTION) for one, victim in both)
    return causes and all(rights.may_go(one, chosen[:at]) for at, one in enumerate(chosen))


def price(chosen: Sequence[CandidateRow]) -> tuple[int, int, int, int]:
    highest = max((one.level for one in chosen), default=-1), max((one.priority for one in chosen), default=-1)
    return *highest, len(chosen), sum(one.lost for one in chosen)
