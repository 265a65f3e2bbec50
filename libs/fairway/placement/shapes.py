"""A shape is what placement sees of a pod: its requests and where it may go. Real fleets have tens of them.

Two pod sets with equal shapes are interchangeable, whatever their names and jobs: counts are kept per shape.
"""

from functools import lru_cache

from msgspec import Struct

from fairway.domain.resources import describe
from fairway.wire.workload import Expression, PodSet, Toleration, Workload

Pairs = tuple[tuple[str, str], ...]
Amounts = tuple[tuple[str, int], ...]
Terms = tuple[tuple[Expression, ...], ...]
# All of a pod set that placement reads, in few values: its name, its count, the resources it requests, how much of
# each, and where it may be.
_PodSetKey = tuple[str, int, tuple[str, ...], tuple[int, ...], Pairs, Terms, tuple[Toleration, ...]]


class Where(Struct, frozen=True, cache_hash=True):
    """The nodes a pod may be on: nodeSelector, node affinity terms, tolerations, each in canonical order."""

    selector: Pairs = ()
    terms: Terms = ()
    tolerations: tuple[Toleration, ...] = ()


class Shape(Struct, frozen=True, cache_hash=True):
    """`requests` of one pod, by resource name, without zeros and without `pods` (always 1)."""

    requests: Amounts
    where: Where

    @property
    def main(self) -> str:
        """The resource that decides where such a pod goes: an extended one if it asks for any, else cpu."""
        names = [name for name, _ in self.requests]
        return next((name for name in names if "/" in name), names[0] if names else "pods")


class Part(Struct, frozen=True, cache_hash=True):
    """Pods of one shape: `needed` must fit for the gang to start, `wanted` are all."""

    shape: Shape
    needed: int
    wanted: int


class Demand(Struct, frozen=True, cache_hash=True):
    """The gang: its parts in manifest order (pod sets of equal shape are one part), `needed` pods in all."""

    parts: tuple[Part, ...]
    needed: int


class Ask(Struct, frozen=True):
    """A workload as placement reads it; `sets` has the pod sets of every part: (name, count)."""

    demand: Demand
    sets: tuple[tuple[tuple[str, int], ...], ...]


@lru_cache(maxsize=4096)
def lead(demand: Demand) -> int:
    """The index of the part that decides where a gang goes: the first that asks for an extended resource, else the one
    with most pods."""
    gpus = [index for index, part in enumerate(demand.parts) if "/" in part.shape.main]
    if gpus:
        return gpus[0]
    return max(range(len(demand.parts)), key=lambda index: (demand.parts[index].wanted, -index), default=0)


def shape(pods: PodSet) -> Shape:
    """The shape of one pod of this set; equal shapes compare equal however the manifest ordered them."""
    return _shape(tuple(pods.requests.items()), tuple(pods.node_selector.items()), pods.node_terms, pods.tolerations)


@lru_cache(maxsize=4096)
def _shape(requests: Amounts, selector: Pairs, terms: Terms, tolerations: tuple[Toleration, ...]) -> Shape:
    asked = tuple(sorted((name, amount) for name, amount in requests if amount > 0 and name != "pods"))
    ordered = {tuple(sorted(map(_sorted_values, term), key=_key)) for term in terms}
    where = Where(
        selector=tuple(sorted(selector)),
        terms=tuple(sorted(ordered, key=lambda term: [_key(part) for part in term])),
        tolerations=tuple(sorted(set(tolerations), key=lambda one: (one.key, one.operator, one.value, one.effect))),
    )
    return Shape(requests=asked, where=where)


def _sorted_values(part: Expression) -> Expression:
    return Expression(part.key, part.operator, tuple(sorted(part.values)), part.field)


def _key(part: Expression) -> tuple[str, str, tuple[str, ...], bool]:
    return part.key, part.operator, part.values, part.field


def ask(workload: Workload) -> Ask:
    """What this workload asks of a cluster.

    The gang is `gang_minimum` pods (at least 1, at most all). Each pod set's share of it is taken in manifest
    order: a set is complete before the next one counts, so a launcher or master listed first is always in.
    """
    known = [
        (
            pods.name,
            pods.count,
            tuple(pods.requests),
            tuple(pods.requests.values()),
            tuple(pods.node_selector.items()),
            pods.node_terms,
            pods.tolerations,
        )
        for pods in workload.pod_sets
        if pods.count > 0
    ]
    return _ask(tuple(known), workload.gang_minimum)


@lru_cache(maxsize=4096)
def _ask(pod_sets: tuple[_PodSetKey, ...], minimum: int) -> Ask:
    left = needed_in_all = min(max(minimum, 1), sum([count for _, count, *_ in pod_sets]))
    needed: dict[Shape, int] = {}
    sets: dict[Shape, tuple[tuple[str, int], ...]] = {}
    for name, count, resources, amounts, selector, terms, tolerations in pod_sets:
        key = _shape(tuple(zip(resources, amounts, strict=True)), selector, terms, tolerations)
        share = min(count, left)
        left -= share
        needed[key] = needed.get(key, 0) + share
        sets[key] = (*sets.get(key, ()), (name, count))
    return Ask(
        Demand(
            tuple([Part(key, needed[key], sum([count for _, count in named])) for key, named in sets.items()]),
            needed_in_all,
        ),
        tuple(sets.values()),
    )


@lru_cache(maxsize=4096)
def words(demand: Demand) -> str:
    """`16 pods of 8 nvidia.com/gpu` as a person would say it; several parts are joined with `and`."""
    return " and ".join(
        f"{part.needed} pod{'' if part.needed == 1 else 's'} of {describe(dict(part.shape.requests))}"
        for part in demand.parts
        if part.needed
    )
