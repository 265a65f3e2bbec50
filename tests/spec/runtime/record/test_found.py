"""What decisions found apart from their events: stored first, with the names of the clusters once, and read back."""

import msgspec
import pytest
from msgspec import Raw

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.domain.decision import FoundApart
from fairway.domain.recorded_verdicts import verdicts
from fairway.runtime.ports import Outgoing, World
from fairway.runtime.publishing import Publishing
from fairway.runtime.record.found_reader import FoundReader, whole
from fairway.runtime.record.found_writer import FoundWriter
from fairway.wire import jobs as wire
from fairway.wire import subjects, views
from fairway.wire.reasons import Code
from fairway.wire.spec import Found, FoundRef
from tests.support.memory.clock import ManualClock

NAMES = ("east", "west")
_encode = msgspec.json.Encoder().encode
_message = msgspec.json.Decoder(wire.Message).decode


def apart(job: str, free: int, clusters: tuple[str, ...] = NAMES, padding: str = "") -> FoundApart:
    found = Found((), ((Code.FITS, ""), (Code.TAINTED, padding)), (0, 1), {"fits": {"by_node": (free,)}})
    return FoundApart(job, 7, clusters, Raw(msgspec.msgpack.encode(found)), FoundRef())


def placed(one: FoundApart, job: str = "") -> wire.Placed:
    """As a service hears it."""
    event = wire.Placed(tenant="t", job=job or one.job, rev=one.rev, cluster="east", slots=(), found=one.ref)  # type: ignore[arg-type]  # it is encoded, and heard as text
    heard = _message(_encode(event))
    assert isinstance(heard, wire.Placed)
    return heard


class Store:
    """A service that stores."""

    def __init__(self, bus: MemoryBus, owner: str = "me") -> None:
        world = World(bus, MemoryStore(), ManualClock(), owner)
        self._writer = FoundWriter("s", world, Publishing("s", world))

    async def keep(self, *found: FoundApart) -> None:
        await self._writer.store(found, nothing)


async def nothing() -> None:
    return None


def batches(bus: MemoryBus) -> list[views.FoundBatch]:
    return [views.found_batch(one.data) for one in bus.stored(subjects.FOUND)]


async def free_in_east(bus: MemoryBus, event: wire.Placed) -> list[tuple[str, int]]:
    told = verdicts(await FoundReader(bus).message(event))
    return [(one.cluster, one.numbers.get("by_node", 0)) for one in told]


async def test_each_is_read_back_where_its_event_says_and_the_names_are_stored_once() -> None:
    bus = MemoryBus()
    store = Store(bus)
    found = [apart(f"job-{number}", number) for number in range(5)]
    await store.keep(*found[:3])
    await store.keep(*found[3:])
    assert [(one.clusters_at, one.clusters, len(one.records)) for one in batches(bus)] == [(0, NAMES, 3), (1, (), 2)]
    for number, one in enumerate(found):
        assert await free_in_east(bus, placed(one)) == [("east", number), ("west", 0)]
        assert whole(placed(one), [one]) == await FoundReader(bus).message(placed(one))


async def test_other_clusters_are_named_anew_in_a_message_of_their_own() -> None:
    bus = MemoryBus()
    others = ("north", "south")
    found = [apart("a", 1), apart("b", 2, others), apart("c", 3, others), apart("d", 4)]
    await Store(bus).keep(*found)
    assert [(one.clusters, len(one.records)) for one in batches(bus)] == [(NAMES, 1), (others, 2), (NAMES, 1)]
    assert await free_in_east(bus, placed(found[2])) == [("north", 3), ("south", 0)]


async def test_much_is_divided_into_several_messages() -> None:
    bus = MemoryBus()
    found = [apart(f"job-{number}", number, padding="x" * 100_000) for number in range(5)]
    await Store(bus).keep(*found)
    assert [len(one.records) for one in batches(bus)] == [2, 2, 1]
    assert [(one.ref.at, one.ref.record) for one in found] == [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0)]


async def test_after_the_stream_was_made_anew_the_names_are_stored_again() -> None:
    bus = MemoryBus()
    store = Store(bus)
    await store.keep(apart("a", 1))
    bus._log[subjects.FOUND].clear()
    bus._ids[subjects.FOUND].clear()
    later = apart("b", 2)
    await store.keep(later)
    assert await free_in_east(bus, placed(later)) == [("east", 2), ("west", 0)]


async def test_what_can_never_be_stored_leaves_the_event_without_it_and_a_letter() -> None:
    bus = MemoryBus()
    bus.max_payload = 8_000
    store = Store(bus)
    large = apart("a", 1, padding="x" * 9_000)
    small = apart("b", 2)
    await store.keep(large)
    await store.keep(small)
    assert (large.ref.at, await free_in_east(bus, placed(large)), len(bus.stored("DLQ"))) == (0, [], 1)
    assert await free_in_east(bus, placed(small)) == [("east", 2), ("west", 0)]


@pytest.mark.parametrize(
    "spoiled",
    [
        b"not msgpack",
        views.encode(views.FoundBatch("me", 0, NAMES, ())),
        views.encode(views.FoundBatch("me", 9, (), (views.FoundRecord("a", 7, Raw(b"\x80")),))),
        None,
    ],
    ids=["no batch", "no such record", "its names are not there", "nothing there"],
)
async def test_what_is_not_there_is_as_if_nothing_had_been_found(spoiled: bytes | None) -> None:
    bus = MemoryBus()
    one = apart("a", 1)
    one.ref.at = 1
    if spoiled is not None:
        await bus.publish([Outgoing("x", subjects.found("s"), spoiled)])
    assert await free_in_east(bus, placed(one)) == []


async def test_nobody_reads_what_was_found_for_another_job() -> None:
    bus = MemoryBus()
    one = apart("a", 1)
    await Store(bus).keep(one)
    assert await free_in_east(bus, placed(one, job="b")) == []
