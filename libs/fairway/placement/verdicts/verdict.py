"""What one cluster says to one gang: the first reason against it, with numbers, or that it fits.

In order: not selected, tainted, cordoned, kind not served, capacity unknown, stale, recently failed there, no room.
`survey` asks all clusters at once.
"""

from collections.abc import Mapping

from msgspec import Struct

from fairway.placement.scores import Score, Weights
from fairway.wire.reasons import Code


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
