"""When a schedule runs: as robfig/cron has it, on both sides of a clock that is put forward or back."""

from typing import Any

import pytest

from fairway.wire.reasons import Refused
from fairway.workloads.reading.fields import Field, Problems
from fairway.workloads.schedules.schedule import millis, stamp
from fairway.workloads.schedules.timetable import Timetable, read_timetable, read_zone

SATURDAY = "2026-03-28T00:10:00Z"


def table(text: Any, zone: str = "UTC") -> Timetable:
    problems = Problems()
    found = read_timetable(Field(text, problems, key="schedule"), zone)
    problems.stop()
    return found


def times(text: str, start: str, zone: str = "UTC", count: int = 3) -> list[str]:
    one = table(text, zone)
    since = at = millis(start)
    found = []
    for _ in range(count):
        behind = one.next(at, since)
        assert behind is not None and one.newest(at, behind, since) == behind, "the newest of all until then"
        assert one.newest(at, behind - 1, since) is None
        found.append(stamp(behind)[5:16])
        at = behind
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*/20 * * * *", ["03-28T00:20", "03-28T00:40", "03-28T01:00"]),
        ("30 2 * * 1-5", ["03-30T02:30", "03-31T02:30", "04-01T02:30"]),
        ("0 12 1 * SUN", ["03-29T12:00", "04-01T12:00", "04-05T12:00"]),  # either day is enough
        ("0 12 */10 * sun", ["03-29T12:00", "03-31T12:00", "04-01T12:00"]),  # a star with a step is no star
        ("0 12 ? * 3", ["04-01T12:00", "04-08T12:00", "04-15T12:00"]),
        ("@daily", ["03-29T00:00", "03-30T00:00", "03-31T00:00"]),
        ("@every 1h30m", ["03-28T01:40", "03-28T03:10", "03-28T04:40"]),
        ("0 0 29 2 *", ["02-29T00:00", "02-29T00:00", "02-29T00:00"]),
    ],
)
def test_it_runs_at_these_times(text: str, expected: list[str]) -> None:
    assert times(text, SATURDAY) == expected


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        pytest.param(SATURDAY, ["03-28T01:30", "03-30T00:30", "03-31T00:30"], id="an hour that is skipped"),
        pytest.param(
            "2026-10-24T12:00:00Z", ["10-25T00:30", "10-25T01:30", "10-26T01:30"], id="an hour that comes twice"
        ),
    ],
)
def test_in_a_time_zone_clocks_are_put_forward_and_back(start: str, expected: list[str]) -> None:
    assert times("30 2 * * *", start, "Europe/Berlin") == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "* * * *",
        "* * * * * *",
        "61 * * * *",
        "0 0 L * *",
        "0 0 * * 7",
        "0 0 * * 1#2",
        "0 0 30 2 *",
        "@reboot",
        "@every",
        "@every 0s",
        "@every -5m",
        "TZ=UTC 0 0 * * *",
        "0" * 10_000,
        5,
        "* * * * \u0665",
    ],
)
def test_what_cron_does_not_take_is_refused_by_its_field(text: Any) -> None:
    with pytest.raises(Refused, match="schedule"):
        table(text)


@pytest.mark.parametrize(
    ("name", "expected"), [("", "UTC"), ("Local", "UTC"), ("Etc/UTC", "UTC"), ("Asia/Tokyo", "Asia/Tokyo")]
)
def test_a_time_zone_is_one_of_the_tables(name: str, expected: str) -> None:
    assert read_zone(Field(name, Problems())) == expected


@pytest.mark.parametrize("name", ["Mars/Base", "../../etc/passwd", "/etc/passwd", "x" * 5_000, "a\0b", 7])
def test_another_time_zone_is_refused(name: Any) -> None:
    problems = Problems()
    assert read_zone(Field(name, problems, key="timeZone")) == "UTC"
    assert problems.reasons
