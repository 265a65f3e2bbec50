"""What the engine's arrays are, and what their columns mean. A slot is a cluster's place in them, a position a node's;
`k` counts shapes, `e` sets of eligible nodes, `r` resources."""

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Contiguous arrays, by number of dimensions; the compiler reads what stands beside the type (signatures.py).
Int1 = Annotated[NDArray[np.int64], "int64", 1]
Int2 = Annotated[NDArray[np.int64], "int64", 2]
Int3 = Annotated[NDArray[np.int64], "int64", 3]
Int4 = Annotated[NDArray[np.int64], "int64", 4]
Small1 = Annotated[NDArray[np.int32], "int32", 1]
Small2 = Annotated[NDArray[np.int32], "int32", 2]
Small3 = Annotated[NDArray[np.int32], "int32", 3]
Byte1 = Annotated[NDArray[np.uint8], "uint8", 1]
Byte2 = Annotated[NDArray[np.uint8], "uint8", 2]

# In place of an amount of `pods`: the node does not limit them.
UNLISTED = 1 << 62
# What a kubelet takes when nothing else limits it (its default --max-pods).
MAX_PODS = 110
# No kubelet takes so many pods: a node that would take more of a shape counts for this many.
MOST_PODS = (1 << 17) - 1
# The column of `pods` in a row of amounts; other resources follow in the order in which they were met.
PODS = 0
# In place of a resource's column: no node has any of it.
NOBODY_HAS = -1

# May a pod be on a node: no; for good, but not now (cordoned, or a passing taint); now.
KEPT_OUT, CLOSED, OPEN = range(3)
# A node as a shape sees it: it is closed to it, it has nothing that the pod does not ask for, it has (a GPU that would
# lie idle).
NONE, PLAIN, MIXED = range(3)

# Of a shape by slot: pods that fit now, those of them on plain nodes, pods on the empty cluster and on its largest
# node, and the most on one plain and, behind it, on one mixed node now, or more where nodes are no longer told apart.
TOTAL, ON_PLAIN, EVER, LARGEST, TOP = range(5)
FACTS = 6
# Nodes are tallied by how many pods of a shape they take; those that take so many or more share the last place.
MOST_TALLIED = 128

# Sums over the nodes that pods may be on, now and for good: amounts by resource, and behind them the nodes, and those
# of them that do not limit `pods`.
NOW, FOR_GOOD = range(2)
NODES, NODES_UNLISTED = range(-2, 0)
BESIDE = 2

# The scores in the order of `Weights`.
WHOLE_JOB, SCARCE_GPU, TIGHTNESS, FEWEST_NODES, SPREAD_LOAD = range(5)
SCORES = 5
# What is said, a row for each number: of clusters that fit (their scores behind the weighted sum), of those that are
# short of room, of those whose report is old, of those that are kept away from.
BY_NODE, SCORE, FIRST_SCORE = range(3)
SHORT_BY_NODE, SHORT_BY_SUM, SHORT_AT_MOST, SHORT_NODES, SHORT_CLOSED = range(7, 12)
AGE = 12
LEFT, UNTIL = range(13, 15)
ROWS = 15

# Answers: these, then those of a lack by code and what is lacking, then those of rules.
FITS, UNKNOWN, STALE, AVOIDED = range(4)
FIXED = 4
# How many clusters fit, are short, stale, avoided; the place of the best among all, or -1, and among those that fit.
# Of one shape, the best is filled: on so many nodes.
FITTING, SHORT, OLD, KEPT_AWAY, BEST, BEST_FITTING, USED = range(7)
COUNTS = 7
NOT_ENOUGH, FRAGMENTED, NEVER = range(3)
# How near a yes an answer is: a rule is against it, it is too small, a report or time may change it, others hold room,
# it fits.
RULED_OUT, TOO_SMALL, PASSING, TAKEN, FREE = range(5)
LACKS = 3


class Arrays(NamedTuple):
    """All that is kept of a fleet.

    - free, whole [position, r]: amounts free now, and in all
    - home [position]: its slot; start, size [slot]: its cluster's first position, and nodes, in the order of names
    - changed, deep [slot]: numbers that grow with each change, of amounts, and of more than that
    - open [e, position]: KEPT_OUT, CLOSED, OPEN; sums [e, slot, NOW or FOR_GOOD, r...]; summed: `changed` and `deep`
      when they were taken
    - pods [k, position]: of the shape that fit now; kind: NONE, PLAIN, MIXED; facts [k, slot, ...]: see TOTAL
    - nothing [r...]: zeros, as long as a row of sums
    """

    free: Int2
    whole: Int2
    home: Int1
    start: Int1
    size: Int1
    changed: Int1
    deep: Int1
    open: Byte2
    sums: Int4
    summed: Int3
    pods: Small2
    kind: Byte2
    facts: Int3
    nothing: Int1


class ShapeAsked(NamedTuple):
    """A shape: its number `k` and that of its eligible nodes, the columns of what it asks for and how much, in the
    order of names, and the columns of extended resources that it does not ask for. `tally` [slot, 0 for plain nodes or
    1, pods] counts nodes."""

    k: int
    e: int
    columns: Int1
    asks: Int1
    besides: Int1
    tally: Small3


class Question(NamedTuple):
    """What all clusters are asked at one moment. By slot: `ruled` is 0 or the number of the rule against it, `observed`
    and `avoided` times (ms); `order` has the slots by name. `kind_rules` says by number which rules are about
    kinds, `lacks` how many things may be lacking. Of the pods so many are `needed`, and all are `wanted`."""

    order: Int1
    ruled: Int1
    kind_rules: Byte1
    observed: Int1
    avoided: Int1
    weights: Int1
    now: int
    stale_after: int
    lacks: int
    needed: int
    wanted: int


class SurveyFindings(NamedTuple):
    """What they say. `answer` in the order of names; `numbers` by row (see BY_NODE), those of the clusters with such an
    answer in the order of names. `counts`: see FITTING. `at`, `pods`: nodes of the best cluster by their places in it,
    and the pods on each."""

    answer: Int1
    numbers: Int2
    counts: Int1
    at: Int1
    pods: Int1


class Scratch(NamedTuple):
    """What loops write on and nobody reads afterwards: room for the nodes of the largest cluster, for the parts of a
    gang, and for a row of sums for each part.

    - free, touched, fits [node]: a cluster in one try; order, each [part]; gone [part, r...]
    """

    free: Int2
    touched: Byte1
    fits: Int1
    order: Int1
    each: Int1
    gone: Int2


class PlacedPods(NamedTuple):
    """Where pods go, by part: the places of nodes in their cluster and how many pods, in the order of filling; `used`
    says how many nodes."""

    at: Int2
    pods: Int2
    used: Int1


class GangAsked(NamedTuple):
    """A gang of several shapes, part by part in manifest order. `lengths`: how many of `columns` and `asks` count;
    `ranks`: the place of what may be lacking among all such names, `pods` first. `lead`: the part that decides."""

    k: Int1
    e: Int1
    columns: Int2
    asks: Int2
    lengths: Int1
    ranks: Int2
    needed: Int1
    wanted: Int1
    lead: int
    scratch: Scratch
    into: PlacedPods
