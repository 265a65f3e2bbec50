"""Usage never passes a maximum and never drifts, however stale the decisions that are committed."""

import asyncio
from collections.abc import Callable

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from fairway.adapters.memory.store import MemoryStore
from fairway.domain.decision import OWED, QUOTA, Heard, Step
from fairway.domain.events import Teller
from fairway.domain.job import Job, State
from fairway.domain.quota.charge import Share, charge, path_nodes, request, settled
from fairway.runtime.ports import Commit, Wanted
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import GPU, SLOTS, T0
from tests.spec.builders.views import Given, tree
from tests.spec.builders.waiting import waiting

MOST = 16
TREE = tree(MOST, 3)
WHY = Reason(Code.ROOM_TAKEN, "taken")
_job = msgspec.json.Decoder(Job).decode
_share = msgspec.json.Decoder(Share).decode
NAMES = ("a", "b", "c", "d")


class Client:
    """One of several services: decides on what it last read, whenever that was."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store.beside()
        self.view = Given()
        self.owed: dict[str, Share] = {}

    async def look(self) -> None:
        await self.store.open()
        found = await self.store.read(Wanted(rows={"jobs": list(NAMES)}, whole=(OWED,)))
        self.view = Given(tree=TREE)
        self.owed = {key: _share(row.data) for key, row in found.whole.get(OWED, {}).items()}
        for (_, name), row in found.rows.items():
            self.view.jobs[name] = _job(row.data)
            self.view.revs[name] = row.rev

    def step(self, verb: str, name: str, number: int) -> Step | None:
        job = self.view.jobs[name]
        teller = Teller(self.view, "s", Heard(f"h{number}", wire.Cancel(tenant="t")), T0, name)
        made: dict[str, tuple[tuple[State, ...], Callable[[], Step]]] = {
            "dequeue": ((State.QUEUED,), lambda: self._dequeued(teller, job)),
            "place": (
                (State.DEQUEUED,),
                lambda: teller.say(wire.Placed, cluster="c1", slots=SLOTS).step(),
            ),
            "return": (
                (State.DEQUEUED, State.PLACED),
                lambda: teller.say(wire.Queue, queue="gold", leaf=job.leaf, enqueued_at=T0, why=WHY).step(),
            ),
            "reserve": (
                (State.PLACED,),
                lambda: teller.say(wire.Reserved, cluster="c1", slots=SLOTS, expires_at=0).step(),
            ),
            "cancel": ((State.QUEUED, State.RESERVED), lambda: teller.say(wire.Cancelled).step()),
        }
        states, build = made[verb]
        return build() if job.state in states else None

    def heard(self, name: str) -> Step | None:
        """The queue hears of the first share that the job owes, as far as this client has seen."""
        key = next((key for key in sorted(self.owed) if key.startswith(f"{name}/")), "")
        return Step(settled(key, self.owed[key])) if key else None

    def _dequeued(self, teller: Teller, job: Job) -> Step:
        path = path_nodes(TREE, job.leaf)
        names = tuple(node.path for node in path)
        teller.say(wire.Dequeued, path=names, charge=request(job.spec.workload))
        return teller.step(*charge(path, request(job.spec.workload)))


moves = st.tuples(
    st.integers(0, 2),
    st.sampled_from(["look", "dequeue", "dequeue", "place", "return", "reserve", "cancel", "hear", "hear"]),
    st.sampled_from(NAMES),
)


async def run(played: list[tuple[int, str, str]]) -> MemoryStore:
    store = MemoryStore()
    rows = {name: waiting(name, pods=1 + index % 2, gpus=4).now for index, name in enumerate(NAMES)}
    await store.begin_rebuild("t", 1)
    await store.load("jobs", {name: (job.rev, msgspec.json.encode(job)) for name, job in rows.items()})
    await store.finish_rebuild("e")
    clients = [Client(store) for _ in range(3)]
    for client in clients:
        await client.look()
    for number, (index, verb, name) in enumerate(played):
        client = clients[index]
        if verb == "look":
            await client.look()
            continue
        step = client.heard(name) if verb == "hear" else client.step(verb, name, number)
        if step is not None:
            await client.store.commit(Commit((step,)))
        check(store)
    return store


def check(store: MemoryStore) -> None:
    usage = {key: amount for key, amount in store.counters.get(QUOTA, {}).items() if amount}
    charged: dict[str, int] = {}
    jobs = map(_job, (row.data for row in store.rows["jobs"].values()))
    shares = [(job.path, job.charge) for job in jobs if job.charged]
    shares += [(one.path, one.charge) for one in (_share(row.data) for row in store.rows.get(OWED, {}).values())]
    for path, amounts in shares:
        for node in path:
            for name, amount in amounts.items():
                charged[f"{node}|{name}"] = charged.get(f"{node}|{name}", 0) + amount
    assert usage == charged
    assert usage.get(f"root/a|{GPU}", 0) <= MOST
    assert usage.get("root/a|kube-queue/max-jobs", 0) <= 3


@settings(max_examples=150)
@given(st.lists(moves, max_size=40))
def test_usage_is_what_charged_jobs_have_and_what_is_owed_and_never_more_than_the_maximum(
    played: list[tuple[int, str, str]],
) -> None:
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        store = runner.run(run(played))
    check(store)
