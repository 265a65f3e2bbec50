"""In the place of every cluster's agent: what they would say of their nodes, when they would say it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import msgspec
from msgspec import Struct

from fairway.adapters.nats.bus import NatsBus
from fairway.runtime.ports import Outgoing
from fairway.wire import fleet, subjects
from fairway.wire.capacity import Node

_encode = msgspec.json.Encoder().encode
# Full reports are large: so many are published at a time.
_AT_ONCE = 20
# So often in a second those whose turn it is say that they are there.
_ROUNDS_A_SECOND = 4
# What an agent has to say of its nodes with a heartbeat: those that changed.
News = Callable[[str], Sequence[Node]]


class ReportedNodes(Struct, frozen=True):
    """What a fleet stands on: the hub's settings, and the nodes and labels of every cluster, by name."""

    configuration: Sequence[Outgoing]
    clusters: Mapping[str, Sequence[Node]]
    labels: Mapping[str, dict[str, str]]
    kinds: tuple[str, ...]


async def known(bus: NatsBus, clusters: int) -> None:
    """Returns when the fleet has heard of so many."""
    heard: set[str] = set()
    async for delivery in bus.history(subjects.CLUSTERS, ("fairway.cluster.freed.>",), live=True):
        heard.add(delivery.subject)
        if len(heard - {""}) == clusters:
            return


class Agents:
    """`nodes` are as last reported; `said_bytes` is what all reports together had."""

    def __init__(self, bus: NatsBus, ground: ReportedNodes) -> None:
        self._bus = bus
        self._ground = ground
        self.nodes = {name: {node.name: node for node in nodes} for name, nodes in ground.clusters.items()}
        self._sequences = dict.fromkeys(ground.clusters, 0)
        self.said_bytes = 0

    async def introduce(self) -> None:
        """Every cluster reports all of its nodes, and will again whenever it is asked; returns when that was heard."""
        for name in self.nodes:
            await self._bus.answer(subjects.resync(name), partial(self._asked, name))
        names = list(self.nodes)
        for start in range(0, len(names), _AT_ONCE):
            await self._bus.publish([self._report(name, full=True) for name in names[start : start + _AT_ONCE]])
        await known(self._bus, len(names))

    async def _asked(self, name: str, data: bytes) -> None:
        await self._bus.publish([self._report(name, full=True)])

    async def changed(self, cluster: str, *nodes: Node) -> None:
        """A report of these nodes, as they are from now on."""
        await self._bus.publish([self._report(cluster, nodes)])

    def _report(self, name: str, nodes: Sequence[Node] = (), full: bool = False) -> Outgoing:
        self.nodes[name].update({node.name: node for node in nodes})
        self._sequences[name] += 1
        said = fleet.Report(
            cluster=name,
            epoch="bench",
            sequence=self._sequences[name],
            full=full,
            nodes=tuple(self.nodes[name].values()) if full else tuple(nodes),
            labels=self._ground.labels[name],
            kinds=self._ground.kinds,
            kubernetes="v1.33.0",
        )
        data = _encode(said)
        self.said_bytes += len(data)
        return Outgoing(f"{name}-report-{said.sequence}", subjects.cluster("report", name), data, "fairway.cluster")

    async def beat(self, every_s: float, news: News) -> None:
        """For ever: each cluster reports once in so many seconds, one after the other."""
        names = list(self.nodes)
        loop = asyncio.get_running_loop()
        turn = 0
        start = loop.time()
        while True:
            await asyncio.sleep(1 / _ROUNDS_A_SECOND)
            due = int((loop.time() - start) / every_s * len(names))
            whose = [names[at % len(names)] for at in range(turn, due)]
            turn = due
            if whose:
                await self._bus.publish([self._report(name, news(name)) for name in whose])
