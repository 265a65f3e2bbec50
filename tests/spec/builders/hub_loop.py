"""Plays the loop for the hub service, on a clock that stands still until it is told to go on. Beside its memory a
second one follows, made of what the first one remembered: it has to decide the same on everything."""

from typing import Any

import msgspec
from msgspec import structs

from fairway.domain.decision import Decision, Heard
from fairway.hub.decide import decide
from fairway.hub.memory import HubMemory
from fairway.runtime.ports import ReadRows
from fairway.runtime.views.settings import Catalog
from tests.spec.builders.hub_inbox import HubInbox
from tests.spec.builders.lives import T0
from tests.spec.builders.scripted_hub import ScriptedHub
from tests.spec.builders.scripted_record import ScriptedRecord

MOST = 256
# The second memory is made anew with every so manyth batch.
_AFRESH = 5
# Rounds of one moment; more than so many would go on for ever.
_ENDLESS = 500
_encode = msgspec.json.Encoder().encode


class SecondMemory:
    """Knows what the first one remembered, and what came since."""

    def __init__(self, first: HubMemory, catalog: Catalog) -> None:
        """A replay knows the limits of tenants, and no other setting of the catalog."""
        own = Catalog()
        own.limits = catalog.limits
        self._memory = HubMemory(own)
        self._memory.begin()
        for one in first.remembered():
            self._memory.recall(one.table, one.key, one.rev, _encode(one.value))

    def take(self, found: ReadRows, batch: list[Heard[Any]], now: int) -> None:
        self._memory.wants(batch, now)
        self._memory.take(found, batch, now)

    def decides(self, heard: Heard[Any], made: Decision, now: int) -> None:
        again = self._memory.make_up(heard, decide(self._memory, heard, now), now)
        assert again == made, f"who remembers decides otherwise on {heard.message}"
        for step in made.steps:
            self._memory.apply(step)


class HubLoop:
    def __init__(self) -> None:
        self.now = T0
        self.inbox = HubInbox()
        self.hub = ScriptedHub()
        self.record = ScriptedRecord()
        self.hub.manifests = self.record.manifest

    def begin(self, catalog: Catalog) -> None:
        """A process begins: whatever the last one had in hand comes again."""
        self._catalog = catalog
        self.memory = HubMemory(catalog)
        self._rounds = 0
        self.memory.begin()
        wanted = self.memory.first(None)
        while wanted is not None:
            wanted = self.memory.first(self.record.read(wanted))
        self.inbox.begin()

    def echo(self) -> None:
        """The watch shows what was changed on the hub."""
        raise NotImplementedError

    def run(self, ms: int = 0) -> None:
        """Time goes by, and all that falls due in it is handled."""
        end = self.now + ms
        while True:
            self._rest()
            due = self.inbox.due_at()
            if due is None or due > end:
                break
            self.now = max(self.now, due)
            self.inbox.fall_due(self.now)
        self.now = end

    def _rest(self) -> None:
        """Until nothing is left to do in this moment."""
        for _ in range(_ENDLESS):
            if not self.inbox.line:
                return
            self._round(self.inbox.batch(MOST))
        raise AssertionError(f"it goes on for ever: {self.inbox.line[:3]}")

    def _round(self, batch: list[Heard[Any]]) -> None:
        if self._rounds % _AFRESH == 0:
            self._second = SecondMemory(self.memory, self._catalog)
        self._rounds += 1
        found = self.record.read(self.memory.wants(batch, self.now))
        self._second.take(found, batch, self.now)
        self.memory.take(found, batch, self.now)
        decided = [(heard, self._decide(heard)) for heard in batch]
        for heard, made in decided:
            for step in made.steps:
                self.record.commit(step)
            if made.calls:
                answers = tuple(self.hub(call) for call in made.calls)
                self.inbox.line.append(structs.replace(heard, outcomes=(*heard.outcomes, *answers)))
            else:
                self.inbox.settle(heard, made, self.now)
        self.echo()

    def _decide(self, heard: Heard[Any]) -> Decision:
        made = self.memory.make_up(heard, decide(self.memory, heard, self.now), self.now)
        assert not made.calls or (not made.steps and made.again_in is None), "calls stand alone"
        self._second.decides(heard, made, self.now)
        for step in made.steps:
            self.memory.apply(step)
        return made
