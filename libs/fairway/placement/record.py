"""Verdicts as the decision record keeps them, and back again for whoever asks for words."""

from typing import Any

import msgspec

from fairway.placement.choose import Choice
from fairway.placement.filters import Verdict
from fairway.placement.sentences import sentence
from fairway.wire import jobs as wire

_NUMBERS = ("needed", "by_node", "by_sum", "at_most", "nodes", "closed", "age", "limit", "left", "until")


def recorded(choice: Choice) -> tuple[wire.Verdict, ...]:
    """Every cluster's verdict, numbers that are 0 left out."""
    return tuple(wire.Verdict(one.cluster, one.code, one.about, _numbers(one)) for one in choice.sheet)


def _numbers(one: Verdict) -> dict[str, int]:
    return {name: value for name in _NUMBERS if (value := getattr(one, name))}


def scores(choice: Choice) -> dict[str, dict[str, int]]:
    """The named scores of every cluster that could take the gang, with their total."""
    return {name: msgspec.structs.asdict(one) for name, one in choice.scores.items()}


def words(verdict: wire.Verdict, asks: str = "") -> str:
    """The sentence of a recorded verdict; `asks` is the gang in words."""
    numbers: dict[str, Any] = {name: value for name, value in verdict.numbers.items() if name in _NUMBERS}
    return sentence(Verdict(verdict.cluster, verdict.code, verdict.about, **numbers), asks)
