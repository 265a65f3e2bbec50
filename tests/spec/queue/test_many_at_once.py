"""What is looked at in pieces is looked at in turn: who has to wait keeps nobody else unseen."""

from typing import Any

import msgspec
import pytest

from fairway.domain import decision
from fairway.queue.memory import QueueMemory
from fairway.reserver import service as reserver
from fairway.reserver.view import Expire
from fairway.runtime.ports import ReadRows, Row
from fairway.runtime.views.settings import Catalog
from fairway.watcher import memory as watcher
from fairway.watcher.missing import Late
from tests.spec.builders.lives import T0, S, dequeued, dispatched, placed, queued, reserved, running
from tests.spec.builders.views import told

NOW = T0 + 3_600 * S


def asked(view: Any, message: Any, life: Any) -> list[str]:
    """The jobs of one look, each of which is found as `life` is."""
    heard = [told(message)]
    names = view.wants(heard, NOW).rows.get("jobs", [])
    rows = {("jobs", name): Row(life.now.rev, job_row(life, name)) for name in names}
    view.take(ReadRows(rows=rows, version=1), heard, NOW)
    return list(names)


def job_row(life: Any, name: str) -> bytes:
    return msgspec.json.encode(msgspec.structs.replace(life.now, id=name))


def test_reservations_that_have_expired_are_looked_at_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reserver, "_PIECE", 1)
    view = reserver.ReserverMemory(Catalog())
    view._expiring = {"a/1": 0, "b/1": 0}
    assert [asked(view, Expire(), reserved()) for _ in range(3)] == [["a"], ["b"], ["a"]]


def test_jobs_that_should_have_started_are_looked_at_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "_PIECE", 1)
    view = watcher.WatcherMemory(Catalog())
    view._deadlines = {"a": 0, "b": 0}
    seen = [asked(view, Late(), dispatched()) for _ in range(2)]
    assert seen == [["a"], ["b"]]


def test_of_all_live_jobs_those_in_their_clusters_are_none_of_the_queues_business() -> None:
    """After a rebuild nearly all are there, and their rows are not decoded whole."""
    lives = {"a": queued(), "b": dequeued(), "c": placed(), "d": running(), "e": reserved()}
    memory = QueueMemory(Catalog())
    wanted = memory.first(None)
    assert wanted is not None and wanted.whole == (decision.LIVE,)
    wanted = memory.first(ReadRows(whole={decision.LIVE: {name: Row(1, b'""') for name in lives}}))
    assert wanted is not None and wanted.rows == {decision.JOBS: list(lives)}
    rows = {(decision.JOBS, name): Row(one.now.rev, job_row(one, name)) for name, one in lives.items()}
    assert memory.first(ReadRows(rows=rows)) is None
    assert memory.queued.entries["a"].job.attempt == lives["a"].now.attempt
    on_the_way = sorted(name for places in memory.queued.flying.values() for name in places)
    assert (list(memory.queued.entries), on_the_way) == (["a"], ["b", "c"])
