"""When the silence of clusters is taken for our own fault, and when it is over."""

import pytest

from fairway.domain.attempts.eviction_freeze import Freeze, freeze
from fairway.wire.reasons import Code

NOW = 1_700_000_000_000
SETTLE = 90_000
FRESH = NOW - 5_000
OLD = NOW - 31_000
NEVER = 0

FLEETS = {
    "all report": ([FRESH] * 4, None),
    "one of four": ([OLD, FRESH, FRESH, FRESH], None),
    "half of four": ([OLD, OLD, FRESH, FRESH], None),
    "more than half of four": ([OLD, OLD, NEVER, FRESH], (3, 4)),
    "two of three": ([OLD, OLD, FRESH], (2, 3)),
    "both of two": ([OLD, NEVER], (2, 2)),
    "one of two: nobody can tell whose fault it is": ([OLD, FRESH], None),
    "the only one": ([OLD], None),
    "no fleet": ([], None),
    "silent for exactly as long as is allowed": ([NOW - 30_000] * 3, None),
}


@pytest.mark.parametrize(("heard", "want"), FLEETS.values(), ids=list(FLEETS))
def test_it_begins_when_two_or_more_and_more_than_half_are_silent(
    heard: list[int], want: tuple[int, int] | None
) -> None:
    found = freeze(None, heard, NOW, SETTLE)
    assert (found and (found.silent, found.of, found.since)) == (want and (*want, NOW))


def test_it_remembers_since_when_and_ends_once_what_happened_meanwhile_was_seen() -> None:
    first = freeze(None, [OLD, OLD, FRESH], NOW, SETTLE)
    assert first is not None
    worse = freeze(first, [OLD, OLD, OLD], NOW + 10_000, SETTLE)
    assert worse == Freeze(NOW, 3, 3)
    back = freeze(worse, [NOW + 20_000] * 3, NOW + 20_000, SETTLE)
    assert back == Freeze(NOW, 0, 3, back_at=NOW + 20_000)
    still = freeze(back, [NOW + 109_000] * 3, NOW + 20_000 + SETTLE - 1, SETTLE)
    assert still == back
    assert freeze(still, [NOW + 109_000] * 3, NOW + 20_000 + SETTLE, SETTLE) is None


def test_silence_again_before_that_begins_the_wait_anew() -> None:
    back = Freeze(NOW - 60_000, 0, 3, back_at=NOW - 20_000)
    assert freeze(back, [OLD, OLD, FRESH], NOW, SETTLE) == Freeze(NOW - 60_000, 2, 3)


def test_it_says_the_numbers_and_what_to_look_at() -> None:
    why = Freeze(NOW, 3, 4).why
    assert why.code is Code.FLEET_SILENT
    assert why.text == "3 of 4 clusters are silent at once: nothing is given up while it may be our fault"
    assert "NATS" in why.remedy
    assert "report again" in Freeze(NOW, 0, 4, back_at=NOW).why.text
