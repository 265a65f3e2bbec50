"""What the loop needs of the world: a bus, a store, a clock, ids. Each has a real adapter and an in-memory twin."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from fairway.domain.decision import Step


class StoreWiped(Exception):
    """The store is not the one that was opened: it lost its data or was rebuilt. Nothing was written. Also said to who
    asks for changes of so long ago that those of rows that are gone are no longer kept: either way, begin anew."""


class Fenced(Exception):
    """Another owner holds the lease now. Nothing was written; what is in memory is stale."""


class Unreachable(Exception):
    """The bus or the store does not answer. Whether the last call took effect is unknown; say it again."""


class Outgoing(Struct, frozen=True):
    """A message ready to publish. `id` makes a second publish of it a no-op; `kind` is its CloudEvents type. Messages
    with an `order` may travel together with others of their subject, and keep their order among those with the same.
    Nobody but its sender can know the id of an `unguessable` one before it was said: what has it already is this."""

    id: str
    subject: str
    data: bytes
    kind: str = ""
    source: str = ""
    order: str = ""
    unguessable: bool = False


class Delivery(Struct):
    """A message as it came. `handle` is the transport's, for the acknowledgement; `left` how many wait behind it,
    `behind` how many of these were stored together with it, with the same sequence. `stored_at` is when that was, in
    milliseconds since 1970 by the bus's clock (0: not known). One with a `fault` cannot be read, and has no data."""

    id: str
    subject: str
    data: bytes
    sequence: int = 0
    delivered: int = 1
    left: int = 0
    behind: int = 0
    handle: Any = None  # each adapter reads only its own
    stored_at: int = 0
    fault: str = ""


class Source(Protocol):
    """A durable consumer. What is not acknowledged is delivered again, to whoever asks next."""

    stream: str

    async def batch(self, most: int) -> list[Delivery]:
        """At least one message, at most `most`; waits for the first."""

    def ack(self, deliveries: Sequence[Delivery]) -> None: ...
    def later(self, delivery: Delivery, delay_ms: int) -> None:
        """Deliver again after `delay_ms`."""

    async def close(self) -> None: ...


# In seconds.
ANSWER_S = 30.0


class Bus(Protocol):
    async def publish(self, messages: Sequence[Outgoing], tries: int = 4) -> int:
        """Returns when every message is stored: the highest of their places. Unreachable after so many tries of some
        seconds each, and at once when the connection breaks in the last of them; safe to repeat. Nothing of it is sent
        later than that. Unsayable (runtime.record.publishable) names those that can never be stored, when all others
        are."""

    async def consume(self, stream: str, durable: str, subjects: Sequence[str]) -> Source:
        """What is not answered within `ANSWER_S` is given again. Unreachable when there is no such consumer."""

    async def fetch(self, stream: str, sequence: int) -> bytes | None:
        """The data of one stored message, or None when it is no longer there."""

    def history(
        self, stream: str, subjects: Sequence[str] = (), start: int = 1, live: bool = False, last: bool = False
    ) -> AsyncGenerator[Delivery, None]:
        """Stored messages from sequence `start`, in order; with `last` only the newest of each subject. Ends with
        the newest stored one, or with `live` never: then an empty Delivery marks that the past is over."""

    async def tell(self, subject: str, data: bytes = b"") -> None:
        """Core publish: not stored, heard by whoever listens now."""

    async def ask(self, subject: str, data: bytes = b"", timeout: float = 2.0) -> bytes: ...
    async def answer(self, subject: str, reply: Callable[[bytes], Awaitable[bytes | None]]) -> None: ...
    @property
    def connected(self) -> bool: ...
    async def close(self) -> None: ...


class ErasableBus(Bus, Protocol):
    """The bus as the keeper of manifests has it: nobody else deletes a message of the record."""

    async def erase(self, stream: str, sequence: int) -> None:
        """Overwrites and deletes one stored message; one that is gone already is no error. Unreachable when nobody
        knows whether it is."""

    async def handled(self, stream: str, durable: str) -> int:
        """Up to which place all that a durable consumer hears is acknowledged; 0 when there is no such consumer."""


class Wanted(Struct):
    """One read: rows by table and key, whole tables, and what changed after `since` in the followed tables whose names
    begin with one of `follow`, and which rows are gone since in those that begin with one of `gone`. With a lease, only
    its present owner is answered."""

    rows: dict[str, list[str]] = {}
    whole: tuple[str, ...] = ()
    since: int | None = None
    follow: tuple[str, ...] = ("",)
    gone: tuple[str, ...] = ()
    lease: str = ""
    token: int = 0
    added: dict[str, set[str]] = {}

    def add(self, table: str, key: str) -> None:
        """Once, however often it is added: thousands may be."""
        keys = self.rows.setdefault(table, [])
        known = self.added.setdefault(table, set(keys))
        if key not in known:
            known.add(key)
            keys.append(key)


class Row(Struct, frozen=True):
    rev: int
    data: bytes


class ReadRows(Struct):
    """The answer, all of one moment. A row that is not there is absent; a changed row that is gone has no Row."""

    rows: dict[tuple[str, str], Row] = {}
    whole: dict[str, dict[str, Row]] = {}
    counters: dict[str, dict[str, int]] = {}
    changes: list[tuple[str, str, Row | None]] = []
    version: int = 0


class Commit(Struct, frozen=True):
    """Steps in order, each all or nothing by itself, but none upon a row that a refused one was to write. `payloads`
    are their events as bytes: row `key` of `outbox` keeps those of the steps that were taken, as netstrings
    (`<length>:<bytes>`), until `done` clears that row."""

    steps: tuple[Step, ...]
    outbox: str = ""
    key: str = ""
    payloads: tuple[bytes, ...] = ()
    done: tuple[str, ...] = ()
    lease: str = ""
    token: int = 0


class Store(Protocol):
    @property
    def born(self) -> int:
        """Of the working set that was opened: the place in the record where its rebuild began. 0: not known."""

    async def open(self) -> bool:
        """True when the store holds a working set; False when it is empty and has to be rebuilt."""

    async def read(self, wanted: Wanted) -> ReadRows: ...
    async def keys(self, table: str, after: str, most: int) -> list[str]:
        """Of `jobs`, `live` and `held` the keys behind `after` (empty: from the first), in order, at most so many: what
        a page costs does not grow with the table."""

    async def commit(self, commit: Commit) -> list[bool]:
        """For each step, whether it was taken. StoreWiped or Fenced: none was."""

    async def begin_rebuild(self, owner: str, ttl_ms: int) -> bool:
        """Takes the lock of the rebuild and clears the store; False while another has it, or the store is filled."""

    async def renew_rebuild(self, ttl_ms: int) -> bool: ...
    async def load(self, table: str, rows: Mapping[str, tuple[int, bytes]]) -> None:
        """Writes rows without guards; only between `begin_rebuild` and `finish_rebuild`."""

    async def load_counters(self, table: str, counters: Mapping[str, int]) -> None: ...
    async def finish_rebuild(self, epoch: str) -> None:
        """`<born>-<owner>`."""

    async def lease(self, name: str, owner: str, ttl_ms: int) -> int:
        """A fencing token that grows with every change of owner, or 0 while another owner holds the lease."""

    async def close(self) -> None: ...


class Clock(Protocol):
    def now(self) -> int:
        """Milliseconds since 1970."""

    async def sleep(self, seconds: float) -> None: ...


class Ids(Protocol):
    def new(self) -> str:
        """A fresh id: letters, digits and `-`, at most 26 of them."""


class World(Struct, frozen=True):
    """The ports, as one argument. `pace` is how many times more seldom than usual what goes by the clock comes:
    sweeps, ticks, renewals of leases. A simulation has a pace above 1: its quiet hours are made of these alone."""

    bus: Bus
    store: Store
    clock: Clock
    owner: str
    pace: float = 1.0
