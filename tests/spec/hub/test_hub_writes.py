"""The calls to the hub, done against a port that answers as it is told: what is tried again, and what is an outcome."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.domain.decision import Call, Outcome
from fairway.hub import calls
from fairway.hub.hub_writes import AT_ONCE, HubWrites
from fairway.hub.messages import Unbind
from fairway.hub.telling.bindings import KIND as BINDING
from fairway.hub.telling.events import note_of
from fairway.runtime.cluster_port import ClusterRefused
from fairway.runtime.lease import LEASE_MS
from fairway.runtime.ownership import Ownership
from fairway.runtime.ports import Unreachable
from tests.spec.hub.hub_objects import JOB, PP, Json, job, policy
from tests.support.memory.clock import ManualClock, settle

FLOW = "Workflow.argoproj.io/v1alpha1"
TRAIN = job()
NOTE = note_of(TRAIN, "NoPolicy", "Waits.", "")
BINDS: Json = {
    "metadata": {"name": "train-job", "namespace": "team-a", "labels": {}, "annotations": {}, "ownerReferences": []},
    "spec": {},
    "status": {},
}
READY: Json = {"type": "Ready", "status": "True"}


class Port:
    """A hub. `bare` kinds have no status subresource; `raises` is what a verb raises, and `there` what it has."""

    def __init__(self, bare: tuple[str, ...] = (), there: Json | None = None) -> None:
        self.bare = bare
        self.there = there
        self.asked: list[str] = []
        self.raises: dict[str, Exception] = {}
        self.gate = asyncio.Event()
        self.gate.set()
        self.in_flight = 0

    async def _ask(self, verb: str, what: str) -> None:
        self.asked.append(f"{verb} {what}")
        self.in_flight += 1
        await self.gate.wait()
        self.in_flight -= 1
        if verb in self.raises:
            raise self.raises[verb]

    async def patch(self, kind: str, namespace: str, name: str, body: Any, subresource: str = "") -> Json | None:
        await self._ask("patch", f"{name}/{subresource}")
        return None if name == "gone" or (subresource and kind in self.bare) else {}

    async def create(self, kind: str, manifest: Json) -> None:
        await self._ask("create", kind.partition(".")[0])

    async def drop(self, kind: str, namespace: str, name: str) -> None:
        await self._ask("drop", name)

    async def get(self, kind: str, namespace: str, name: str) -> Json | None:
        await self._ask("get", name)
        return self.there

    async def served(self) -> tuple[str, ...]:
        return (JOB,)


def made(port: Any, clock: ManualClock | None = None) -> HubWrites:
    """By the owner, for as long as a lease lasts."""
    clock = clock or ManualClock()
    ownership = Ownership()
    ownership.granted(clock.now(), LEASE_MS)
    return HubWrites(port, MemoryBus(clock), clock, ownership)


def status_of(name: str = "train", kind: str = JOB) -> Call:
    place = calls.Place(kind, "team-a", name, TRAIN.uid)
    return Call(calls.STATUS, "", "j", 1, calls.StatusWrite(place, {"active": 1}))


async def test_a_kind_without_status_subresource_is_asked_twice_only_once() -> None:
    port = Port(bare=(FLOW,))
    writes = made(port)
    assert (await writes(status_of("gone", FLOW))).code == calls.NOT_TAKEN, "it is not there: that tells nothing"
    for name in ("p", "q"):
        assert (await writes(status_of(name, FLOW))).code == ""
    assert port.asked == ["patch gone/status", "patch gone/", "patch p/status", "patch p/", "patch q/"]
    await writes(status_of("train"))
    assert port.asked[-1] == "patch train/status", "another kind is another matter"


OF_SETTING = {
    "its kind has conditions": ((), "p", "", ["patch p/status"]),
    "its kind has none": ((PP,), "p", calls.NO_STATUS, ["patch p/status", "patch p/"]),
    "it is gone": ((PP,), "gone", "", ["patch gone/status", "patch gone/"]),
}


@pytest.mark.parametrize(("bare", "name", "code", "asked"), OF_SETTING.values(), ids=list(OF_SETTING))
async def test_a_condition(bare: tuple[str, ...], name: str, code: str, asked: list[str]) -> None:
    port = Port(bare)
    call = Call(calls.CONDITION, "", "", 0, calls.ConditionWrite(policy(name), READY))
    assert (await made(port)(call)).code == code
    assert port.asked == asked


async def test_a_status_that_is_not_taken_tells_what_is_shown_instead() -> None:
    port = Port(there={"metadata": {"uid": TRAIN.uid}, "status": {"failed": 3}})
    port.raises["patch"] = ClusterRefused("Invalid", "the test operation failed")
    made_of_it = await made(port)(status_of())
    assert (made_of_it.ok, made_of_it.code, made_of_it.body) == (True, calls.NOT_TAKEN, {"failed": 3})
    port.there = {"metadata": {"uid": "another"}, "status": {"failed": 3}}
    assert (await made(port)(status_of())).body is None


def bind(known: bool) -> Call:
    return Call(calls.BIND, "", "j", 0, calls.BindingWrite(BINDS, known))


ALL: dict[str, Callable[[], Call]] = {
    calls.EVENT: lambda: Call(calls.EVENT, "", "j", 1, NOTE),
    calls.CONDITION: lambda: Call(calls.CONDITION, "", "", 0, calls.ConditionWrite(policy("p"), READY)),
    calls.STATUS: status_of,
    calls.RESET: lambda: Call(calls.RESET, "", "j", 0, calls.Place(JOB, "team-a", "train", TRAIN.uid)),
    calls.BIND: lambda: bind(known=True),
    calls.UNBIND: lambda: Call(calls.UNBIND, "", "", 0, Unbind("team-a", "train-job", TRAIN.uid)),
    calls.LOOK: lambda: Call(calls.LOOK, "", "j", 0, calls.Place(JOB, "team-a", "train", TRAIN.uid)),
}


def raising(error: Exception) -> Port:
    port = Port()
    port.raises = dict.fromkeys(("patch", "create", "drop", "get"), error)
    return port


@pytest.mark.parametrize("verb", ALL)
@pytest.mark.parametrize(
    "error",
    [
        Unreachable("no route"),
        ClusterRefused("Conflict", "the object has been modified"),
        ClusterRefused("InternalError", "etcd"),
        ClusterRefused("TooManyRequests", "later"),
    ],
    ids=lambda one: getattr(one, "code", "away"),
)
async def test_what_is_not_known_to_be_refused_is_tried_again(verb: str, error: Exception) -> None:
    assert not (await made(raising(error))(ALL[verb]())).ok


@pytest.mark.parametrize("verb", ALL)
async def test_what_the_hub_refuses_is_an_outcome(verb: str) -> None:
    made_of_it = await made(raising(ClusterRefused("Forbidden", "no")))(ALL[verb]())
    assert made_of_it.ok
    assert made_of_it.code == ("" if verb in (calls.EVENT, calls.UNBIND) else calls.NOT_TAKEN)


async def test_an_event_that_is_there_already_was_told() -> None:
    assert await made(raising(ClusterRefused("AlreadyExists", "x")))(ALL[calls.EVENT]()) == Outcome(
        ALL[calls.EVENT](), True
    )


@pytest.mark.parametrize(
    ("known", "asked"), [(False, ["create ResourceBinding"]), (True, ["patch train-job/"])], ids=["new", "there"]
)
async def test_a_binding_is_made_or_replaced(known: bool, asked: list[str]) -> None:
    port = Port()
    await made(port)(bind(known))
    assert port.asked == asked


async def test_a_binding_that_is_there_all_the_same_is_replaced() -> None:
    port = Port()
    port.raises["create"] = ClusterRefused("AlreadyExists", "x")
    assert (await made(port)(bind(known=False))).code == ""
    assert port.asked == ["create ResourceBinding", "patch train-job/"]


async def test_a_hub_that_serves_no_bindings_any_more_is_looked_at_again_for_them() -> None:
    writes = made(raising(ClusterRefused("KindNotServed", BINDING)))
    writes.served.set()
    assert (await writes(bind(known=True))).code == calls.NOT_SERVED
    assert not writes.served.is_set()


async def test_so_many_are_written_at_once_and_no_more() -> None:
    port = Port()
    port.gate.clear()
    writes = made(port)
    running = [asyncio.create_task(writes(status_of(f"j{number}"))) for number in range(AT_ONCE + 4)]
    await settle()
    assert port.in_flight == AT_ONCE
    port.gate.set()
    assert [one.ok for one in await asyncio.gather(*running)] == [True] * (AT_ONCE + 4)


@pytest.mark.parametrize("verb", [verb for verb in ALL if verb != calls.MANIFEST])
async def test_who_is_not_sure_any_more_to_be_the_owner_asks_the_hub_for_nothing(verb: str) -> None:
    clock = ManualClock()
    port = Port()
    writes = made(port, clock)
    await clock.advance(LEASE_MS / 1000)
    assert not (await writes(ALL[verb]())).ok
    assert port.asked == []


async def test_what_waits_to_be_written_when_the_lease_runs_out_is_not() -> None:
    clock = ManualClock()
    port = Port()
    port.gate.clear()
    writes = made(port, clock)
    running = [asyncio.create_task(writes(status_of(f"j{number}"))) for number in range(AT_ONCE + 4)]
    await settle()
    await clock.advance(LEASE_MS / 1000)
    port.gate.set()
    assert [one.ok for one in await asyncio.gather(*running)] == [True] * AT_ONCE + [False] * 4
    assert len(port.asked) == AT_ONCE
