"""Settings that somebody said who may not: a member's agent may publish on its cluster's subject, whatever it likes."""

import asyncio
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.system_clock import SystemClock
from fairway.process.members.departures import Departures
from fairway.process.members.enrolment import Enrolment
from fairway.process.settings import Settings
from fairway.runtime.ports import Bus, Outgoing
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet, subjects
from fairway.wire.envelope import Actor
from tests.support.simulated_hub import opened

PLACE = subjects.config("Cluster", "", "north")
STRANGE = {
    "no JSON": b"{",
    "a list": b"[]",
    "text": b'"x"',
    "a number for a mode": b'{"mode":3}',
    "of another name": b'{"apiVersion":"policy.karmada.io/v1alpha1"}',
}


def configured(manifest: bytes, kind: str = "Cluster", name: str = "north", namespace: str = "") -> bytes:
    who = Actor("hub", "hub")
    raw = msgspec.Raw(manifest)
    return msgspec.json.encode(fleet.Configured(kind=kind, name=name, namespace=namespace, manifest=raw, who=who))


def strange(which: str) -> bytes:
    if which == "no JSON":
        return STRANGE[which]
    if which == "of another name":
        return configured(STRANGE[which], "PropagationPolicy", "theirs", "team-a")
    return configured(STRANGE[which])


async def settings(bus: Bus) -> list[fleet.Configured]:
    found = []
    async for one in bus.history("CONFIG"):
        with suppress(msgspec.DecodeError):
            message: Any = msgspec.json.decode(one.data, type=fleet.Message)
            found += [message] if isinstance(message, fleet.Configured) else []
    return found


async def withdrawn(bus: Bus) -> list[str]:
    return [one.name for one in await settings(bus) if one.manifest is None or bytes(one.manifest) == b"null"]


@pytest.mark.parametrize("which", STRANGE)
async def test_the_gateway_starts_and_takes_it_for_nobodys_setting(which: str) -> None:
    async with opened() as house:
        await house.stop()
        await house.bus.publish([Outgoing("strange", PLACE, strange(which))])
        house.start()
        await house.wide("p")
        async with asyncio.timeout(10):
            while "p" not in {one.name for one in await settings(house.bus)}:
                await asyncio.sleep(0.01)
        assert await withdrawn(house.bus) == [], "what was never set is not withdrawn"


@pytest.mark.parametrize("which", STRANGE)
async def test_who_left_is_said_to_have_left_whatever_else_is_there(which: str) -> None:
    bus = MemoryBus(SystemClock())
    clock = SystemClock()
    gone = configured(b'{"mode":"push"}', name="south")
    await bus.publish([Outgoing("strange", PLACE, strange(which))])
    await bus.publish([Outgoing("gone", subjects.config("Cluster", "", "south"), gone)])
    enrolment = Enrolment(Settings())
    enrolment.known.set()
    running = asyncio.create_task(Departures(bus, clock, enrolment).run())
    async with asyncio.timeout(10):
        while "south" not in await withdrawn(bus):
            assert not running.done(), running.exception()
            await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.wait([running])


async def test_who_left_is_said_to_have_left_though_it_has_taken_back_its_own_name() -> None:
    """A member in pull mode may write there what it is called; what was said at its join it may not."""
    bus = MemoryBus(SystemClock())
    clock = SystemClock()
    facts = configured(b'{"mode":"pull","uid":"u"}', "Member", "south")
    await bus.publish([Outgoing("facts", subjects.config("Member", "", "south"), facts)])
    await bus.publish([Outgoing("none", subjects.config("Cluster", "", "south"), configured(b"null", name="south"))])
    enrolment = Enrolment(Settings())
    catalog = Catalog()
    enrolment.known.set()
    running = [asyncio.create_task(one) for one in (Departures(bus, clock, enrolment).run(), catalog.run(bus, clock))]
    async with asyncio.timeout(10):
        while catalog.members.left != {"south"}:
            await asyncio.sleep(0.01)
    for task in running:
        task.cancel()
    await asyncio.wait(running)
