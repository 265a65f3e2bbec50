"""Durations and numbers as annotations carry them: text."""

import re

from fairway.workloads.reading.fields import Field, shown

_PART = re.compile(r"([0-9]{1,9})(ms|s|m|h|d)")
_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def read_duration(field: Field, default: int, least: int, most: int) -> int:
    """`90s`, `5m`, `1h30m` in milliseconds, within bounds."""
    text = field.text()
    if not text:
        return default
    parts = _PART.findall(text)
    total = sum(int(number) * _MILLISECONDS[unit] for number, unit in parts)
    if "".join(number + unit for number, unit in parts) != text:
        field.wrong(f"{shown(text)} is not a duration", "write a number and a unit, such as 90s, 5m or 1h30m")
        return default
    if not least <= total <= most:
        field.wrong(f"{shown(text)} is out of range", f"use {least // 1000}s to {most // 86_400_000}d")
        return default
    return total


def read_number(field: Field, default: int, least: int, most: int) -> int:
    """A whole number in quotes, as annotations are strings."""
    text = field.text()
    if not text:
        return default
    if not re.fullmatch(r"[0-9]{1,9}", text) or not least <= int(text) <= most:
        field.wrong(f"is {shown(text)}", f'write a number from {least} to {most} in quotes, such as "{default}"')
        return default
    return int(text)
