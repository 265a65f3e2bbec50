"""The attributes of a node of an ElasticQuotaTree, each judged where it stands. Those that are not in this table say
nothing here (`known_fields`)."""

from collections.abc import Callable, Mapping
from functools import partial

from fairway.domain.quota.node_terms import (
    DOMAIN,
    LEND_LIMIT,
    MAX_EVICTIONS,
    MAX_GRACE,
    MIN_RUNTIME,
    MOST_WEIGHT,
    ORDER,
    ORDERS,
    PREEMPT_AFTER,
    PREEMPT_POLICIES,
    PREEMPT_POLICY,
    RECLAIM_AFTER,
    SHARED_WEIGHT,
    WEIGHT,
    duration,
    is_weight,
    lend_limit,
    weight,
)
from fairway.domain.quota.tree import ALLOW_NAMESPACES, QuotaNode
from fairway.domain.resources import show
from fairway.domain.tenancy.submission_limits import LEAST_BYTES, MAX_BYTES, MAX_PENDING, MAX_RATE
from fairway.domain.text.digits import is_whole
from fairway.workloads.reading.fields import Field, shown
from fairway.workloads.reading.names import read_listed

# A limit that large is none.
_MOST_SUBMITTED = 1_000_000_000
# Who has to wait for a day, or may not be touched for one, is better served by another min.
_LONGEST = 24 * 3_600_000
_MOST_EVICTIONS = 1_000
# Earlier versions took these unread, whatever they said.
_TAKEN_UNREAD = frozenset({LEND_LIMIT, PREEMPT_POLICY})


def read_attributes(field: Field, node: QuotaNode, in_force: bool) -> dict[str, str]:
    """Those of a node that is read but for them; what is wrong with each is noted. Of a tree that is `in_force` what an
    earlier version has taken unread stays without effect where it cannot be read, as it was."""
    read_listed(field[ALLOW_NAMESPACES])
    bad = set()
    for name, judge in _JUDGES.items():
        given = field[name]
        if not isinstance(given.value, str):
            continue
        try:
            judge(given.value, node)
        except ValueError as error:
            bad.add(name)
            text, _, remedy = str(error).rpartition("; ")
            if not (in_force and name in _TAKEN_UNREAD):
                given.wrong(f"quota {node.path}: {text}", remedy)
    return {name: text for name, text in node.attributes.items() if name not in bad}


def _number(least: int, most: int, text: str, node: QuotaNode) -> None:
    if not (is_whole(text, len(str(most))) and least <= int(text) <= most):
        raise ValueError(
            f"is {shown(text)}, not a number from {least} to {most}; write it in digits and quotes, or leave it out"
        )


def _one_of(words: tuple[str, ...], text: str, node: QuotaNode) -> None:
    if text not in words:
        raise ValueError(f"is {shown(text)}; write {' or '.join(words)}")


def _weight(text: str, node: QuotaNode) -> None:
    _number(0, MOST_WEIGHT, text, node)
    other = node.attributes.get(SHARED_WEIGHT, "")
    if is_weight(other) and int(other) != weight(node):
        raise ValueError(f"is {shown(text)}, and {SHARED_WEIGHT} is {shown(other)}; leave one of the two out")


def _order(text: str, node: QuotaNode) -> None:
    if "/" in node.path:
        raise ValueError("one order holds for the whole tree; write it at the root, and leave it out here")
    _one_of(ORDERS, text, node)


def _domain(text: str, node: QuotaNode) -> None:
    if not node.children:
        raise ValueError("has no nodes below it, and is one by itself; leave it out on a leaf")
    _one_of(("true", "false"), text, node)


def _duration(text: str, node: QuotaNode) -> None:
    if duration(text) > _LONGEST:
        raise ValueError(f"{shown(text)} is too long; write 24h at most")


def _lend_limit(text: str, node: QuotaNode) -> None:
    for name, amount in sorted(lend_limit(text).items()):
        if name not in node.min:
            raise ValueError(f"lends {shown(name)}, of which it has no min; leave it out, or add it to the min")
        if amount > node.min[name]:
            least = show(name, node.min[name])
            raise ValueError(f"lends {show(name, amount)} {name}, above its min of {least}; lower it, or leave it out")


_JUDGES: Mapping[str, Callable[[str, QuotaNode], None]] = {
    MAX_PENDING: partial(_number, 1, _MOST_SUBMITTED),
    MAX_RATE: partial(_number, 1, _MOST_SUBMITTED),
    MAX_BYTES: partial(_number, LEAST_BYTES, 10**15),
    LEND_LIMIT: _lend_limit,
    PREEMPT_POLICY: partial(_one_of, PREEMPT_POLICIES),
    WEIGHT: _weight,
    DOMAIN: _domain,
    RECLAIM_AFTER: _duration,
    PREEMPT_AFTER: _duration,
    MIN_RUNTIME: _duration,
    MAX_GRACE: _duration,
    MAX_EVICTIONS: partial(_number, 0, _MOST_EVICTIONS),
    ORDER: _order,
}
