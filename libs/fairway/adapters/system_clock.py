"""The world's own clock and ids."""

import asyncio
import secrets
import time

# Crockford's base 32: no letter that is read as a digit.
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"


class SystemClock:
    def now(self) -> int:
        """Milliseconds since 1970, by this machine's clock; it may jump when the clock is set."""
        return time.time_ns() // 1_000_000

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class SystemIds:
    def new(self) -> str:
        """26 letters and digits, sorted by the millisecond they were made in: 48 bits of time, 80 random bits."""
        number = (time.time_ns() // 1_000_000 & 0xFFFF_FFFF_FFFF) << 80 | secrets.randbits(80)
        return "".join(_DIGITS[number >> shift & 31] for shift in range(125, -1, -5))
