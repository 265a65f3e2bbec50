"""What the attributes of a quota node say of lending, of preemption and of its order, as values. Pure.

The reader of trees has judged every attribute: what stands here is well written, or not there.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec
from msgspec import Struct

from fairway.domain.quota.tree import QuotaNode, QuotaPath, attributes
from fairway.domain.resources import Resources, parse_quantity
from fairway.domain.text.digits import is_whole

# How much of its min a node lends, as JSON by resource (koord-queue); what is not named may all be lent.
LEND_LIMIT = "alibabacloud.com/lendlimit"
# PreemptLowerPriority, or Never (ACK): whether jobs of a leaf evict one another by priority.
PREEMPT_POLICY = "preempt-policy"
NEVER = "Never"
PREEMPT_POLICIES = ("PreemptLowerPriority", NEVER)
# The share of what is above min that a node has among its siblings; 0: only when none of them wants it.
WEIGHT = "fairway.io/weight"
MOST_WEIGHT = 1_000_000
# Koordinator's, which is an object of amounts by resource there (a node without one weighs as much as its max): other
# numbers than one weight for a node. Only where it is a plain number does it say the same.
SHARED_WEIGHT = "quota.scheduling.koordinator.sh/shared-weight"
# Of an inner node: its leaves are one for preemption by priority.
DOMAIN = "fairway.io/preempt-domain"
# Durations: how long a job waits before others are evicted for it, by its min and by its priority; how long an attempt
# runs before it may be evicted by priority.
RECLAIM_AFTER = "fairway.io/reclaim-after"
PREEMPT_AFTER = "fairway.io/preempt-after"
MIN_RUNTIME = "fairway.io/min-runtime"
# A duration: the longest notice and grace that a job which is evicted has, together.
MAX_GRACE = "fairway.io/max-grace"
# How often one job is evicted by priority at most.
MAX_EVICTIONS = "fairway.io/max-evictions"
# Of the root: who is next among jobs of several leaves that wait for the same. By time: who waits longest; by share:
# whose leaf has the least for its weight.
ORDER = "fairway.io/order"
BY_TIME = "time"
BY_SHARE = "share"
ORDERS = (BY_TIME, BY_SHARE)
_LENT = '{"cpu": "10", "nvidia.com/gpu": 2}'
_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}


class PreemptionTerms(Struct, frozen=True):
    """What holds for the jobs of a leaf: of each attribute that of the node nearest to it. `domain` is the path of the
    node whose jobs evict one another by priority, where they do (`by_priority`). Times in ms."""

    domain: str = ""
    by_priority: bool = True
    reclaim_after: int = 1_000
    preempt_after: int = 10_000
    min_runtime: int = 60_000
    max_evictions: int = 5


# Without a tree the fleet is one domain.
FLEET = PreemptionTerms()
# By identity: a tree is never changed. Each is kept with its path, so that no other one gets its ids.
_terms: dict[tuple[int, int], tuple[QuotaPath, PreemptionTerms]] = {}
_MOST_TERMS = 4_096
# The longest notice and grace (ms) where no node says one.
GRACE_MS = 120_000


@lru_cache(maxsize=4096)
def duration(text: str) -> int:
    """Milliseconds of a whole number with its unit (ms, s, m, h). ValueError for another text."""
    number = text.rstrip("mhs")
    unit = text[len(number) :]
    if not (number.isascii() and number.isdigit() and len(number) <= 9 and unit in _UNITS):
        raise ValueError(f"{text[:40]!r} is no duration; write a whole number and ms, s, m or h, such as 90s")
    return int(number) * _UNITS[unit]


def preemption_terms(path: QuotaPath) -> PreemptionTerms:
    """Of the leaf at the end of a path; of no path those of a fleet without a tree."""
    if not path:
        return FLEET
    ends = (id(path[0]), id(path[-1]))
    if ends not in _terms:
        if len(_terms) >= _MOST_TERMS:
            _terms.clear()
        _terms[ends] = (path, _said_on(path))
    return _terms[ends][1]


def _said_on(path: QuotaPath) -> PreemptionTerms:
    said = attributes(path)
    times = {
        field: duration(said[name])
        for field, name in (
            ("reclaim_after", RECLAIM_AFTER),
            ("preempt_after", PREEMPT_AFTER),
            ("min_runtime", MIN_RUNTIME),
        )
        if name in said
    }
    if MAX_EVICTIONS in said:
        times["max_evictions"] = int(said[MAX_EVICTIONS])
    domain = next((node for node in path if node.attributes.get(DOMAIN) == "true"), path[-1])
    return PreemptionTerms(domain.path, said.get(PREEMPT_POLICY) != NEVER, **times)


def max_graces(tree: QuotaNode | None) -> dict[str, int]:
    """The longest notice and grace (ms), by the path of each node that says one."""
    if tree is None:
        return {}
    own = {tree.path: duration(tree.attributes[MAX_GRACE])} if MAX_GRACE in tree.attributes else {}
    for child in tree.children:
        own |= max_graces(child)
    return own


def max_grace(leaf: Sequence[str], said: Mapping[str, int]) -> int:
    """Of a job of this leaf, given as the paths of its nodes from the root down: that of the nearest which says one."""
    return next((said[node] for node in reversed(leaf) if node in said), GRACE_MS)


def order(tree: QuotaNode | None) -> str:
    """One of ORDERS."""
    return tree.attributes.get(ORDER, BY_TIME) if tree is not None else BY_TIME


def is_weight(text: str) -> bool:
    return is_whole(text, len(str(MOST_WEIGHT))) and int(text) <= MOST_WEIGHT


def weight(node: QuotaNode) -> int:
    shared = node.attributes.get(SHARED_WEIGHT, "")
    return int(node.attributes.get(WEIGHT) or (shared if is_weight(shared) else "1"))


@lru_cache(maxsize=4096)
def lend_limit(text: str) -> Resources:
    """Amounts by resource. ValueError for another text."""
    try:
        found = msgspec.json.decode(text, type=dict[str, object])
    except (ValueError, RecursionError):
        raise ValueError(f"{text[:40]!r} is no JSON object; write amounts by resource, such as {_LENT}") from None
    return {name: parse_quantity(name, amount) for name, amount in found.items()}


def withheld(node: QuotaNode) -> Resources:
    """How much of its min a node keeps for itself, whether it uses it or not."""
    text = node.attributes.get(LEND_LIMIT)
    if text is None:
        return {}
    kept = {name: node.min.get(name, 0) - amount for name, amount in lend_limit(text).items()}
    return {name: amount for name, amount in kept.items() if amount > 0}
