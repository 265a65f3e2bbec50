"""How far back a command looks: so long ago, or from a time on."""

import re
from datetime import UTC, datetime

from fairway.client.failure import USAGE, Failure

_AGO = re.compile(r"([0-9]{1,6})([mhd])")
_UNITS_MS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000}


def since_of(given: str, now: int) -> int:
    """In milliseconds since 1970. Failure for what is neither."""
    if ago := _AGO.fullmatch(given):
        return max(0, now - int(ago[1]) * _UNITS_MS[ago[2]])
    try:
        moment = datetime.fromisoformat(given)
        return max(0, int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1_000))
    except (ValueError, OverflowError):
        remedy = "write it as 30m, 12h, 7d or 2025-11-03T10:00 (UTC unless it says)"
        raise Failure(USAGE, f"--since {given} is no time", remedy) from None
