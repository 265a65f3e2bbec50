"""`scores.score` for many clusters at once: gangs of one shape, where they fit."""

import numpy as np

from fairway.placement.columns.change_log import Numbers
from fairway.placement.columns.pod_counts import PodCounts
from fairway.placement.scores import Weights
from fairway.placement.shapes import Part

Column = Numbers | int


def grades(
    pod_count: PodCounts, slots: Numbers, total: Numbers, part: Part, weights: Weights
) -> tuple[Numbers, Column, Column, Column, Column, Column]:
    """The fields of `scores.Score` in their order, for each slot with its `total`, or one number that holds for all."""
    pods: Column = part.wanted
    whole: Column = 100
    if part.wanted != part.needed:
        pods = np.minimum(part.wanted, total)
        whole = 100 * pods // part.wanted
    plain: Column = np.minimum(100, 100 * pod_count.plain[slots] // pods) if pod_count.mixed else 100
    tight = 100 * pods // total
    few: Column = 100
    if part.wanted > 1:
        few = 100 * -(-pods // pod_count.largest[slots]) // pod_count.nodes(slots, pods)
    left = 100 * (total - pods) // np.maximum(pod_count.ever[slots], 1)
    constant = weights.whole_job * whole + weights.scarce_gpu * plain
    sum_ = constant + weights.tightness * tight + weights.fewest_nodes * few + weights.spread_load * left
    return sum_, whole, plain, tight, few, left
