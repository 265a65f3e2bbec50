"""When a schedule runs, as robfig/cron reads it, which all three kinds use: five fields, a name such as `@daily`, or
`@every 90m`; in a time zone. An hour that a clock skips is not run, one that comes twice is run twice.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError
from msgspec import Struct

from fairway.workloads.reading.fields import Field, shown

_NAMES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY = "@every "
# Less than cronsim takes: no L, W and #, no seventh day, no field of seconds.
_PLACE = r"(?:\*|[0-9]{1,2}|[A-Za-z]{3})"
_ITEM = rf"{_PLACE}(?:-{_PLACE})?(?:/[0-9]{{1,2}})?"
_FIELD = re.compile(rf"{_ITEM}(?:,{_ITEM})*")
_SEVENTH = re.compile(r"(?<![0-9/])0?[7-9](?![0-9])")
_LONGEST = 100
_DURATION = re.compile(r"(?:(\d{1,5})h)?(?:(\d{1,5})m)?(?:(\d{1,7})s)?")
_REMEDY = "write five fields as in '30 2 * * 1-5', a name such as @daily, or @every 90m"


class Timetable(Struct, frozen=True):
    """`fields` are those of cron, as cronsim takes them; `every` (ms) stands for `@every`."""

    fields: str = ""
    every: int = 0
    zone: str = "UTC"

    def next(self, after: int, since: int) -> int | None:
        """The first time behind `after` (ms); None: there is none for years. `since` begins what runs `every`."""
        if self.every:
            return since + ((after - since) // self.every + 1) * self.every
        return next(self._times(after, back=False), None)

    def newest(self, after: int, until: int, since: int) -> int | None:
        """The last time behind `after` and not behind `until` (ms)."""
        if self.every:
            at = since + (until - since) // self.every * self.every
        else:
            # To the end of that second: what is due now is due.
            at = next(self._times(until // 1000 * 1000 + 1000, back=True), after)
        return at if at > after else None

    def _times(self, start: int, back: bool) -> Iterator[int]:
        zone: tzinfo = UTC if self.zone == "UTC" else ZoneInfo(self.zone)
        # With the field of the seconds cronsim leaves alone what clocks skip and repeat.
        for at in CronSim(f"0 {self.fields}", datetime.fromtimestamp(start / 1000, zone), reverse=back):
            yield int(at.timestamp()) * 1000


def read_timetable(place: Field, zone: str) -> Timetable:
    """What stands there, in that zone; what is wrong with it is noted."""
    text = place.text().strip()
    if text.startswith(_EVERY):
        if every := _seconds(text.removeprefix(_EVERY).strip()):
            return Timetable(every=every * 1_000, zone=zone)
    elif fields := _fields(text):
        return Timetable(fields, zone=zone)
    place.wrong(f"is {shown(place.value)}, which is no schedule", _REMEDY)
    return Timetable()


def _seconds(text: str) -> int:
    """0 when it is no duration of whole seconds."""
    found = _DURATION.fullmatch(text)
    hours, minutes, seconds = (int(part or 0) for part in found.groups()) if found else (0, 0, 0)
    return hours * 3600 + minutes * 60 + seconds


def _fields(text: str) -> str:
    """Empty when cron does not take it."""
    parts = [part.replace("?", "*") for part in _NAMES.get(text, text)[:_LONGEST].split()]
    if len(text) > _LONGEST or len(parts) != 5 or not all(map(_FIELD.fullmatch, parts)):
        return ""
    if _SEVENTH.search(parts[4]):
        return ""
    # A star with a step is a list of days to robfig/cron, and a star to cronsim: either day is enough then.
    for at, days in ((2, "1-31"), (4, "0-6")):
        if parts[at].startswith("*/") and parts[at] != "*/1":
            parts[at] = days + parts[at][1:]
    fields = " ".join(parts)
    try:
        CronSim(f"0 {fields}", datetime(2024, 1, 1, tzinfo=UTC))
    except (CronSimError, ValueError):
        return ""
    return fields


def read_zone(place: Field) -> str:
    """The name of a time zone of the IANA's table. Without one, or with `Local`, it is that of the controllers of a
    cluster: UTC."""
    name = place.text()
    if name in ("", "Local", "Etc/UTC"):
        return "UTC"
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        place.wrong(f"is {shown(place.value)}, which is no time zone", "use a name such as Europe/Berlin")
        return "UTC"
