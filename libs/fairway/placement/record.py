"""Verdicts as the decision record keeps them, and back again for whoever asks for words."""

from typing import Any

import msgspec

from fairway.placement.choose import Choice
from fairway.placement.filters import Verdict
from fairway.placement.sentences import sentence
from fairway.wire import jobs as wire

_NUMBERS = ("needed", "by_node", "by_sum", "at_most", "nodes", "closed", "age", "limit", "left", "until")


# Judged clusters keep their verdicts from job to job until something changes there (placement.filters), and so do the
# records of them. By identity: the verdict is kept beside its record, so that no other can take its place.
_known: dict[int, tuple[Verdict, wire.Verdict, dict[str, int] | None]] = {}
_MOST_KNOWN = 16_384


def recorded(choice: Choice) -> tuple[wire.Verdict, ...]:
    """Every cluster's verdict, numbers that are 0 left out."""
    return tuple([_record(one)[1] for one in choice.verdicts])


def scores(choice: Choice) -> dict[str, dict[str, int]]:
    """The named scores of every cluster that could take the gang, with their total."""
    return {one.cluster: known for one in choice.verdicts if (known := _record(one)[2]) is not None}


def _record(one: Verdict) -> tuple[Verdict, wire.Verdict, dict[str, int] | None]:
    known = _known.get(id(one))
    if known is not None and known[0] is one:
        return known
    numbers = {name: value for name in _NUMBERS if (value := getattr(one, name))}
    grade = None if one.score is None else msgspec.structs.asdict(one.score)
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    _known[id(one)] = known = (one, wire.Verdict(one.cluster, one.code, one.about, numbers), grade)
    return known


def words(verdict: wire.Verdict, asks: str = "") -> str:
    """The sentence of a recorded verdict; `asks` is the gang in words."""
    numbers: dict[str, Any] = {name: value for name, value in verdict.numbers.items() if name in _NUMBERS}
    return sentence(Verdict(verdict.cluster, verdict.code, verdict.about, **numbers), asks)
