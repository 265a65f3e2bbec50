"""Jobs that come over HTTP, through all gateways in turn; whoever gets no answer sends the same again to another."""

import asyncio
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import aiohttp
import msgspec
from msgspec import Raw, Struct

from fairway.adapters.nats.bus import NatsBus
from fairway.lab.bench.measuring.journeys import Journeys
from fairway.lab.bench.pipeline.fleet import Tell
from fairway.lab.bench.workers.instances import GATEWAY
from fairway.lab.fleet.fleet import EmbeddedFleet
from fairway.runtime.ports import Outgoing

# A gateway that has not answered for so long is given up for this try (s).
_ANSWER_S = 10.0
_AGAIN_S = 0.1
# Jobs of one request: several of them are on their way to the gateways at once.
_AT_ONCE = 32
# While instances of every stage come and go what one of them had in hand comes again after half a minute.
_PATIENCE_S = 120.0
_GOOD = (200, 202)
_LATER = (429, 503)


class _Draft(Struct):
    """Of what a trusted door would say, what a client sends."""

    manifest: Raw
    client: str


class _Item(Struct):
    status: int
    problem: dict[str, Any] = {}


class _Items(Struct):
    items: list[_Item]


_draft = msgspec.json.Decoder(_Draft).decode
_items = msgspec.json.Decoder(_Items).decode
_encode = msgspec.json.Encoder().encode


class DoorJourneys(Journeys):
    """Journeys that begin at the gateways of a fleet."""

    def __init__(self, fleet: EmbeddedFleet, bus: NatsBus, source: Iterator[tuple[str, Outgoing]], tell: Tell) -> None:
        super().__init__(bus, source, lambda: tell("", 1), _PATIENCE_S)
        self._fleet = fleet
        self._turns = count()
        self.sent_again = 0

    async def publish(self, messages: Sequence[Outgoing]) -> None:
        drafts = [_draft(one.data) for one in messages]
        timeout = aiohttp.ClientTimeout(total=_ANSWER_S)
        known = {"Authorization": f"Bearer {self._fleet.token}", "Content-Type": "application/json"}
        async with aiohttp.ClientSession(timeout=timeout, headers=known) as session:
            pieces = (drafts[start : start + _AT_ONCE] for start in range(0, len(drafts), _AT_ONCE))
            await asyncio.gather(*(self._insist(session, piece) for piece in pieces))

    async def _insist(self, session: aiohttp.ClientSession, drafts: list[_Draft]) -> None:
        left = drafts
        while left:
            left = await self._sent(session, left)
            if left:
                self.sent_again += len(left)
                await asyncio.sleep(_AGAIN_S)

    async def _sent(self, session: aiohttp.ClientSession, drafts: list[_Draft]) -> list[_Draft]:
        """What has to be sent again. RuntimeError when a job is refused."""
        doors = [one for name, one in self._fleet.processes.items() if name.startswith(GATEWAY) and one.said]
        if not doors:
            return drafts
        url = f"{doors[next(self._turns) % len(doors)].said['http']}/v1/jobs:batch"
        try:
            async with session.post(url, data=_encode({"jobs": drafts})) as answer:
                said = await answer.read()
        except (aiohttp.ClientError, TimeoutError):
            return drafts
        if answer.status in _LATER:
            return drafts
        if answer.status not in _GOOD:
            raise RuntimeError(f"the gateway answered {answer.status}: {said.decode()[:300]}")
        left = []
        for draft, item in zip(drafts, _items(said).items, strict=True):
            if item.status in _LATER:
                left.append(draft)
            elif item.status not in _GOOD:
                raise RuntimeError(f"the gateway refused {draft.client}: {item.problem}")
        return left
