"""The rows are what the record makes of them, whatever fails; and any prefix of it can be rebuilt from."""

import asyncio
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.domain.fold import fold
from fairway.domain.job import State
from fairway.domain.tenancy.submission_limits import pending as is_pending
from fairway.runtime.record.folding import Folding, Working, working_set
from fairway.wire import jobs as wire
from tests.scenarios.faults import storm
from tests.scenarios.memory_fleet import Fleet
from tests.scenarios.memory_fleet import running as fleet_running
from tests.spec.builders.lives import SLOTS, S, failing, place, running

LIFE = place(failing(running()).then(wire.Removed, cluster="c1", attempt=1).then(wire.Dequeued, after=S), "c2")
LIFE.then(wire.Reserved, cluster="c2", slots=SLOTS, expires_at=0).then(wire.Dispatched, cluster="c2", uid="u-10")
LIFE.then(wire.Running, cluster="c2").then(wire.Succeeded, cluster="c2")
EVENTS = [message for _, message in LIFE.said if message.rev]


@given(st.permutations(EVENTS), st.lists(st.sampled_from(EVENTS), max_size=5))
def test_events_in_any_order_and_number_fold_to_the_same_job(shuffled, repeated) -> None:  # type: ignore[no-untyped-def]  # of strategies
    folding = Folding()
    for message in [*shuffled, *repeated]:
        folding.hear(message)
    assert folding.jobs() == {"llm-1": LIFE.now}
    assert folding.jobs()["llm-1"].state is State.SUCCEEDED


@given(st.integers(1, len(EVENTS)))
def test_any_prefix_folds_as_it_was_lived(count: int) -> None:
    folding = Folding()
    job = None
    for message in EVENTS[:count]:
        folding.hear(message)
        job = fold(job, message)
    assert folding.jobs() == {"llm-1": job}


def rows(fleet: Fleet, table: str) -> dict[str, tuple[int, bytes]]:
    return {key: (row.rev, row.data) for key, row in fleet.store.rows.get(table, {}).items()}


def usage(counters: dict[str, int]) -> dict[str, int]:
    return {key: amount for key, amount in counters.items() if amount}


def differs(fleet: Fleet, made: Working) -> list[str]:
    tables = {"jobs", "live", "names", "clients", "ledger/c1", "ledger/c2"}
    found = [table for table in sorted(tables) if rows(fleet, table) != made.rows.get(table, {})]
    pending = Counter(job.tenant for job in fleet.jobs().values() if is_pending(job))
    found += ["pending"] if usage(fleet.store.counters.get("pending", {})) != pending else []
    return found + (["quota"] if usage(fleet.store.counters.get("quota", {})) != made.quota else [])


@pytest.mark.parametrize("seed", range(4))
async def test_in_the_middle_of_it_all_the_rows_are_what_a_rebuild_would_make(seed: int) -> None:
    """Without faults: nothing is on its way between commit and publish when all is quiet."""
    async with fleet_running(c1=(8, 8), c2=(8,)) as fleet:
        await asyncio.wait_for(storm(fleet, seed, ("cancel", "calm"), jobs=6, clears=False), 10)
        await fleet.quiet()
        assert {job.state.value for job in fleet.jobs().values()} - {"succeeded", "failed", "cancelled"}
        assert differs(fleet, fleet.folded()) == []
        assert working_set(fleet.jobs()).quota == usage(fleet.store.counters.get("quota", {}))


@pytest.mark.parametrize("seed", range(4))
async def test_what_is_delivered_again_charges_nothing_a_second_time_and_gives_nothing_back(seed: int) -> None:
    """Some of it at any moment, and in the end all of it."""
    async with fleet_running(c1=(8, 8), c2=(8,)) as fleet:
        await asyncio.wait_for(storm(fleet, seed, ("again", "again", "cancel"), jobs=6, clears=False), 10)
        await fleet.quiet()
        charged = usage(fleet.store.counters.get("quota", {}))
        states = fleet.states()
        assert charged and charged == working_set(fleet.jobs()).quota
        for one in fleet.bus.stored("JOBS"):
            fleet.bus.again("JOBS", one.sequence)
        await fleet.quiet()
        assert (usage(fleet.store.counters["quota"]), fleet.states()) == (charged, states)
        assert differs(fleet, fleet.folded()) == []
