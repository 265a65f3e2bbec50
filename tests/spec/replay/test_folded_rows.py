"""Rows of jobs as the record makes them again, and which of them nobody can know."""

import msgspec
import pytest

from fairway.domain.events import row_of
from fairway.replay.record import FoldedRows, Said
from fairway.wire import jobs as wire
from tests.spec.builders.lives import Life, reserved

SET = 100


def folded(life: Life, *missing: int, **epochs: int) -> FoldedRows:
    """Of the events of a life without some, by their revs; `r5=200` is of the working set that was born at 200."""
    rows = FoldedRows()
    for sequence, message in life.said:
        if message.rev and message.rev not in missing:
            epoch = epochs.get(f"r{message.rev}", SET)
            event = msgspec.structs.replace(message, epoch=epoch)
            rows.put(Said(f"m{sequence}", sequence, event, event))
    return rows


def test_a_row_is_what_was_said_until_then() -> None:
    life = reserved()
    rows = folded(life)
    assert rows.row(life.name, life.now.rev, SET) == msgspec.json.encode(row_of(life.now))
    assert rows.row(life.name, life.now.rev + 1, SET) is None
    assert rows.row("another", 1, SET) is None


@pytest.mark.parametrize("asked_before", [False, True])
def test_behind_an_event_that_its_own_working_set_had_and_the_record_has_not_it_is_not_known(
    asked_before: bool,
) -> None:
    """The set was lost with what it had not said yet."""
    life = reserved()
    placed = life.now.rev - 1
    rows = folded(life, placed)
    if asked_before:
        rows.row(life.name, life.now.rev, SET + 1)
    assert rows.row(life.name, placed - 1, SET) is not None
    assert rows.row(life.name, life.now.rev, SET) is None


def test_the_working_set_after_it_was_made_over_what_is_missing() -> None:
    life = reserved().then(wire.Dispatched, cluster="c1")
    newest = life.now.rev
    rows = folded(life, newest - 2, **{f"r{newest}": 2 * SET})
    assert rows.row(life.name, newest - 1, SET) is None
    assert rows.row(life.name, newest, 2 * SET) is not None
