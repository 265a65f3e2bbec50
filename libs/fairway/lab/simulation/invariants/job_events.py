"""What was said of a job that broke, a line for each word."""

from collections.abc import Iterable
from typing import Any

from fairway.domain.text.decoding import decoder
from fairway.lab.simulation.outcome import Breach
from fairway.lab.simulation.virtual_time import T0
from fairway.runtime.ports import Delivery
from fairway.wire import jobs as wire

_message = decoder(wire.Message)


def story(breaches: Iterable[Breach], record: Iterable[Delivery]) -> tuple[str, ...]:
    """Of the first job that broke, what was said of it until then; empty when no job did."""
    first = next((one for one in breaches if one.job), None)
    if first is None:
        return ()
    said = ((one.sequence, _message(one.data)) for one in record)
    return tuple(
        f"{sequence} {_line(message)}"
        for sequence, message in said
        if message.job == first.job and message.at <= T0 + first.at
    )


def _line(message: Any) -> str:
    parts = [f"{(message.at - T0) / 1000:,.3f} s {message.verb}"]
    if message.attempt:
        parts.append(f", attempt {message.attempt}")
    if cluster := getattr(message, "cluster", ""):
        parts.append(f" in {cluster}")
    if message.rev:
        parts.append(f" (rev {message.rev}, working set {message.epoch})")
    why = getattr(message, "why", None)
    return "".join([*parts, f": {why.text}" if why is not None else ""])
