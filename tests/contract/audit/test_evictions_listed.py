"""`fairway evictions`: on a real NATS for an operator, and through the gateway for whoever's job it is."""

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairway.client.failure import NOT_FOUND, USAGE
from fairway.domain.events import claim_id
from fairway.runtime.ports import Outgoing
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.envelope import JobMessage
from fairway.wire.preemption.claims import Cause
from fairway.wire.preemption.evictions import Evict, Victim
from fairway.wire.reasons import Code, Reason
from tests.contract.audit.test_commands import Typed
from tests.contract.http.test_limits import serving
from tests.support.commands import command
from tests.support.credential_door import run
from tests.support.dead_letters import Bench
from tests.support.http_door import TENANT_A, TENANT_B, WIDE, House, job, row

A = "mine-aaaaaaaaaa"
CLAIM = "claim-1c9a63d2"
WHY = Reason(Code.RECLAIMED, "its room is for a job of quota root/b that is within its guaranteed share")


def evicted(name: str, tenant: str, at: int, **more: Any) -> wire.Evicted:
    ends = {"cluster": "c1", "why": WHY, "right": Cause.RECLAIM, "leaf": "root/b", "level": 2, "rev": 9, "attempt": 1}
    return wire.Evicted(**{"job": name, "tenant": tenant, "at": at, "claim": CLAIM, **ends, **more})


async def say(bus: Any, name: str, message: JobMessage, subject: str = "") -> None:
    where = subject or subjects.job(message.verb, message.tenant)
    await bus.publish([Outgoing(name, where, msgspec.json.encode(message))])


async def listed(bench: Bench, *words: str) -> Any:
    ask = partial(command, "evictions", "--since", "2023-11-13", *words, "-o", "json", FAIRWAY_NATS_URL=bench.url)
    return json.loads((await asyncio.to_thread(ask)).stdout)["items"]


async def test_an_operator_sees_all_with_the_job_for_which_each_was(bench: Bench) -> None:
    at = 1_700_000_000_000
    head = {"job": "big-1", "tenant": "b", "attempt": 1, "at": at, "cluster": "c1", "slots": ()}
    victims = (Victim("x", 1, "c1", Cause.RECLAIM), Victim("y", 1, "c1", Cause.RECLAIM))
    await say(bench.bus, "e", Evict(**head, claim=1, victims=victims, looked=40), subjects.relief("evict"))
    for place, (name, said) in enumerate((("x", at + 10), ("y", at + 20), ("y", at + 20))):
        await say(bench.bus, f"v-{place}", evicted(name, "a", said, claim=claim_id("big-1", 1, 1)))
    await say(bench.bus, "z", evicted("z", "a", at + 30))
    await say(bench.bus, "liar", evicted("liar", "a", at + 40), subjects.job("evicted", "c"))
    found = await listed(bench)
    assert [(one["job"], one.get("beneficiary"), one.get("candidates")) for one in found] == [
        ("z", None, None),
        ("y", "big-1", 40),
        ("x", "big-1", 40),
    ]
    assert [one["job"] for one in await listed(bench, "--job", "big")] == ["y", "x"]
    assert [one["job"] for one in await listed(bench, "--claim", CLAIM[:8])] == ["z"]
    text = (await asyncio.to_thread(partial(command, "evictions", FAIRWAY_NATS_URL=bench.url))).output
    assert text == "no evictions are kept of that\n"


@pytest.fixture
async def typed(tmp_path: Path) -> AsyncIterator[Typed]:
    async with serving(WIDE) as door:
        house: House = door.house
        await house.has(row(A))
        first = wire.Submitted(job=A, tenant="team-a", manifest=msgspec.Raw(msgspec.json.encode(job())))
        await house.say("s", first)
        await house.say("v", evicted(A, "team-a", 1_700_000_000_000, rev=1))
        yield Typed(tmp_path, door.port)


async def test_of_a_job_of_ones_own_the_gateway_tells_when_and_for_whose_quota(typed: Typed) -> None:
    words = ("evictions", "--since", "2023-11-13", "--job", A, "--http")
    code, text = await typed(TENANT_A, *words, "-o", "json")
    (one,) = json.loads(text)["items"]
    assert (code, one["job"], one["leaf"], one["claim"], one.get("beneficiary")) == (0, A, "root/b", CLAIM, None)
    assert (await typed(TENANT_B, *words))[0] == NOT_FOUND


def test_without_a_job_the_gateway_is_not_asked(tmp_path: Path) -> None:
    code, text = run(tmp_path, "evictions", "--http")
    assert (code, "give --job" in text) == (USAGE, True)
