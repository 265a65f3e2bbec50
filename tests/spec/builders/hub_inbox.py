"""What waits for the hub service, and what it has in hand, on a clock that stands still until it is told to go on."""

import itertools
from collections.abc import Iterable
from typing import Any

from msgspec import structs

from fairway.domain.decision import Decision, Heard


class HubInbox:
    """`line` comes next. `acked` are the ids of the messages of the record that need not come again; `open` those that
    would."""

    def __init__(self) -> None:
        self.line: list[Heard[Any]] = []
        self.acked: list[str] = []
        self.open: dict[str, Heard[Any]] = {}
        self._kept: set[str] = set()
        self._later: list[tuple[int, Heard[Any]]] = []
        self._ids = itertools.count(1)

    def begin(self) -> None:
        """In another process."""
        self._later = []
        self._kept.clear()
        self.line = [structs.replace(one, delivered=one.delivered + 1) for one in self.open.values()]

    def local(self, message: object) -> None:
        self.line.append(Heard(f"l{next(self._ids)}", message))

    def deliver(self, name: str, message: object) -> str:
        """A message of the record; without a name it is given one."""
        name = name or f"m{next(self._ids)}"
        self.open[name] = Heard(name, message, sequence=next(self._ids))
        self.line.append(self.open[name])
        return name

    def batch(self, most: int) -> list[Heard[Any]]:
        batch = self.line[:most]
        self.line = self.line[most:]
        return batch

    def due_at(self) -> int | None:
        """When the first of those comes that come later."""
        return min((at for at, _ in self._later), default=None)

    def fall_due(self, now: int) -> None:
        self.line += [heard for at, heard in self._later if at <= now]
        self._later = [(at, heard) for at, heard in self._later if at > now]

    def settle(self, heard: Heard[Any], made: Decision, now: int) -> None:
        for one in made.reminders:
            self._later.append((now + one.after, Heard(f"l{next(self._ids)}", one.message)))
        self._ack(name for name in made.done if name in self._kept)
        durable = heard.id in self.open
        if made.again_in is not None:
            again = Heard(heard.id, heard.message, heard.sequence, heard.delivered + durable)
            self._later.append((now + made.again_in, again))
        elif made.kept and durable:
            self._kept.add(heard.id)
        elif durable:
            self._ack([heard.id])

    def _ack(self, names: Iterable[str]) -> None:
        for name in list(names):
            self._kept.discard(name)
            self.acked.append(name)
            del self.open[name]
