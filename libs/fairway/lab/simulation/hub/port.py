"""The hub as one process reaches it: as a member, and whoever writes to it leaves a trace."""

from collections.abc import Awaitable, Callable
from typing import Any

from fairway.lab.simulation.hub.cluster import SimulatedHub
from fairway.lab.simulation.people.faults import FaultInjector
from fairway.lab.simulation.ports.member import MemberPort
from fairway.lab.simulation.process import SimulatedProcess

_READS = frozenset({"get", "served", "review"})


class HubPort(MemberPort):
    def __init__(self, process: SimulatedProcess, hub: SimulatedHub, faults: FaultInjector) -> None:
        super().__init__(process, hub, faults)
        self._writer = hub.writer

    def _asked(self, name: str, now: float) -> Callable[..., Awaitable[Any]]:
        asked = super()._asked(name, now)
        if name in _READS:
            return asked

        async def written(*given: Any, **named: Any) -> Any:
            """The hub carries a call out within one turn."""
            self._writer.process = self._process
            self._writer.asked = now
            try:
                return await asked(*given, **named)
            finally:
                self._writer.process = None

        return written
