"""Two looks at a store are compared row by row; what the comparison leaves out is one job that came in between."""

from collections.abc import Callable

import msgspec
import pytest

from fairway.adapters.memory.store import MemoryStore
from fairway.domain import decision
from fairway.domain.decision import Add, Put, Step
from fairway.domain.job import Job, State
from fairway.lab.bench.measuring.store_facts import StoreFacts, facts
from fairway.runtime.ports import Commit
from fairway.wire.capacity import Node
from tests.spec.builders.lives import GPU, spec

PATH = ("root", "root/team-a")
Writes = list[Put | Add]


def writes(name: str) -> Writes:
    """All that a store holds of one job in cluster c0."""
    job = Job(name, "team-a", State.DISPATCHED, 6, 6, 1, 0, 0, spec=spec(name, client=f"team-a/{name}"), cluster="c0")
    return [
        Put(decision.JOBS, name, job),
        Put(decision.PLACED, name, {}),
        Put(decision.LIVE, name, ""),
        Put(decision.NAMES, f"team-a/PyTorchJob/{name}", name),
        Put(decision.CLIENTS, f"team-a/{name}", [name, ""]),
        Put(decision.ledger("c0"), job.key, {}),
        *(Add(decision.QUOTA, f"{node}|{GPU}", 8) for node in PATH),
    ]


def node(*jobs: str, used: int = 0) -> Put:
    holds = {f"{job}/1": {GPU: 8} for job in jobs}
    return Put(decision.nodes("c0"), "n1", Node("n1", {GPU: 64}, used={GPU: used}, holds=holds))


async def look(*said: Put | Add) -> StoreFacts:
    store = MemoryStore()
    await store.begin_rebuild("test", 1_000)
    await store.finish_rebuild("e1")
    await store.commit(Commit((Step(said),)))
    return await facts(store, ["c0"])


def without(table: str) -> Callable[[Writes], Writes]:
    return lambda all_of_it: [one for one in all_of_it if one.table != table]


@pytest.mark.parametrize(
    ("change", "want"),
    [
        pytest.param(lambda same: same, {}, id="all as it was"),
        pytest.param(without("jobs"), {"jobs": 1, "placed": 1}, id="a row that is missing, and what is found by it"),
        pytest.param(without("clients"), {"clients": 1}, id="a client's id that is forgotten"),
        pytest.param(without("ledger/c0"), {"ledger": 1}, id="a reservation that is lost"),
        pytest.param(without("quota"), {"quota": 2}, id="quota given back at both nodes"),
        pytest.param(lambda same: [*same, Put("live", "b", "")], {"live": 1}, id="a row that was not there"),
        pytest.param(lambda same: [*same, node()], {"holds": 1}, id="room that nobody holds any more"),
        pytest.param(lambda same: [*same, node("a", used=8)], {}, id="what strangers use is the agents' to say"),
    ],
)
async def test_differences_are_counted_where_they_are(change: Callable[[Writes], Writes], want: dict[str, int]) -> None:
    given = await look(*writes("a"), node("a"))
    found = await look(*change([*writes("a"), node("a")]))
    assert {name: count for name, count in found.differences(given).items() if count} == {
        f"{table}_differ": count for table, count in want.items()
    }


async def test_a_job_that_came_in_between_is_left_out_and_nothing_else() -> None:
    given = await look(*writes("a"), node("a"))
    found = await look(*writes("a"), *writes("b"), node("a", "b"))
    newest = msgspec.convert(msgspec.to_builtins(writes("b")[0].value), Job)
    found.forget(msgspec.structs.replace(newest, path=PATH, charge={GPU: 8}))
    assert set(found.differences(given).values()) == {0}
    found.forget(msgspec.structs.replace(newest, id="a", spec=spec("a", client="team-a/a")))
    assert found.differences(given)["jobs_differ"] == 1
