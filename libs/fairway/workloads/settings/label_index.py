"""Policies by the label selectors of their entries, found by the labels that an object has. Pure.

A selector stands under one label that an object needs to match it, so that an object meets those alone that ask for a
label of its own; selectors that say the same are one. Only those that ask for no label are looked at for every object.
"""

from bisect import bisect_left, insort
from collections.abc import Container, Iterator, Mapping

from fairway.wire.policy import Policy
from fairway.wire.workload import Expression

# Kind, namespace (empty: cluster-wide) and name of a policy.
Key = tuple[str, str, str]
# What decides between policies before how closely they select: a namespace of its own, then the priority.
Rank = tuple[bool, int]
# Whether the value of a label (None: it is not there) has to be one of these.
Need = tuple[str, frozenset[str | None], bool]
# A label that an object needs: with this value, or (None) with any. The empty key stands for no label at all.
_Anchor = tuple[str, str | None]

_ABSENT: frozenset[str | None] = frozenset({None})
_NOWHERE: _Anchor = ("", None)


class Equals:
    """The policies that select by the same entry, by their ranks."""

    def __init__(self) -> None:
        self._ranks: dict[Rank, dict[Key, Policy]] = {}
        self._order: list[Rank] = []

    def __bool__(self) -> bool:
        return bool(self._ranks)

    def put(self, key: Key, policy: Policy) -> None:
        rank = rank_of(policy)
        if rank not in self._ranks:
            self._ranks[rank] = {}
            insort(self._order, rank)
        self._ranks[rank][key] = policy

    def drop(self, key: Key, policy: Policy) -> None:
        rank = rank_of(policy)
        equals = self._ranks.get(rank, {})
        equals.pop(key, None)
        if not equals and self._ranks.pop(rank, None) is not None:
            del self._order[bisect_left(self._order, rank)]

    def first(self, without: Container[Key]) -> tuple[Rank, dict[Key, Policy]] | None:
        """Those of the highest rank, but for the ones that do not count."""
        for rank in reversed(self._order):
            equals = self._ranks[rank]
            if without:
                equals = {key: policy for key, policy in equals.items() if key not in without}
            if equals:
                return rank, equals
        return None


class LabelIndex:
    def __init__(self) -> None:
        self._at: dict[_Anchor, dict[frozenset[Need], Equals]] = {}

    def __bool__(self) -> bool:
        return bool(self._at)

    def put(self, labels: tuple[Expression, ...], key: Key, policy: Policy) -> None:
        needs = _needs(labels)
        found = next((self._at[one][needs] for one in _anchors(needs) if needs in self._at.get(one, {})), Equals())
        found.put(key, policy)
        for anchor in _anchors(needs):
            self._at.setdefault(anchor, {})[needs] = found

    def drop(self, labels: tuple[Expression, ...], key: Key, policy: Policy) -> None:
        needs = _needs(labels)
        for anchor in _anchors(needs):
            there = self._at.get(anchor, {})
            if (found := there.get(needs)) is None:
                continue
            found.drop(key, policy)
            if not found:
                del there[needs]
                if not there:
                    del self._at[anchor]

    def matching(self, labels: Mapping[str, str]) -> Iterator[Equals]:
        """Those whose label selector holds for an object with these labels."""
        for anchor in (_NOWHERE, *((key, None) for key in labels), *labels.items()):
            for needs, found in self._at.get(anchor, {}).items():
                if _hold(needs, labels):
                    yield found


def rank_of(policy: Policy) -> Rank:
    return bool(policy.namespace), policy.priority


def _needs(labels: tuple[Expression, ...]) -> frozenset[Need]:
    return frozenset(_need(one) for one in labels)


def _need(expression: Expression) -> Need:
    match expression.operator:
        case "In":
            return expression.key, frozenset(expression.values), True
        case "NotIn":
            return expression.key, frozenset(expression.values), False
        case "Exists":
            return expression.key, _ABSENT, False
        case _:
            return expression.key, _ABSENT, True


def _anchors(needs: frozenset[Need]) -> list[_Anchor]:
    """The labels under which a selector stands: all of its shortest choice of values, or one that has to be there."""
    choices = [need for need in needs if need[2] and None not in need[1]]
    if choices:
        key, values, _ = min(choices, key=lambda need: (len(need[1]), need[0], sorted(map(str, need[1]))))
        return [(key, value) for value in sorted(map(str, values))]
    present = min((key for key, values, wanted in needs if values == _ABSENT and not wanted), default=None)
    return [_NOWHERE] if present is None else [(present, None)]


def _hold(needs: frozenset[Need], labels: Mapping[str, str]) -> bool:
    for key, values, wanted in needs:  # noqa: SIM110 - the innermost loop of a job's admission, and twice as fast
        if (labels.get(key) in values) is not wanted:
            return False
    return True
