"""All that is known of one question: the gang, who may be evicted for it, what they hold and have of quota."""

from collections.abc import Callable
from typing import NamedTuple

from fairway.placement.engine.attempt_holds import HeldAmounts
from fairway.placement.engine.engine import Engine
from fairway.placement.fleet import Fleet
from fairway.placement.relief.candidate_columns import CandidateColumns, columns
from fairway.placement.relief.eligible import ShortClusters, heard_of, may_go, short_clusters
from fairway.placement.relief.quota_short import QuotaShort
from fairway.placement.relief.reclaim import Reclaimable
from fairway.placement.relief.room.shape_room import Mask, ShapeRoom, shape_room
from fairway.placement.shapes import Ask
from fairway.placement.verdicts.table import VerdictTable
from fairway.placement.verdicts.verdict import Context
from fairway.wire.preemption.evictions import Relieve


class Case(NamedTuple):
    """Clusters that were not heard of after `oldest` are silent."""

    engine: Engine
    gang: Ask
    asked: Relieve
    columns: CandidateColumns
    holdings: HeldAmounts
    quota: QuotaShort
    rights: Reclaimable
    oldest: int

    def allowed(self, table: VerdictTable) -> "Allowed":
        clusters = short_clusters(table, self.engine.clusters.order, len(self.engine.arrays.start), self.rights)
        return Allowed(self, clusters, may_go(self.columns, self.rights, clusters, self.short), self._for_quota())

    def shapes(self) -> list[ShapeRoom]:
        parts = [part for part in self.gang.demand.parts if part.needed]
        asked = self.engine.counts([part.shape for part in parts])
        return [
            shape_room(self.engine.arrays, shape, part, self.holdings) for shape, part in zip(asked, parts, strict=True)
        ]

    @property
    def short(self) -> tuple[int, ...]:
        """The reclaimable resources of which quota is short."""
        places = {name: at for at, name in enumerate(self.rights.resources)}
        return tuple([places[name] for name in self.quota.resources if name in places])

    def _for_quota(self) -> Mask:
        """Nobody of silent or cordoned clusters: their end might not be seen."""
        gives: Mask = (self.quota.gives > 0).any(axis=1) & (self.columns.slot >= 0)
        if gives.any():
            by_reclaim = self.rights.may(self.columns.lender)[:, list(self.short)].any(axis=1)
            cordoned = [slot for slot, view in self.engine.clusters.views.items() if view.info.cordoned]
            heard = heard_of(self.engine.clusters.observed, cordoned, self.oldest)
            gives &= heard[self.columns.slot] & ((self.columns.lender < 0) | by_reclaim)
        return gives


class Allowed(NamedTuple):
    """Who may go under one affinity: `for_room` in their own cluster, if that is the one; `for_quota` anywhere."""

    case: Case
    clusters: ShortClusters
    for_room: Mask
    for_quota: Mask

    @property
    def anybody(self) -> Mask:
        mask: Mask = self.for_room | self.for_quota
        return mask

    def resources(self, slot: int) -> Callable[[int], tuple[int, ...] | None]:
        """By which a candidate may be reclaimed when the gang goes to this cluster."""
        lenders = self.case.columns.lender
        slots = self.case.columns.slot
        short = self.case.short
        lacking = self.clusters.lacking.item(slot) if slot >= 0 else -1
        here = short if lacking < 0 else tuple(dict.fromkeys((lacking, *short)))

        def of(candidate: int) -> tuple[int, ...] | None:
            if lenders[candidate] < 0:
                return None
            return here if slots[candidate] == slot else short

        return of


def case_of(fleet: Fleet, gang: Ask, asked: Relieve, context: Context) -> Case:
    engine = fleet.engine()
    candidates = columns(engine, asked.candidates)
    held = engine.attempts.of(asked.candidates.attempts, candidates.slot)
    quota = QuotaShort(asked)
    lacking = ["pods", *[name for part in gang.demand.parts for name, _ in part.shape.requests], *quota.resources]
    rights = Reclaimable(asked, lacking, held, engine.rows.columns.by_name)
    return Case(engine, gang, asked, candidates, held, quota, rights, context.now - context.stale_after)
