"""The bus and the store keep the same promises in memory and on the real servers."""

import asyncio

import msgspec
import pytest

from fairway.adapters.valkey.store import RedisStore
from fairway.domain.decision import Add, Put, Step
from fairway.runtime.outbox import netstrings
from fairway.runtime.ports import (
    Bus,
    Commit,
    Fenced,
    Outgoing,
    Store,
    StoreWiped,
    Wanted,
)
from tests.support.twins import consumed, said, taken


async def test_a_message_said_twice_is_stored_once(bus: Bus) -> None:
    source = await consumed(bus, "JOBS", "twice", ["fairway.job.queue.twice"])
    await bus.publish([said("twice", 1), said("twice", 2)])
    await bus.publish([said("twice", 1), said("twice", 3)])
    got: list[str] = []
    while len(got) < 3:
        got += [one.id for one in await source.batch(10)]
    assert got == ["twice-1", "twice-2", "twice-3"]
    await source.close()


async def test_who_publishes_is_told_the_place_where_it_stands_the_first_time_and_again(bus: Bus) -> None:
    place = await bus.publish([said("place", 1)])
    assert await bus.fetch("JOBS", place) == b'{"n":1}'
    assert await bus.publish([said("place", 2), said("place", 3)]) == place + 2
    assert await bus.publish([said("place", 1)]) == place


async def test_what_is_put_off_comes_again_and_counts_its_deliveries(bus: Bus) -> None:
    source = await consumed(bus, "JOBS", "later", ["fairway.job.queue.later"])
    await bus.publish([said("later", 1)])
    (first,) = await source.batch(10)
    source.later(first, 1)
    (second,) = await source.batch(10)
    assert (first.delivered, second.delivered, second.id) == (1, 2, first.id) or second.delivered == 2
    source.ack([second])
    await source.close()


async def test_history_gives_the_past_in_order_and_then_the_present(bus: Bus) -> None:
    await bus.publish([said("past", number) for number in range(3)])
    past = [one.data async for one in bus.history("JOBS", ["fairway.job.queue.past"])]
    assert past == [b'{"n":0}', b'{"n":1}', b'{"n":2}']
    live = bus.history("JOBS", ["fairway.job.queue.past"], live=True)
    seen = [await anext(live) for _ in range(4)]
    assert [one.subject != "" for one in seen] == [True, True, True, False]
    await bus.publish([said("past", 9)])
    assert (await asyncio.wait_for(anext(live), 5)).data == b'{"n":9}'
    await live.aclose()  # type: ignore[attr-defined]  # an async generator


async def test_history_of_many_subjects_leaves_out_all_others_and_ends_with_whatever_is_stored_last(bus: Bus) -> None:
    """Of so many, what was not asked for is passed over by the reader and not by the server."""
    names = [f"many{number}" for number in range(20)]
    wanted = [f"fairway.job.queue.{name}" for name in names[:10]]
    await bus.publish([said(name, number) for number in range(2) for name in names])
    found = [(one.id, one.subject) async for one in bus.history("JOBS", wanted)]
    assert found == [(f"{name}-{number}", f"fairway.job.queue.{name}") for number in range(2) for name in names[:10]]
    await bus.publish([said(names[0], 2), said(names[15], 2)])
    assert [one.id async for one in bus.history("JOBS", wanted)][-1] == f"{names[0]}-2"
    await bus.publish([said(names[0], 3)])
    assert [one.id async for one in bus.history("JOBS", wanted)][-1] == f"{names[0]}-3"


async def test_history_of_the_newest_has_one_message_a_subject(bus: Bus) -> None:
    words = [
        Outgoing(f"newest-{n}", f"fairway.config.Queue.-.{name}", name.encode(), "x")
        for n, name in enumerate(["a", "b", "a"])
    ]
    await bus.publish(words)
    newest = [one.id async for one in bus.history("CONFIG", ["fairway.config.Queue.-.*"], last=True)]
    assert newest == ["newest-1", "newest-2"]


async def test_a_stored_message_can_be_fetched_by_its_sequence(bus: Bus) -> None:
    await bus.publish([said("fetched", 7)])
    (stored,) = [one async for one in bus.history("JOBS", ["fairway.job.queue.fetched"])]
    assert await bus.fetch("JOBS", stored.sequence) == b'{"n":7}'
    assert await bus.fetch("JOBS", 10_000_000) is None


async def test_a_step_whose_guard_fails_changes_nothing(store: Store) -> None:
    assert await taken(store, Step((Put("jobs", "a", {"x": 1}, rev=1, expect=0),))) == [True]
    refused = Step((Put("jobs", "b", 1, rev=1, expect=0), Put("jobs", "a", {"x": 2}, rev=2, expect=0)))
    assert await taken(store, refused) == [False]
    found = await store.read(Wanted(rows={"jobs": ["a", "b"]}))
    assert {key: (row.rev, msgspec.json.decode(row.data)) for key, row in found.rows.items()} == {
        ("jobs", "a"): (1, {"x": 1})
    }


async def test_a_later_step_of_one_commit_sees_the_earlier_one(store: Store) -> None:
    first = Step((Put("jobs", "a", 1, rev=1, expect=0),))
    second = Step((Put("jobs", "a", 2, rev=2, expect=1),))
    assert await taken(store, first, second, second) == [True, True, False]


async def test_a_counter_never_passes_its_limit(store: Store) -> None:
    charge = Step((Add("quota", "root|gpu", 4, most=10),))
    assert await taken(store, charge, charge, charge) == [True, True, False]
    assert await taken(store, Step((Add("quota", "root|gpu", -4),)), charge) == [True, True]
    found = await store.read(Wanted(whole=("quota",)))
    assert found.counters["quota"] == {"root|gpu": 8}


async def test_large_amounts_stay_exact(store: Store) -> None:
    large = 2**52 + 1
    assert await taken(store, Step((Add("quota", "root|memory", large),))) == [True]
    found = await store.read(Wanted(whole=("quota",)))
    assert found.counters["quota"] == {"root|memory": large}


async def test_changes_tell_each_followed_row_once_with_its_newest_value(store: Store) -> None:
    await taken(store, Step((Put("nodes/c", "n1", 1), Put("nodes/c", "n2", 1), Put("jobs", "a", 1))))
    first = await store.read(Wanted(since=0))
    await taken(store, Step((Put("nodes/c", "n1", 2, rev=2),)), Step((Put("nodes/c", "n2", None),)))
    second = await store.read(Wanted(since=first.version))
    assert [(table, key) for table, key, _ in first.changes] == [("nodes/c", "n1"), ("nodes/c", "n2")]
    assert [(key, row and row.data) for _, key, row in second.changes] == [("n1", b"2"), ("n2", None)]
    assert (await store.read(Wanted(since=second.version))).changes == []


async def test_changes_of_rows_that_are_gone_are_kept_for_a_while_and_who_was_away_for_longer_begins_anew(
    store: Store,
) -> None:
    """Each attempt of each job has a row of the ledger: what is kept of them must not grow with the record."""
    await store.commit(Commit((Step((Put("nodes/c", "n1", 1),)),)))
    early = (await store.read(Wanted(since=0))).version
    names = [f"job-{at}/1" for at in range(21_000)]
    for start in range(0, len(names), 3_000):
        piece = names[start : start + 3_000]
        await store.commit(Commit(tuple(Step((Put("ledger/c", name, None),)) for name in piece)))
    await taken(store, Step((Put("ledger/c", names[-1], 1, expect=0),)))  # there again: it is forgotten no more
    anew = await store.read(Wanted(since=0))
    assert len(anew.changes) == 20_001
    assert anew.changes[0][:2] == ("nodes/c", "n1")
    assert (anew.changes[-1][1], anew.changes[-1][2] is not None) == (names[-1], True)
    assert (await store.read(Wanted(since=anew.version - 20_001))).changes[0][1] == names[1_000]
    with pytest.raises(StoreWiped):
        await store.read(Wanted(since=early))


async def test_the_outbox_keeps_the_words_of_taken_steps_until_they_are_done(store: Store) -> None:
    good = Step((Put("jobs", "a", 1, expect=0),))
    bad = Step((Put("jobs", "a", 1, expect=0),))
    silent = Step((Put("jobs", "b", 1),))
    other = Step((Put("jobs", "c", 1),))
    words = (b"one|", b"two", b"", b"3:x")
    commit = Commit((good, bad, silent, other), outbox="outbox/x", key="k1", payloads=words)
    assert await store.commit(commit) == [True, False, True, True]
    found = await store.read(Wanted(whole=("outbox/x",)))
    assert {key: netstrings(row.data) for key, row in found.whole["outbox/x"].items()} == {"k1": [b"one|", b"3:x"]}
    await store.commit(Commit((), outbox="outbox/x", done=("k1",)))
    assert (await store.read(Wanted(whole=("outbox/x",)))).whole.get("outbox/x", {}) == {}


async def test_whoever_lost_the_lease_can_no_longer_commit(store: Store) -> None:
    token = await store.lease("queue", "me", 60_000)
    assert token > 0
    assert await store.lease("queue", "you", 60_000) == 0
    step = Step((Put("jobs", "a", 1),))
    assert await store.commit(Commit((step,), lease="queue", token=token)) == [True]
    with pytest.raises(Fenced):
        await store.commit(Commit((step,), lease="queue", token=token - 1))


async def test_a_step_upon_a_refused_one_is_refused_though_another_wrote_the_rev_that_it_expects(store: Store) -> None:
    """Two who write one row at once: the second step of the slower one expects the rev that its first would have had,
    and that is the rev of what the quicker one has written."""
    assert await taken(store, Step((Put("nodes/c", "n", "free", 1, 0),))) == [True]
    assert await taken(store, Step((Put("nodes/c", "n", "quick", 2, 1),))) == [True]
    first = Put("nodes/c", "n", "slow", 2, 1)
    second = Put("nodes/c", "n", "slow twice", 3, 2)
    other = Put("nodes/c", "other", "slow", 1, 0)
    blind = Put("freed", "x", "", 1)
    assert await taken(store, *(Step((one,)) for one in (first, second, other, blind))) == [False, False, True, True]
    found = (await store.read(Wanted(rows={"nodes/c": ["n"]}))).rows
    assert found["nodes/c", "n"].data == b'"quick"'
    assert await taken(store, Step((second,))) == [True], "in the next commit it is a step like any other"


async def test_a_wiped_store_answers_nobody_who_knew_it_before(nats_url: str, valkey_url: str) -> None:
    store = RedisStore(valkey_url, prefix="{wiped}")
    await store.begin_rebuild("test", 1_000)
    await store.finish_rebuild("epoch-1")
    assert await store.read(Wanted(rows={"jobs": ["a"]})) is not None
    await store._do("DEL", "{wiped}:epoch")
    with pytest.raises(StoreWiped):
        await store.read(Wanted(rows={"jobs": ["a"]}))
    with pytest.raises(StoreWiped):
        await store.commit(Commit((Step((Put("jobs", "a", 1),)),)))
    await store.close()


async def test_very_many_rows_are_read_at_once_each_under_its_own_key(store: Store) -> None:
    """A call of Lua takes some 8,000 arguments; a service that begins on a long backlog may ask for more."""
    await taken(store, *(Step((Put("jobs", f"j{number}", number),)) for number in (0, 3_999, 4_000, 8_001, 11_999)))
    wanted = Wanted(rows={"jobs": [f"j{number}" for number in range(12_000)]})
    found = (await store.read(wanted)).rows
    assert {key: row.data for (_, key), row in found.items()} == {
        f"j{number}": str(number).encode() for number in (0, 3_999, 4_000, 8_001, 11_999)
    }


async def test_an_owner_without_its_lease_is_not_even_answered(store: Store) -> None:
    token = await store.lease("queue", "me", 60_000)
    assert (await store.read(Wanted(lease="queue", token=token))).version == 0
    with pytest.raises(Fenced):
        await store.read(Wanted(lease="queue", token=token + 1))


@pytest.mark.parametrize("table", ["jobs", "live", "held"])
async def test_the_keys_of_what_is_listed_come_in_order_and_in_pages(store: Store, table: str) -> None:
    assert await store.keys(table, "", 5) == []
    await taken(store, *(Step((Put(table, key, 1, rev=1),)) for key in ("b", "d", "a", "c", "b")))
    await taken(store, Step((Put(table, "c", None),)))
    assert await store.keys(table, "", 2) == ["a", "b"]
    assert await store.keys(table, "b", 2) == ["d"]
    assert await store.keys(table, "d", 2) == []
