"""How large a policy may be, and all policies of a namespace together: each is read and kept by every process. Pure.

The bounds are where no honest policy comes. They are asked at the doors alone: what an older version has let in stays.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from fairway.wire.reasons import Code, Reason
from fairway.workloads.companions.named import MOST
from fairway.workloads.reading.parse import values
from fairway.workloads.settings.companion_selectors import most_of_one_job
from fairway.workloads.settings.label_index import Key
from fairway.workloads.settings.placement import MOST_EXPRESSIONS

# `kubectl apply` takes no larger object: it keeps a copy in an annotation, and all annotations have 256 KiB.
MOST_BYTES = 256 * 1024
# 500 entries by kind and name have 2,000; reading so many takes some 10 ms.
MOST_FIELDS = 5_000
# As many as Kubernetes takes expressions, labels in one selector; and twice the clusters of the largest fleet measured.
MOST_LABELS = MOST_EXPRESSIONS
MOST_VALUES = 500
# Of one namespace, and of the cluster-wide ones together. Five times the ten thousand jobs with a policy each that
# are measured; so many entries by kind and labels take a job two milliseconds, if all of them ask for its labels.
MOST_POLICIES = 50_000
MOST_TERMS = 20_000
MOST_TOGETHER = 32 * 2**20
# Policies that come along with one job, together no larger than one may be.
MOST_ALONG = 100
_encode = msgspec.json.Encoder().encode
_SPLIT = "name jobs by labels of their own in place of one by one, or make several policies of it"


class PolicySize(Struct, frozen=True):
    """`terms`: entries that give no name, with each label, expression and value of them."""

    bytes: int
    terms: int


def too_large(manifest: Mapping[str, Any]) -> tuple[Reason, ...]:
    """Why a policy is not even read. `manifest`: without what API servers and kubectl write into it."""
    size = len(_encode(manifest))
    if size > MOST_BYTES:
        text = f"the policy has {size} bytes, more than {MOST_BYTES} (256 KiB)"
        return (Reason(Code.TOO_LARGE, text, "spec", _SPLIT),)
    spec = manifest.get("spec")
    fields = values(spec, MOST_FIELDS)
    if fields > MOST_FIELDS:
        text = f"the policy has more than {MOST_FIELDS} fields and values"
        return (Reason(Code.TOO_LARGE, text, "spec", _SPLIT),)
    named = most_of_one_job(spec)
    if named > MOST:
        text = f"names {named} ConfigMaps, Secrets, service accounts and claims for one namespace, more than {MOST}"
        remedy = "make several policies of it, each with what its own jobs need"
        return (Reason(Code.TOO_LARGE, text, "spec.resourceSelectors", remedy),)
    for index, labels, expressions in _selectors(spec):
        if refusal := _selector_too_large(f"spec.resourceSelectors[{index}].labelSelector", labels, expressions):
            return (refusal,)
    return ()


def _selector_too_large(field: str, labels: Mapping[str, Any], expressions: list[Any]) -> Reason | None:
    if len(labels) > MOST_LABELS:
        text = f"has {len(labels)} labels, more than {MOST_LABELS}"
        remedy = "ask for fewer, or for one that they share"
        return Reason(Code.TOO_LARGE, text, f"{field}.matchLabels", remedy)
    for index, one in enumerate(expressions):
        count = len(_list(_mapping(one).get("values")))
        if count > MOST_VALUES:
            text = f"has {count} values, more than {MOST_VALUES}"
            remedy = "give these jobs a label that they share"
            return Reason(Code.TOO_LARGE, text, f"{field}.matchExpressions[{index}].values", remedy)
    return None


def size_of(manifest: Mapping[str, Any], size: int | None = None) -> PolicySize:
    """`size`: how many bytes it has, if that is known."""
    terms = 0
    for _, labels, expressions in _selectors(manifest.get("spec")):
        terms += 1 + len(labels) + sum(1 + len(_list(_mapping(one).get("values"))) for one in expressions)
    return PolicySize(len(_encode(manifest)) if size is None else size, terms)


class Together:
    """What the policies of each namespace are together."""

    def __init__(self) -> None:
        self._sizes: dict[Key, PolicySize] = {}
        self._sums: dict[str, tuple[int, int, int]] = {}

    def put(self, key: Key, size: PolicySize) -> None:
        self.drop(key)
        self._sizes[key] = size
        self._add(key[1], 1, size)

    def sizes(self) -> list[tuple[Key, PolicySize]]:
        return list(self._sizes.items())

    def drop(self, key: Key) -> None:
        if (known := self._sizes.pop(key, None)) is not None:
            self._add(key[1], -1, known)

    def too_many(self, key: Key, size: PolicySize) -> Reason | None:
        """Why a policy is not taken, or not changed to this size. One that gets no larger is."""
        known = self._sizes.get(key)
        if known is not None and size.bytes <= known.bytes and size.terms <= known.terms:
            return None
        count, octets, terms = self._sums.get(key[1], (0, 0, 0))
        less = known or PolicySize(0, 0)
        sums = (count + (known is None), terms + size.terms - less.terms, octets + size.bytes - less.bytes)
        wheres = f"the policies of namespace {key[1]}" if key[1] else "the ClusterPropagationPolicies"
        remedy = "delete those that no job needs any more, then apply this one anew"
        for now, most, what in zip(sums, _BOUNDS, _WHAT, strict=True):
            if now > most:
                text = f"{wheres} would {what.format(now)}, more than {most}"
                return Reason(Code.TOO_MANY_POLICIES, text, "metadata.namespace", remedy)
        return None

    def _add(self, namespace: str, count: int, size: PolicySize) -> None:
        was = self._sums.get(namespace, (0, 0, 0))
        now = (was[0] + count, was[1] + count * size.bytes, was[2] + count * size.terms)
        if now[0]:
            self._sums[namespace] = now
        else:
            self._sums.pop(namespace, None)


_BOUNDS = (MOST_POLICIES, MOST_TERMS, MOST_TOGETHER)
_WHAT = ("be {}", "have {} entries by kind, labels and values of these", "have {} bytes")


def _selectors(spec: Any) -> Iterator[tuple[int, Mapping[str, Any], list[Any]]]:
    """Place, labels and expressions of each entry that gives no name; of one that does they do not count."""
    for index, entry in enumerate(_list(_mapping(spec).get("resourceSelectors"))):
        if not (one := _mapping(entry)).get("name"):
            selector = _mapping(one.get("labelSelector"))
            yield index, _mapping(selector.get("matchLabels")), _list(selector.get("matchExpressions"))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
