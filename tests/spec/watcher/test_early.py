"""watcher: what is seen of an attempt before its dispatch is known, and what is made of it afterwards."""

from typing import Any

import msgspec
import pytest

from fairway.adapters.memory.store import MemoryStore
from fairway.domain.decision import JOBS, Decision, Heard
from fairway.domain.events import row_of
from fairway.runtime.ports import ReadRows, Row
from fairway.runtime.views.settings import Catalog
from fairway.watcher.decide import Late, decide
from fairway.watcher.memory import WatcherMemory
from tests.spec.builders.lives import T0, Life, S, dispatched, reserved, running
from tests.spec.builders.views import told, verbs
from tests.spec.watcher.test_decide import shows

NOW = T0 + 900 * S


def seeing() -> WatcherMemory:
    """It knows who its members are."""
    view = WatcherMemory(Catalog())
    view.silence.members = ()
    return view


def looks(view: WatcherMemory, life: Life, *seen: Heard) -> list[tuple[list[str], int | None]]:
    """One batch of the watcher with the job as it is by then: what is said of each, and when it is looked at again."""
    row = Row(life.now.rev, msgspec.json.encode(row_of(life.now)))
    view.take(ReadRows(rows={(JOBS, life.name): row}), seen, NOW)
    found: list[Decision] = []
    for one in seen:
        found.append(decide(view, one, NOW))
        for step in found[-1].steps:
            view.apply(step)
    return [(verbs(one), one.again_in) for one in found]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param("Up", shows("Running", place=2), id="a part of the gang went down again"),
        pytest.param("Up", shows(place=2, gone=True, answer=""), id="it was deleted again"),
        pytest.param("Up", shows("Succeeded", place=2), id="it has succeeded, which is looked at for itself"),
    ],
)
def test_what_has_changed_since_it_was_put_off_is_not_said(first: str, then: Any) -> None:
    view = seeing()
    up = shows(first, place=1)
    assert looks(view, reserved(), up) == [([], 100)]
    looks(view, reserved(), then)
    assert looks(view, dispatched(), up) == [([], None)]


def test_what_was_deleted_before_its_dispatch_was_known_is_looked_at_then() -> None:
    view = seeing()
    gone = shows(gone=True, place=1)
    assert looks(view, reserved(), gone) == [([], 100)]
    assert looks(view, dispatched(), gone) == [(["lost", "recall", "queue"], None)]


def test_the_newest_of_what_was_put_off_is_said() -> None:
    view = seeing()
    up = shows("Up", place=1)
    over = shows("Succeeded", place=2)
    assert looks(view, reserved(), up, over) == [([], None), ([], 100)]
    assert looks(view, dispatched(), up, over) == [([], None), (["succeeded"], None)]


def test_a_gang_that_went_down_again_stays_down_whatever_was_put_off_before() -> None:
    view = seeing()
    up = shows("Up", place=1)
    looks(view, reserved(), up)
    looks(view, running(), shows("Running", place=2))
    looks(view, running(), up)
    assert "llm-1" in view.down


async def test_that_a_gang_went_down_is_known_after_the_store_was_lost() -> None:
    """Its member does not show it again."""
    view = seeing()
    store = MemoryStore()
    looks(view, running(start_timeout=60 * S), shows("Running", place=1))
    await store.finish_rebuild("1-a")
    view.begin()
    looks(view, running(start_timeout=60 * S))
    view.wants([told(Late())], NOW + 61 * S)
    assert view.overdue == ["llm-1"]
    # It runs once more, as the record has it by now: that it was down before says nothing of that.
    looks(view, dispatched(start_timeout=60 * S))
    looks(view, running(start_timeout=60 * S))
    view.wants([told(Late())], NOW + 61 * S)
    assert view.overdue == []


def test_of_a_job_that_has_ended_nothing_is_remembered() -> None:
    view = seeing()
    looks(view, running(), shows("Up", place=1))
    assert view.newest == {"llm-1": 1}
    looks(view, running(), shows("Succeeded", place=2))
    assert view.newest == {}


def test_an_older_attempt_is_not_what_was_seen_last() -> None:
    view = seeing()
    up = shows("Up", place=1)
    looks(view, reserved(), up, shows("Up", attempt=0, place=2))
    assert looks(view, dispatched(), up) == [(["running"], None)]
