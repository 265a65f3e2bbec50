"""What a decision's record says of each cluster, taken apart again for who asks why."""

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Protocol

import msgspec
from msgspec import Raw

from fairway.wire.jobs import Placed
from fairway.wire.reasons import Code
from fairway.wire.spec import KINDS, Column, Found, Verdict, Written

# So many bytes a number has where some are negative, or very large.
_SIGNED = 8
_decode = msgspec.json.Decoder(Found).decode


class Finding(Protocol):
    """A message or a job that has what was found; `verdicts` as messages had it before there was `found`."""

    @property
    def found(self) -> Written: ...
    @property
    def verdicts(self) -> tuple[Verdict, ...]: ...


def verdicts(one: Finding) -> tuple[Verdict, ...]:
    """Every cluster's verdict by name, numbers that are 0 left out."""
    return tuple(_verdicts(_decode(one.found))) if isinstance(one.found, Raw) else one.verdicts


def scores(placed: Placed) -> dict[str, dict[str, int]]:
    """The named scores of every cluster that could take the gang, with their total."""
    if not isinstance(placed.found, Raw):
        return placed.scores
    found = _decode(placed.found)
    columns = {name: _each(column) for name, column in found.scores.items()}
    fitting = (cluster for cluster, (code, _) in _answers(found) if code is Code.FITS)
    each = {cluster: {name: next(values) for name, values in columns.items()} for cluster in fitting}
    if not found.weights:
        return each
    return {cluster: {"total": _weighed(own.values(), found.weights), **own} for cluster, own in each.items()}


def _weighed(scores: Iterable[int], weights: Iterable[int]) -> int:
    return sum(weight * score for weight, score in zip(weights, scores, strict=True))


def reopening(one: Finding) -> dict[str, int]:
    """The clusters that are only avoided for a while, and until when."""
    if isinstance(one.found, Raw) and not any(code is Code.RECENTLY_FAILED for code, _ in _decode(one.found).answers):
        return {}
    return {told.cluster: told.numbers.get("until", 0) for told in verdicts(one) if told.code is Code.RECENTLY_FAILED}


def _verdicts(found: Found) -> Iterator[Verdict]:
    numbers = {
        kind: {name: _each(column) for name, column in columns.items()} for kind, columns in found.numbers.items()
    }
    for cluster, (code, about) in _answers(found):
        own = {name: next(values) for name, values in numbers.get(KINDS.get(code, ""), {}).items()}
        yield Verdict(cluster, code, about, {name: value for name, value in own.items() if value})


def _answers(found: Found) -> Iterator[tuple[str, tuple[Code, str]]]:
    """Every cluster with its answer."""
    for cluster, which in zip(found.clusters, _each(found.answer), strict=False):
        yield cluster, found.answers[which]


def _each(column: Column) -> Iterator[int]:
    if isinstance(column, int):
        return repeat(column)
    return _unpacked(column) if isinstance(column, bytes) else iter(column)


def _unpacked(column: bytes) -> Iterator[int]:
    size = column[0]
    for at in range(1, len(column), size):
        yield int.from_bytes(column[at : at + size], "little", signed=size == _SIGNED)
