"""The flow table (wire/flow.py) has every message and every consumer; consumers are what servers know them as."""

from typing import get_args

import msgspec
import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.lab.documents.generated_blocks import filled, table
from fairway.lab.documents.schemas import tag_of
from fairway.process.composition import Composition
from fairway.runtime.loop import World
from fairway.runtime.metrics import Meter
from fairway.runtime.service import Service
from fairway.runtime.views.members import Members
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet, flow, inbound, jobs
from fairway.wire.preemption import evictions
from tests.support.memory.clock import ManualClock
from tests.support.memory.cluster import MemoryCluster

# A server keeps what a consumer was told last under its name: with another name it would begin anew, and with other
# subjects pass over what it has to hear.
CONSUMERS = {
    "inbound": ("IN", ("fairway.in.*.submit", "fairway.in.*.cancel")),
    "admission": ("JOBS", ("fairway.job.submitted.>", "fairway.job.revise.>")),
    "quota": ("JOBS", ("fairway.job.admitted.>",)),
    "queue": (
        "JOBS",
        (
            "fairway.job.queue.>",
            "fairway.job.reserved.>",
            "fairway.job.succeeded.>",
            "fairway.job.failed.>",
            "fairway.job.lost.>",
            "fairway.job.cancelled.>",
            "fairway.job.removed.>",
            "fairway.job.cancel.>",
            "fairway.job.hold.>",
            "fairway.job.revised.>",
            "fairway.job.nominated.>",
            "fairway.job.unclaimed.>",
            "fairway.job.evicted.>",
        ),
    ),
    "queue-freed": ("CLUSTERS", ("fairway.cluster.freed.>",)),
    "global-scheduler": ("JOBS", ("fairway.job.dequeued.>",)),
    "global-scheduler-relief": ("RELIEF", ("fairway.relief.relieve",)),
    "reserver": (
        "JOBS",
        (
            "fairway.job.placed.>",
            "fairway.job.succeeded.>",
            "fairway.job.failed.>",
            "fairway.job.lost.>",
            "fairway.job.cancelled.>",
            "fairway.job.removed.>",
            "fairway.job.unclaimed.>",
        ),
    ),
    "reserver-reports": ("CLUSTERS", ("fairway.cluster.report.>",)),
    "reserver-relief": ("RELIEF", ("fairway.relief.evict",)),
    "propagator": ("JOBS", ("fairway.job.reserved.>", "fairway.job.adjust.>")),
    "propagator-recall": ("JOBS", ("fairway.job.recall.>",)),
    "watcher": ("JOBS", ("fairway.job.dispatched.>",)),
    "watcher-nodes": ("CLUSTERS", ("fairway.cluster.stranded.>",)),
    "hub": (
        "JOBS",
        (
            "fairway.job.rejected.>",
            "fairway.job.queue.>",
            "fairway.job.blocked.>",
            "fairway.job.placed.>",
            "fairway.job.dispatched.>",
            "fairway.job.running.>",
            "fairway.job.failed.>",
            "fairway.job.lost.>",
            "fairway.job.cancelled.>",
            "fairway.job.succeeded.>",
            "fairway.job.amended.>",
            "fairway.job.unchanged.>",
            "fairway.job.held.>",
            "fairway.job.evicted.>",
            "fairway.job.nominated.>",
            "fairway.job.unclaimed.>",
        ),
    ),
    "hub-status": ("STATUS", ("fairway.status.shown.>",)),
}


def _wired(service: str) -> list[Service]:
    """With a hub, so that whatever tells it is there, too."""
    clock = ManualClock(0)
    bus = MemoryBus(clock)
    hub = MemoryCluster("hub", clock, ())
    composed = Composition(
        lambda: World(bus=bus, store=MemoryStore(), clock=clock, owner="test"),
        bus,
        clock,
        Catalog(),
        Meter(),
        Members({}),
        hub=hub,
    )
    return composed.services([service])


@pytest.mark.parametrize("name", CONSUMERS)
def test_a_consumer_has_the_name_and_the_subjects_that_servers_know_it_by(name: str) -> None:
    stream, subjects = CONSUMERS[name]
    assert flow.consumer(name) == (stream, name, subjects)


def test_there_is_no_other_consumer() -> None:
    assert [one.name for one in flow.CONSUMERS] == list(CONSUMERS)


@pytest.mark.parametrize("service", flow.LOOPS)
def test_a_service_has_the_consumers_that_the_table_gives_it(service: str) -> None:
    consumers = [consumer for one in _wired(service) for consumer in one.consumers]
    wired = [(consumer.stream, consumer.durable, consumer.subjects) for consumer in consumers]
    assert wired == [flow.consumer(one.name) for one in flow.CONSUMERS if one.service == service]


def test_a_consumer_hears_one_stream() -> None:
    for one in flow.CONSUMERS:
        assert len({flow.row_of(message).stream for message in one.hears}) == 1


def test_every_message_of_a_stream_is_in_the_table_under_its_type() -> None:
    unions = (jobs.Message, fleet.Message, inbound.Message, evictions.Message)
    stored = {tag_of(cls): cls for union in unions for cls in get_args(union)}
    there = {row.name: row.message for row in flow.FLOW if row.stream and row.message is not None}
    assert there == stored


@pytest.mark.parametrize(
    ("message", "want"),
    [
        pytest.param(jobs.Placed, "fairway.job.placed.>", id="what varies is at the end"),
        pytest.param(fleet.Configured, "fairway.config.>", id="three words vary"),
        pytest.param(inbound.SubmitRequest, "fairway.in.*.submit", id="what varies is in the middle"),
    ],
)
def test_a_reader_filters_on_all_subjects_of_a_message(message: type[msgspec.Struct], want: str) -> None:
    assert flow.filters(message) == (want,)


def test_a_page_is_filled_between_its_markers_alone() -> None:
    page = "before\n<!-- x: written by `make schemas` -->\nold\n<!-- end of x -->\nafter\n"
    made = filled(page, {"x": table(("a", "b"), [("1", "")])})
    want = "\n| a | b |\n| --- | --- |\n| 1 | |\n\n"
    assert made == page.replace("old\n", want)
    assert filled(made, {"x": table(("a", "b"), [("1", "")])}) == made


def test_a_page_without_the_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for x"):
        filled("a page", {"x": "text"})
