"""watcher: what it said of a status is remembered, so that it is said once, and forgotten when no more can be said."""

from typing import Any

import msgspec
import pytest

from fairway.domain.decision import JOBS
from fairway.runtime.ports import ReadRows, Row
from fairway.runtime.views.settings import Catalog
from fairway.watcher.decide import decide
from fairway.watcher.memory import WatcherMemory
from fairway.wire import jobs as wire
from tests.spec.builders.lives import Life, dispatched, failing, running
from tests.spec.builders.views import of, verbs
from tests.spec.watcher.test_decide import second, shows
from tests.spec.watcher.test_early import looks, seeing
from tests.spec.watcher.test_shown import HUB, NOW, at, batch_job, succeeded


def test_what_was_said_is_said_once() -> None:
    view = seeing()
    life = running(**HUB)
    assert looks(view, life, shows("Running", place=1)) == [(["shown"], None)]
    assert looks(view, life, at("8", shows("Running", place=2))) == [([], None)]
    assert looks(view, life, shows("Up", place=3)) == [(["shown"], None)]


def test_what_an_event_carried_is_not_said_again() -> None:
    view = seeing()
    assert looks(view, dispatched(**HUB), shows("Up", place=1)) == [(["running"], None)]
    assert looks(view, running(**HUB), shows("Up", place=2)) == [([], None)]


def test_of_what_is_seen_in_one_moment_the_newest_is_said() -> None:
    seen = [at(str(place), shows("Running", place=place), ready=place) for place in (1, 2, 3)]
    assert looks(seeing(), running(**HUB), *seen) == [([], None), ([], None), (["shown"], None)]


def test_the_next_attempt_says_what_the_last_one_said_anew() -> None:
    view = seeing()
    looks(view, running(**HUB), shows("Running", place=1))
    again = second(running(**HUB)).then(wire.Dispatched, cluster="c2", uid="u-10")
    assert looks(view, again, shows("Running", 2, "c2", uid="u-10", place=2)) == [(["shown"], None)]


def test_what_the_store_refused_is_said_once_more() -> None:
    view = seeing()
    life = dispatched(**HUB)
    seen = shows("Up", place=1)
    looks(view, life, seen)
    view.refused(decide(of(life), seen, NOW).steps[0])
    assert looks(view, running(**HUB), seen) == [(["shown"], None)]


def test_what_was_said_to_a_store_that_was_lost_is_said_once_more() -> None:
    view = seeing()
    looks(view, running(**HUB), shows("Running", place=1))
    view.begin()
    assert looks(view, running(**HUB), shows("Running", place=2)) == [(["shown"], None)]


FORGOTTEN = {
    "the next attempt": (failing(running(**HUB)), {}),
    "cancelled": (running(**HUB).then(wire.Cancelled), {}),
    "its kind says no more": (batch_job().then(wire.Succeeded, cluster="c1"), {}),
    "its object is gone": (succeeded(), {"gone": True}),
    "still to grow": (succeeded(), {"llm-1"}),
}


@pytest.mark.parametrize(("life", "want"), [(life, want) for life, want in FORGOTTEN.values()], ids=list(FORGOTTEN))
def test_what_was_said_is_forgotten_when_no_more_can_be(life: Life, want: Any) -> None:
    view = seeing()
    looks(view, running(**HUB), shows("Running", place=1))
    assert view.said.keys() == {"llm-1"}
    seen = [shows(gone=True, place=2)] if isinstance(want, dict) and want.get("gone") else []
    looks(view, life, *seen)
    assert view.said.keys() == (want if isinstance(want, set) else set())


def test_a_memory_made_anew_from_what_it_remembered_says_no_more_and_no_less() -> None:
    view = seeing()
    looks(view, running(**HUB), shows("Running", place=1))
    other = WatcherMemory(Catalog())
    other.begin()
    for one in view.remembered():
        other.recall(one.table, one.key, one.rev, msgspec.json.encode(one.value))
    assert other.said == view.said
    row = Row(1, msgspec.json.encode(running(**HUB).now))
    other.take(ReadRows(rows={(JOBS, "llm-1"): row}), [], NOW)
    assert verbs(decide(other, shows("Running", place=2), NOW)) == []
