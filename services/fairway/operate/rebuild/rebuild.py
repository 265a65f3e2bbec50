"""What `fairway rebuild` does: voids the working set, by which everybody is fenced, and sees it made anew."""

import asyncio

import typer
from msgspec import Struct

from fairway.adapters.nats.past_record import newest
from fairway.adapters.system_clock import SystemClock
from fairway.adapters.valkey.store import RedisStore
from fairway.client.failure import DENIED, ERROR, TIMEOUT, Failure
from fairway.client.terminal import json_text
from fairway.domain import decision
from fairway.explain.wording import listed, many, span
from fairway.gateway.callers.caller import GROUP, RECORD
from fairway.operate import servers
from fairway.operate.audit.noted import noted
from fairway.process.settings import Settings

_LOOK_S = 0.05
# An agent that has not answered the question for a full report by then is silent: no work goes to its cluster.
_REPORT_S = 30.0


class Rebuilt(Struct, frozen=True):
    """How many rows of each kind the new working set has; `ms` until it could be used. `clusters` have reported to it,
    `silent` had reported to the one before and not to this."""

    born: int
    ms: int
    jobs: int
    live: int
    held: int
    clusters: list[str]
    silent: list[str]


def question(of: Settings) -> str:
    where = f"Valkey at {servers.shown(of.redis_url)}"
    record = f"the record of NATS at {servers.shown(of.nats_url)}"
    return f"Take the working set in {where} away, and have it made anew from {record}? Until then nothing is decided."


async def rebuilt(of: Settings, timeout: float) -> Rebuilt:
    """Raises Failure; after the one that no service has done it in `timeout` seconds the store is left empty."""
    clock = SystemClock()
    async with servers.bus(of) as bus, servers.store(of) as store:
        await noted(bus, "rebuild", f"{RECORD}.{GROUP}")
        before: list[str] = []
        if await store.open():
            await _check(store, await newest(bus))
            before = sorted(await store.table(decision.CLUSTERS))
            if not await store.void():
                text = "somebody else had the working set made anew at the same time"
                raise Failure(ERROR, text, "run it again if that was not enough")
        began = clock.now()
        await _filled(store, timeout)
        took = clock.now() - began
        silent = await _silent(store, before)
        held = sum([await store.size(name) for name in await store.tables() if name.startswith("ledger/")])
        return Rebuilt(
            store.born,
            took,
            await store.size(decision.JOBS),
            await store.size(decision.LIVE),
            held,
            sorted(await store.table(decision.CLUSTERS)),
            silent,
        )


async def _check(store: RedisStore, last: int) -> None:
    """That this record is the one that the working set was made of: from another one nothing would come back."""
    if last < store.born:
        text = f"the record ends at message {last}, and this working set was made at message {store.born} of its own"
        raise Failure(
            DENIED, text, "look whether NATS has lost the stream JOBS, or FAIRWAY_NATS_URL is another fleet's"
        )


async def _filled(store: RedisStore, timeout: float) -> None:
    try:
        async with asyncio.timeout(timeout):
            while not await store.open():
                await asyncio.sleep(_LOOK_S)
    except TimeoutError:
        text = f"no service has rebuilt the store within {timeout:g} s; it is empty, and nothing is decided"
        raise Failure(TIMEOUT, text, "start the services, or look at their logs: the first to come does it") from None


async def _silent(store: RedisStore, before: list[str]) -> list[str]:
    """The clusters whose capacity stays unknown for longer than an agent needs."""
    left = set(before)
    try:
        async with asyncio.timeout(_REPORT_S):
            while left := set(before) - (await store.table(decision.CLUSTERS)).keys():
                await asyncio.sleep(_LOOK_S)
    except TimeoutError:
        return sorted(left)
    return []


def show(done: Rebuilt, output: str) -> None:
    if output:
        typer.echo(json_text(done))
        return
    counts = f"{many(done.jobs, 'job')}, {done.live} of them live, {many(done.held, 'reservation')}"
    typer.echo(f"rebuilt in {span(done.ms)}: {counts}")
    typer.echo(f"capacity is known of {listed(done.clusters)}")
    if done.silent:
        typer.echo(f"not of {listed(done.silent)}: nothing is placed there before the agent reports")
