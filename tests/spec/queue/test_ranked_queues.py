"""queue: queues that have their priority from a class stand in the order of the classes as those are now."""

import msgspec

from fairway.domain.policy_terms import Changed
from fairway.queue.memory import QueueMemory
from fairway.runtime.ports import ReadRows
from fairway.runtime.views.settings import Catalog
from fairway.wire.fleet import Configured
from tests.spec.builders.lives import T0
from tests.spec.builders.views import told
from tests.spec.builders.waiting import waiting
from tests.spec.workloads.settings.cases import queue


def taken(catalog: Catalog, kind: str, name: str, manifest: object) -> None:
    catalog.take(Configured(kind=kind, name=name, manifest=msgspec.Raw(msgspec.json.encode(manifest))))


def test_when_a_class_changes_the_jobs_that_wait_stand_anew() -> None:
    catalog = Catalog()
    taken(catalog, "Queue", "batch", queue({"priorityClassName": "high"}))
    memory = QueueMemory(catalog)
    memory.queued.put(waiting("a", queue="batch").now)
    taken(catalog, "PriorityClass", "high", {"value": 7})
    memory.take(ReadRows(rows={}, version=1), [told(Changed(kind="PriorityClass"))], T0)
    assert [entry.place[0] for entry in memory.queued.line("batch")] == [-7]


def test_the_classes_are_among_what_the_queue_decides_by() -> None:
    """A decision that is made once more is made with them."""
    assert "PriorityClass" in QueueMemory.settings
