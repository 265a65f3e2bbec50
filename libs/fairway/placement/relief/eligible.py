"""Which clusters come into question for a gang without room, what they lack, and which candidates may go in each."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairway.placement.engine.change_log import Numbers
from fairway.placement.relief.candidate_columns import CandidateColumns
from fairway.placement.relief.reclaim import Reclaimable
from fairway.placement.relief.room.shape_room import Mask
from fairway.placement.verdicts.table import VerdictTable
from fairway.wire.reasons import Code


class ShortClusters(NamedTuple):
    """By slot: `short` where the gang has no room though it could have, and which of the reclaimable resources is
    `lacking` there (-1: none of them)."""

    short: Mask
    lacking: Numbers


def short_clusters(table: VerdictTable, order: Numbers, slots: int, rights: Reclaimable) -> ShortClusters:
    places = {name: at for at, name in enumerate(rights.resources)}
    short = np.zeros(slots, np.bool_)
    lacking = np.full(slots, -1, np.int64)
    short[order] = table.codes(Code.NOT_ENOUGH, Code.FRAGMENTED)
    abouts = np.array([places.get(about, -1) for _, about in table.answers], np.int64)
    lacking[order] = abouts[table.said.answer]
    return ShortClusters(short, lacking)


def may_go(columns: CandidateColumns, rights: Reclaimable, clusters: ShortClusters, short: Sequence[int]) -> Mask:
    """For room in their own cluster: by priority, or by a resource that the job lacks there or in its quota."""
    inside: Mask = (columns.slot >= 0) & clusters.short[columns.slot]
    resource = clusters.lacking[columns.slot]
    may = rights.may(columns.lender)
    by_reclaim: Mask = may[:, list(short)].sum(axis=1) > 0
    if len(rights.resources):
        np.logical_or(by_reclaim, (resource >= 0) & may[np.arange(len(may)), resource], out=by_reclaim)
    allowed: Mask = inside & ((columns.lender < 0) | by_reclaim)
    return allowed


def heard_of(observed: Numbers, cordoned: Sequence[int], oldest: int) -> Mask:
    """Clusters, by slot, in which somebody may be evicted at all."""
    heard: Mask = (observed > 0) & (observed >= oldest)
    heard[list(cordoned)] = False
    return heard
