"""Spans of time as `kubectl get` shows them: `45s`, `3m12s`, `7h30m`, `4d2h`, `3y17d`."""

from datetime import UTC, datetime

_MINUTE = 60
_HOUR = 3600
_DAY = 86_400
_YEAR = 365 * _DAY
# Up to how many seconds a span is written with which unit, and with which smaller one.
_UNITS = (
    (2 * _MINUTE, "s", 1, "", 1),
    (10 * _MINUTE, "m", _MINUTE, "s", 1),
    (3 * _HOUR, "m", _MINUTE, "", 1),
    (8 * _HOUR, "h", _HOUR, "m", _MINUTE),
    (48 * _HOUR, "h", _HOUR, "", 1),
    (8 * _DAY, "d", _DAY, "h", _HOUR),
    (2 * _YEAR, "d", _DAY, "", 1),
    (8 * _YEAR, "y", _YEAR, "d", _DAY),
)
INVALID = "<invalid>"


def span(milliseconds: int) -> str:
    """Of what lies a moment ahead it is too early to say so: clocks differ by that."""
    seconds = int(milliseconds / 1000)
    if seconds < 0:
        return "0s" if seconds >= -1 else INVALID
    for limit, unit, size, smaller, part in _UNITS:
        if seconds < limit:
            rest = seconds % size // part if smaller else 0
            return f"{seconds // size}{unit}" + (f"{rest}{smaller}" if rest else "")
    return f"{seconds // _YEAR}y"


def moment(text: object) -> int | None:
    """Milliseconds since 1970 of a time as RFC 3339 has it; None for anything else."""
    if not isinstance(text, str) or "T" not in text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if found.tzinfo is None else int(found.astimezone(UTC).timestamp() * 1000)
