"""Quantities of resources, as whole numbers.

A `Resources` value maps a resource name to an integer in its base unit: `cpu` in millicores, everything
else as Kubernetes counts it (bytes for memory and storage, pieces for `nvidia.com/gpu` and `pods`).
Integers only: sums of many small requests must not drift.
"""

import re
from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from functools import lru_cache

Resources = dict[str, int]

# Suffixes of resource.Quantity (k8s.io/apimachinery, pkg/api/resource/suffix.go).
_SUFFIXES = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    "k": Decimal(10**3),
    "M": Decimal(10**6),
    "G": Decimal(10**9),
    "T": Decimal(10**12),
    "P": Decimal(10**15),
    "E": Decimal(10**18),
    "Ki": Decimal(2**10),
    "Mi": Decimal(2**20),
    "Gi": Decimal(2**30),
    "Ti": Decimal(2**40),
    "Pi": Decimal(2**50),
    "Ei": Decimal(2**60),
}
# Of Koordinator (batch_resources.py): whole numbers of millicores, and bytes.
BATCH_CPU = "kubernetes.io/batch-cpu"
BATCH_MEMORY = "kubernetes.io/batch-memory"
_BYTES = frozenset(("memory", "ephemeral-storage", "storage", BATCH_MEMORY))
_QUANTITY = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:([eE][+-]?[0-9]{1,2})|([numkMGTPE]|[KMGTPE]i)?)")

# An int64 is what Kubernetes itself can hold; more is a typing error, not a request.
LARGEST = 2**63 - 1


def parse_quantity(resource: str, text: object) -> int:
    """The whole base units of a Kubernetes quantity, rounded up; ValueError says what is wrong with it."""
    if isinstance(text, str):
        return _parse(resource, text)
    if isinstance(text, bool) or not isinstance(text, int | float):
        raise ValueError(
            f"{repr(text)[:60]} is no quantity; write a number with an optional suffix, such as 500m or 8Gi"
        )
    return _parse(resource, str(text))


# A fleet's jobs use a few hundred different quantities; the cache makes reading a manifest twice as fast.
@lru_cache(maxsize=4096)
def _parse(resource: str, text: str) -> int:
    match = _QUANTITY.fullmatch(text) if len(text) <= 64 else None
    if not match:
        raise ValueError(
            f"{text[:64]!r} is not a quantity; write a number with an optional suffix, such as 500m or 8Gi"
        )
    number, exponent, suffix = match.groups()
    try:
        value = Decimal(number + (exponent or "")) * _SUFFIXES[suffix or ""]
    except InvalidOperation as error:
        raise ValueError(f"{text!r} is not a quantity: {error}") from None
    if value < 0:
        raise ValueError(f"{text!r} is negative; ask for 0 or more")
    if resource == "cpu":
        value *= 1000
    elif "/" in resource and value != value.to_integral_value():
        raise ValueError(f"{text!r} is not a whole number of {resource}; ask for whole pieces")
    if value > LARGEST:
        raise ValueError(f"{text!r} is more than any cluster can hold (2^63-1); check the suffix")
    return int(value.to_integral_value(ROUND_CEILING))


def add(left: Mapping[str, int], right: Mapping[str, int], times: int = 1) -> Resources:
    """left + right × times, name by name."""
    total = dict(left)
    for name, amount in right.items():
        total[name] = total.get(name, 0) + amount * times
    return total


def scale(one: Mapping[str, int], times: int) -> Resources:
    """`one` taken `times` times."""
    return {name: amount * times for name, amount in one.items()}


def fits(need: Mapping[str, int], free: Mapping[str, int]) -> bool:
    """True when every needed amount is there; a resource that is not listed as free is not there."""
    return all(amount <= free.get(name, 0) for name, amount in need.items() if amount > 0)


def show(resource: str, amount: int) -> str:
    """A quantity as a person writes it: 1500 of cpu is `1.5`, 8589934592 of memory is `8Gi`."""
    if resource == "cpu":
        return f"{amount / 1000:g}"
    if _in_bytes(resource):
        for suffix in ("Ti", "Gi", "Mi", "Ki"):
            unit = int(_SUFFIXES[suffix])
            if abs(amount) >= unit:
                return f"{amount / unit:.4g}{suffix}"
    return str(amount)


def unit(resource: str) -> tuple[str, int]:
    """The base unit in which others count a resource, and how many of ours are one of it."""
    if resource in ("cpu", BATCH_CPU):
        return "core", 1000
    return ("byte" if _in_bytes(resource) else "integer"), 1


def _in_bytes(resource: str) -> bool:
    return resource in _BYTES or resource.startswith("hugepages-")


def describe(amounts: Mapping[str, int]) -> str:
    """`1.5 cpu, 8Gi memory, 2 nvidia.com/gpu`, in a fixed order; `nothing` when empty."""
    return ", ".join(f"{show(name, amounts[name])} {name}" for name in sorted(amounts) if amounts[name]) or "nothing"
