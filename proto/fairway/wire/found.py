"""What the scheduler found of every cluster, in columns: clusters are named once, numbers of one name stand together.

It is most of a placement's record and read only by who asks why. So messages carry it as it was written (`Raw`), and
whoever passes one on neither takes it apart nor writes it again.
"""

from msgspec import Struct

from fairway.wire.reasons import Code

Column = int | tuple[int, ...]

# Which numbers an answer comes with, by name; answers of other codes come with none.
KINDS = {
    Code.FITS: "fits",
    Code.NOT_ENOUGH: "short",
    Code.FRAGMENTED: "short",
    Code.NEVER_FITS: "short",
    Code.CAPACITY_STALE: "stale",
    Code.RECENTLY_FAILED: "avoided",
}


class Found(Struct, frozen=True, omit_defaults=True):
    """`answers` are the distinct ones, as a code and what it is about (see `Verdict`); `answer` says for each of the
    `clusters` which is its own, by its place. `numbers` are by kind of answer (`fits`, `short`: NotEnough, Fragmented,
    NeverFits; `stale`, `avoided`) and name: one that holds for all clusters of that kind, or one for each of them in
    order. `scores` are those of the clusters that fit, likewise."""

    clusters: tuple[str, ...]
    answers: tuple[tuple[Code, str], ...]
    answer: Column
    numbers: dict[str, dict[str, Column]] = {}
    scores: dict[str, Column] = {}
