"""What one cluster says to one gang: the first reason against it, with numbers, or that it fits.

In order: not selected, tainted, cordoned, kind not served, capacity unknown, stale, recently failed there, no room.
`survey` asks all clusters at once.
"""

from collections.abc import Mapping

from msgspec import Struct

from fairway.placement.bin_packing import attempt, certain
from fairway.placement.cluster import ClusterView
from fairway.placement.fit import shortfall
from fairway.placement.scores import Score, Weights, score
from fairway.placement.shapes import Demand
from fairway.wire.reasons import Code

# Verdicts kept per cluster; a fleet of tens of shapes and a few gang sizes needs no more.
MOST_REMEMBERED = 256


class Context(Struct, frozen=True):
    """What a decision knows besides clusters and job. Times in milliseconds; `avoid` maps a cluster to the
    time until which this job keeps away from it; a report older than `stale_after` is not trusted."""

    now: int
    stale_after: int = 30_000
    avoid: Mapping[str, int] = {}
    weights: Weights = Weights()


class ClusterVerdict(Struct, frozen=True, omit_defaults=True):
    """One cluster's answer as a code and numbers; `sentences.sentence` says it in words.

    `about` names the rule, label, taint, kind or lacking resource. `needed`, `by_node`, `by_sum`, `at_most`
    are pods, `nodes` and `closed` nodes (see `fit.Shortfall`). `age`, `limit`, `left` are milliseconds: of the
    last report, the age it may have, and until the job may go there again, which is at `until`. `score` only
    where it fits.
    """

    cluster: str
    code: Code
    about: str = ""
    needed: int = 0
    by_node: int = 0
    by_sum: int = 0
    at_most: int = 0
    nodes: int = 0
    closed: int = 0
    age: int = 0
    limit: int = 0
    left: int = 0
    until: int = 0
    score: Score | None = None


def room(view: ClusterView, demand: Demand, weights: Weights) -> ClusterVerdict:
    """Whether a gang of any shapes has room, rules and time aside; remembered until the cluster's nodes change."""
    key = demand, weights
    known: ClusterVerdict | None = view.memo.get(key)
    if known is None:
        if len(view.memo) >= MOST_REMEMBERED:
            view.memo.clear()
        known = view.memo[key] = _room(view, demand, weights)
    return known


def _room(view: ClusterView, demand: Demand, weights: Weights) -> ClusterVerdict:
    rows = [view.row(part.shape) for part in demand.parts]
    fitting = certain(rows, demand)
    if fitting is None:
        fitting = attempt(view, rows, [part.needed for part in demand.parts]) is not None
    if fitting:
        grade = score(rows, demand, weights)
        return ClusterVerdict(view.name, Code.FITS, "", demand.needed, demand.needed, score=grade)
    short = shortfall(view, demand)
    pods = short.needed, short.by_node, short.by_sum, short.at_most
    return ClusterVerdict(view.name, short.code, short.lacking, *pods, short.nodes, short.closed)
