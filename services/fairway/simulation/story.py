"""What was said of a job, a line for each word."""

from collections.abc import Iterable
from typing import Any

import msgspec

from fairway.runtime.ports import Delivery
from fairway.simulation.outcome import Breach
from fairway.simulation.virtual import T0
from fairway.wire import jobs as wire

_message = msgspec.json.Decoder(wire.Message).decode


def shortest(breaches: Iterable[Breach], record: Iterable[Delivery]) -> tuple[str, ...]:
    """Of the jobs that broke, the story of the one of which least was said; empty when no job did."""
    jobs = {one.job for one in breaches if one.job}
    told: dict[str, list[str]] = {job: [] for job in sorted(jobs)}
    for one in record:
        message = _message(one.data)
        if message.job in jobs:
            told[message.job].append(f"{one.sequence} {_line(message)}")
    return min(map(tuple, told.values()), key=len, default=())


def _line(message: Any) -> str:
    parts = [f"{(message.at - T0) / 1000:,.3f} s {message.job} {message.verb}, attempt {message.attempt}"]
    if cluster := getattr(message, "cluster", ""):
        parts.append(f" in {cluster}")
    if message.rev:
        parts.append(f" (rev {message.rev}, of the working set made at {message.epoch})")
    why = getattr(message, "why", None)
    return "".join([*parts, f": {why.text}" if why is not None else ""])
