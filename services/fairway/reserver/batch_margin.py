"""What of a cluster's batch resources is left alone. Pure.

Koordinator's figures lag behind real use by up to five minutes and may fall below what is given out. So of each node as
much is left alone as its cluster's batch resources fell by within five minutes, in all but one of twenty such times of
the last day, and a tenth at least. Of a cluster that was followed for less than twenty of them the others count as ones
without a fall: a single one would else keep everything back for as long.
"""

from collections.abc import Mapping

import msgspec

from fairway.domain.batch_resources import PART_OF
from fairway.wire.capacity import Falls, Node
from fairway.wire.fleet import Report

# Five minutes, in ms. Of a cluster that was not heard of for so long again nobody knows when it fell.
WINDOW_MS = 300_000
LEAST_PERCENT = 10
# A twentieth, in percent: into so many parts falls are counted.
_STEP = 5
_WHOLE = 20
# A day of such times: with more, older ones count half.
_MOST_COUNTED = 288
_SHARE = 95
_LEAST_COUNTED = 20


def followed(falls: Falls, totals: Mapping[str, int], now: int) -> Falls:
    """`totals` is what all nodes have together by now."""
    there = {name: totals[name] for name in PART_OF if name in totals}
    if not there and not falls.first:
        return falls
    if not falls.since or now - falls.since >= 2 * WINDOW_MS:
        return msgspec.structs.replace(falls, since=now, first=there, lowest=there)
    lowest = {name: min(amount, there.get(name, 0)) for name, amount in falls.lowest.items()}
    if now - falls.since < WINDOW_MS:
        return falls if lowest == falls.lowest else msgspec.structs.replace(falls, lowest=lowest)
    return Falls(now, there, there, _counted(falls.counts, _fall(falls.first, lowest)))


def _fall(first: Mapping[str, int], lowest: Mapping[str, int]) -> int:
    """In twentieths of what was there first, rounded up; of the resource that fell most."""
    return max((-(-_WHOLE * (amount - lowest[name]) // amount) for name, amount in first.items() if amount), default=0)


def _counted(counts: tuple[int, ...], fall: int) -> tuple[int, ...]:
    kept = list(counts) + [0] * (fall + 1 - len(counts))
    if sum(kept) >= _MOST_COUNTED:
        kept = [count // 2 for count in kept]
    kept[fall] += 1
    return tuple(kept)


def percent(falls: Falls) -> int:
    """Of each node's batch resources."""
    counted = sum(falls.counts)
    enough = max(_LEAST_COUNTED, counted) * _SHARE
    seen = max(0, _LEAST_COUNTED - counted)
    for fall, count in enumerate(falls.counts):
        seen += count
        if seen * 100 >= enough:
            return max(LEAST_PERCENT, fall * _STEP)
    return LEAST_PERCENT


def with_margins(report: Report, share: int) -> Report:
    """The report with the margins of its nodes; what an agent says of them does not count."""
    if not any(node.margin or not PART_OF.keys().isdisjoint(node.allocatable) for node in report.nodes):
        return report
    return msgspec.structs.replace(report, nodes=tuple(_with_margin(node, share) for node in report.nodes))


def _with_margin(node: Node, share: int) -> Node:
    batch = PART_OF.keys() & node.allocatable.keys()
    margin = {name: -(-node.allocatable[name] * share // 100) for name in sorted(batch)}
    return msgspec.structs.replace(node, margin=margin)
