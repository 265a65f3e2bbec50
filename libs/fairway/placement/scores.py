"""How good a cluster is for a gang that fits there: named scores from 0 to 100 and their weighted sum.

Integers only, so that the same view gives the same winner on every machine.
"""

from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from fairway.placement.node_packing import spread
from fairway.placement.shape_index import ShapeCounts
from fairway.placement.shapes import Demand


class Weights(Struct, frozen=True, cache_hash=True):
    """How much each score counts. The defaults want the whole job on its feet, then keep GPUs for those who
    ask for them, then fill what is nearly full (a large gang needs an empty cluster later), then balance."""

    whole_job: int = 8
    scarce_gpu: int = 4
    tightness: int = 2
    fewest_nodes: int = 2
    spread_load: int = 1


class Score(Struct, frozen=True):
    """`total` is the weighted sum; the rest, 0 to 100, higher is better.

    - `whole_job`: share of all its pods that fit, not only of the gang
    - `scarce_gpu`: share of the pods that go on nodes without extended resources they did not ask for
    - `tightness`: share of the cluster's room for such pods that the job uses up (best fit)
    - `fewest_nodes`: least nodes that empty ones would need, by the nodes it will be on
    - `spread_load`: share of the cluster's room for such pods, when empty, that stays free
    """

    total: int
    whole_job: int
    scarce_gpu: int
    tightness: int
    fewest_nodes: int
    spread_load: int


def score(rows: Sequence[ShapeCounts], demand: Demand, weights: Weights) -> Score:
    """The scores of a cluster where the gang fits, by its leading part: the first that asks for an extended
    resource, else the one with most pods."""
    index = 0 if len(rows) == 1 else lead(demand)
    row = rows[index] if rows else None
    if row is None or not row.total:  # nothing to run, or the leading part is not in the gang and has no room
        return Score(0, 0, 0, 0, 0, 0)
    wanted = demand.parts[index].wanted
    pods = wanted if wanted < row.total else row.total
    whole = 100 if len(rows) == 1 and pods == wanted else _whole(rows, demand)
    plain = 100 if row.plain >= pods else 100 * row.plain // pods
    tight = 100 * pods // row.total
    nodes = 1 if pods == 1 else spread(row, pods)
    few = 100 if nodes == 1 else 100 * -(-pods // max(row.sizes)) // nodes
    left = 100 * (row.total - pods) // max(row.ever, 1)
    total = (
        weights.whole_job * whole
        + weights.scarce_gpu * plain
        + weights.tightness * tight
        + weights.fewest_nodes * few
        + weights.spread_load * left
    )
    return Score(total, whole, plain, tight, few, left)


@lru_cache(4096)
def lead(demand: Demand) -> int:
    """The index of the part that decides where a gang of several shapes goes."""
    parts = demand.parts
    if not parts:
        return 0
    gpus = [index for index, part in enumerate(parts) if "/" in part.shape.main]
    if gpus:
        return gpus[0]
    return max(range(len(parts)), key=lambda index: (parts[index].wanted, -index))


def _whole(rows: Sequence[ShapeCounts], demand: Demand) -> int:
    """Counted part by part; several parts may be in each other's way, so it is an upper bound for those."""
    wanted = fitting = 0
    for row, part in zip(rows, demand.parts, strict=True):
        wanted += part.wanted
        fitting += min(part.wanted, row.total)
    return 100 * fitting // wanted
