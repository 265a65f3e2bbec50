"""What the agent's benchmark hears on the bus: the cluster as its reports tell it, and how late they are."""

import asyncio

import msgspec
from nats.aio.msg import Msg

from fairway.adapters.nats.bus import NatsBus
from fairway.wire import subjects
from fairway.wire.capacity import Node
from fairway.wire.fleet import Report

_decode = msgspec.json.Decoder(Report).decode


class HeardReports:
    """`complete` is set when the reports since the full one have told every node, at `complete_at` of the loop's clock.
    `messages`, `bytes` and `rows` are since the beginning, or since `begin`; `delays` are in milliseconds."""

    def __init__(self, expected: int) -> None:
        self._expected = expected
        self._view: dict[str, Node] = {}
        self._owed: dict[str, dict[str, tuple[bool, float]]] = {}
        self._full = False
        self.complete = asyncio.Event()
        self.complete_at = 0.0
        self.messages = self.bytes = self.rows = 0
        self.delays: list[float] = []

    @classmethod
    async def on(cls, bus: NatsBus, cluster: str, expected: int) -> "HeardReports":
        """Listens from now on, as long as the bus is open."""
        heard = cls(expected)

        async def hear(message: Msg) -> None:
            heard.hear(message.data)

        await bus.client.subscribe(subjects.cluster(Report.verb, cluster), cb=hear)
        await bus.client.flush()
        return heard

    def hear(self, data: bytes) -> None:
        now = asyncio.get_running_loop().time()
        report = _decode(data)
        self.messages = self.messages + 1
        self.bytes = self.bytes + len(data)
        self.rows = self.rows + len(report.nodes)
        if report.full:
            self._full = True
            self._view.clear()
        for row in report.nodes:
            self._view[row.name] = row
            self._pay(row, now)
        for name in report.gone:
            self._view.pop(name, None)
        if self._full and len(self._view) == self._expected and not self.complete.is_set():
            self.complete_at = now
            self.complete.set()

    def _pay(self, row: Node, now: float) -> None:
        owed = self._owed.get(row.name, {})
        for attempt, (there, since) in list(owed.items()):
            if (attempt in row.attempts) == there:
                self.delays.append((now - since) * 1000)
                del owed[attempt]

    def expect(self, node: str, attempt: str, there: bool) -> None:
        """From now on a report has to come in which the node has this attempt's pods, or has them no longer."""
        self._owed.setdefault(node, {})[attempt] = (there, asyncio.get_running_loop().time())

    def begin(self) -> None:
        self.messages = self.bytes = self.rows = 0
        self.delays = []

    @property
    def nodes(self) -> int:
        return len(self._view)

    @property
    def pods(self) -> int:
        """That take something of a node, whoever's they are: each of them takes one of its `pods`."""
        rows = self._view.values()
        ours = sum(pods.requests.get("pods", 0) for row in rows for pods in row.attempts.values())
        return ours + sum(row.used.get("pods", 0) for row in rows)

    @property
    def owed(self) -> int:
        return sum(map(len, self._owed.values()))

    async def settled(self, patience_s: float) -> None:
        """Until every change that was expected has been told; or for so long, and `owed` says how many were not."""
        end = asyncio.get_running_loop().time() + patience_s
        while self.owed and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(0.02)
