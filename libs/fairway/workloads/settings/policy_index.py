"""Policies, found by what they may select: ten thousand policies and as many jobs must not meet pairwise. Pure."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from fairway.wire.policy import Policy, Selector
from fairway.wire.reasons import Refused
from fairway.workloads.settings.label_index import Equals, LabelIndex, Rank, rank_of
from fairway.workloads.settings.label_index import Key as Key
from fairway.workloads.settings.policies import BY_KIND, BY_LABELS, BY_NAME, chosen, closeness, read_policy
from fairway.workloads.settings.policy_limits import Together, size_of

# What a selector that gives a name can only select: namespace ("": any), kind with its apiVersion, name.
Name = tuple[str, str, str]
# A namespace ("": any), and a kind with its apiVersion.
_Place = tuple[str, str]
# Books of one policy that `selects` keeps: a change of one is followed by many jobs, and few change at once.
_KEPT = 64
# Entries that are walked sooner than an index is made of them.
_FEW = 8
_NONE: Mapping[Key, Policy] = {}


class _Entries:
    """The entries of one kind in one namespace: those that give a name, those with labels, those of the kind alone."""

    def __init__(self) -> None:
        self.named: dict[str, Equals] = {}
        self.labelled = LabelIndex()
        self.all = Equals()

    def __bool__(self) -> bool:
        return bool(self.named or self.labelled or self.all)

    def put(self, selector: Selector, key: Key, policy: Policy) -> None:
        if selector.name:
            self.named.setdefault(selector.name, Equals()).put(key, policy)
        elif selector.labels:
            self.labelled.put(selector.labels, key, policy)
        else:
            self.all.put(key, policy)

    def drop(self, selector: Selector, key: Key, policy: Policy) -> None:
        if not selector.name:
            self.labelled.drop(selector.labels, key, policy) if selector.labels else self.all.drop(key, policy)
        elif (equals := self.named.get(selector.name)) is not None:
            equals.drop(key, policy)
            if not equals:
                del self.named[selector.name]

    def selecting(self, name: str, labels: Mapping[str, Any]) -> Iterator[tuple[int, Equals]]:
        if (equals := self.named.get(name)) is not None:
            yield BY_NAME, equals
        if self.labelled:
            # Of an object of the hub nobody has looked at the labels yet.
            texts = {key: value for key, value in labels.items() if isinstance(value, str)}
            for equals in self.labelled.matching(texts):
                yield BY_LABELS, equals
        if self.all:
            yield BY_KIND, self.all


class _Best:
    """Those that come before all others that were seen, all of one rank."""

    def __init__(self) -> None:
        self.policies: dict[Key, Policy] = {}
        self._rank: tuple[Rank, int] = ((False, 0), 0)

    def take(self, rank: tuple[Rank, int], policies: Mapping[Key, Policy]) -> None:
        if not self.policies or rank > self._rank:
            self.policies = dict(policies)
            self._rank = rank
        elif rank == self._rank:
            self.policies.update(policies)


class PolicyIndex:
    def __init__(self) -> None:
        self._all: dict[Key, Policy] = {}
        self._places: dict[_Place, _Entries] = {}

    def __iter__(self) -> Iterator[Key]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def get(self, key: Key) -> Policy | None:
        return self._all.get(key)

    def put(self, policy: Policy) -> None:
        """Takes a policy in, or over."""
        key = (policy.kind, policy.namespace, policy.name)
        self.drop(key)
        self._all[key] = policy
        for selector in dict.fromkeys(policy.selectors):
            self._places.setdefault(_place(policy, selector), _Entries()).put(selector, key, policy)

    def drop(self, key: Key) -> None:
        known = self._all.pop(key, None)
        if known is None:
            return
        for selector in dict.fromkeys(known.selectors):
            place = _place(known, selector)
            # Two of its entries may say the same in other words: with the first of them both are gone.
            if (entries := self._places.get(place)) is not None:
                entries.drop(selector, key, known)
                if not entries:
                    del self._places[place]

    def select(self, manifest: dict[str, Any], along: Mapping[Key, Policy] = _NONE) -> Policy | Refused:
        """As policies.select says of all policies here; those that came `along` with the object stand in the
        place of those here."""
        best = _Best()
        for close, equals in self._selecting(manifest):
            if (first := equals.first(along)) is not None:
                best.take((first[0], close), first[1])
        for key, policy in along.items():
            if close := closeness(policy, manifest):
                best.take((rank_of(policy), close), {key: policy})
        return chosen(list(best.policies.values()), manifest)

    def names(self, namespace: str, kind: str, name: str) -> bool:
        """Whether a policy selects the object by its name."""
        places = (self._places.get((where, kind)) for where in (namespace, ""))
        return any(entries is not None and name in entries.named for entries in places)

    def _selecting(self, manifest: dict[str, Any]) -> Iterator[tuple[int, Equals]]:
        meta = manifest["metadata"]
        kind = f"{manifest['kind']}.{manifest['apiVersion']}"
        name = str(meta.get("name") or "")
        for namespace in (meta.get("namespace") or "default", ""):
            if (entries := self._places.get((namespace, kind))) is not None:
                yield from entries.selecting(name, meta.get("labels") or {})


def named(selector: Selector) -> Name:
    return selector.namespace, f"{selector.kind}.{selector.api_version}", selector.name


def _place(policy: Policy, selector: Selector) -> _Place:
    return policy.namespace or selector.namespace, f"{selector.kind}.{selector.api_version}"


_books: OrderedDict[int, tuple[Policy, PolicyIndex]] = OrderedDict()


def selects(policy: Policy, manifest: dict[str, Any]) -> bool:
    """Whether this one policy selects an object. The index of a long one is kept for the next object that is asked
    about."""
    if len(policy.selectors) <= _FEW:
        return closeness(policy, manifest) > 0
    kept = _books.get(id(policy))
    if kept is None or kept[0] is not policy:
        kept = _books[id(policy)] = (policy, PolicyIndex())
        kept[1].put(policy)
        while len(_books) > _KEPT:
            _books.popitem(last=False)
    return isinstance(kept[1].select(manifest), Policy)


class PoliciesInForce:
    """Those that the hub says now, by what they select and by their title, and how large they are together."""

    def __init__(self) -> None:
        self.index = PolicyIndex()
        self.together = Together()
        self.by_title: dict[str, Policy] = {}

    def take(self, title: str, key: Key, manifest: dict[str, Any] | None) -> None:
        """One that does not read leaves the last good one in force; None withdraws it."""
        if manifest is None:
            self.index.drop(key)
            self.together.drop(key)
            self.by_title.pop(title, None)
        else:
            policy = self.by_title[title] = read_policy(manifest)
            self.index.put(policy)
            self.together.put(key, size_of(manifest))
