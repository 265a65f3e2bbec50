"""What was decided but perhaps not yet said: kept in the commit that decided it, cleared once it is published."""

from collections.abc import Callable, Sequence

import msgspec
from msgspec import structs

from fairway.domain.decision import Say, Step
from fairway.runtime.ports import Commit, Outgoing, StoreWiped, Unreachable, Wanted, World
from fairway.runtime.publishing import Publishing
from fairway.runtime.record.found_writer import FoundWriter
from fairway.wire.envelope import JobMessage
from fairway.wire.reasons import Code

# How often an instance looks for what another one left unsaid (s).
_SWEEP_S = 1.0
_encode = msgspec.json.Encoder().encode
_packed = msgspec.msgpack.Encoder().encode
_unpacked = msgspec.msgpack.Decoder(list[Outgoing]).decode


class Outbox:
    """One per service, shared by its instances: whoever finds an entry that stays publishes it. `reached` is whether
    the last sweep could look for any; `saying` is how it publishes."""

    def __init__(self, service: str, world: World, count: Callable[[Code], None] = lambda code: None) -> None:
        self._service = service
        self._world = world
        self.saying = Publishing(service, world, count)
        self._found = FoundWriter(service, world, self.saying)
        self._table = f"outbox/{service}"
        self._lease = ""
        self._done: tuple[str, ...] = ()
        self._seen: set[str] = set()
        self._count = 0
        self.reached = True

    async def pack(self, steps: Sequence[Step], token: int) -> tuple[Commit, list[list[Outgoing]]]:
        """The commit of these steps, and for each step its messages as they will go out. What was found apart is stored
        by then."""
        if apart := [one for step in steps for one in step.apart]:
            await self._found.store(apart, self._entries)
        payloads = []
        outgoing = []
        self._count += 1
        for step in steps:
            words = [self._outgoing(say) for say in step.events]
            payloads.append(_packed(words) if words else b"")
            outgoing.append(words)
        commit = Commit(
            steps=tuple(steps),
            outbox=self._table,
            key=f"{self._world.owner}.{self._count}",
            payloads=tuple(payloads),
            done=self._done,
            lease=self._service if token else "",
            token=token,
        )
        return commit, outgoing

    def _outgoing(self, say: Say) -> Outgoing:
        kind = "fairway." + ".".join(say.subject.split(".")[1:3])
        name = say.id
        message = say.message
        order = ""
        if isinstance(message, JobMessage) and message.rev:  # not what a door says: it builds upon nothing
            # Of the events of one job each builds upon the one before. Decided again in another working set it is
            # another event: the bus must not take it for the one that came too late.
            born = self._world.store.born
            order = message.job
            name = f"{name}-{born}"
            message = structs.replace(message, epoch=born)
        return Outgoing(name, say.subject, _encode(message), kind, f"/fairway/{self._service}", order)

    async def publish(self, messages: Sequence[Outgoing], commit: Commit) -> None:
        """Publishes until it is done; the entry is cleared with the next commit. StoreWiped (or Unreachable, of the
        store) when the commit may be lost meanwhile: its messages speak of what is not so any more, room that others
        have by now among it, and have to be decided again. So the store is asked once more when all is said: what
        came too late counts for nobody (domain.working_sets), and must not be taken for said."""
        if messages:
            await self.saying.insist(messages, self._entries)
            await self._world.store.read(Wanted())
        self._done = (commit.key,) if messages else ()

    async def recover(self) -> None:
        """Says what a crashed instance left unsaid. Saying it twice is saying it once: the ids are the same."""
        self._done = ()
        await self._republish(await self._entries())
        self.reached = True

    async def make_up(self) -> None:
        """Says what other instances have committed and perhaps not said, without waiting whether they still will."""
        await self._republish({key: data for key, data in (await self._entries()).items() if key not in self._done})

    async def sweep(self) -> None:
        """Publishes entries that were there a whole sweep ago, and this instance's last ones when all is quiet."""
        while True:
            await self._world.clock.sleep(_SWEEP_S * self._world.pace)
            try:
                entries = await self._entries()
                old = {key: data for key, data in entries.items() if key in self._seen}
                await self._republish(old)
                self._seen = set(entries) - set(old)
                self.reached = True
            except (Unreachable, StoreWiped) as error:
                self._seen = set()
                self.reached = isinstance(error, StoreWiped)

    async def _entries(self) -> dict[str, bytes]:
        found = await self._world.store.read(Wanted(whole=(self._table,)))
        return {key: row.data for key, row in found.whole.get(self._table, {}).items()}

    async def _republish(self, entries: dict[str, bytes]) -> None:
        if not entries:
            return
        for data in entries.values():
            # An entry by itself, as it was said the first time: together with others the bus might bundle it otherwise.
            messages = [one for payload in netstrings(data) for one in _unpacked(payload)]
            await self.saying.insist(messages, self._entries)
        await self._world.store.commit(Commit(steps=(), outbox=self._table, done=tuple(entries)))


def netstrings(data: bytes) -> list[bytes]:
    """The byte strings that stand one after the other, each behind its length and a colon."""
    found = []
    at = 0
    while at < len(data):
        colon = data.index(b":", at)
        at = colon + 1 + int(data[at:colon])
        found.append(data[colon + 1 : at])
    return found
