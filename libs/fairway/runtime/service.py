"""A service as a value: what it hears, what it looks at, how it decides, what it may do outside."""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Protocol

from msgspec import Struct

from fairway.domain.decision import Call, Decision, Heard, Outcome, Step
from fairway.runtime.ports import ReadRows, Store, Wanted


class View(Protocol):
    """What `decide` sees. The loop keeps it current: before a batch by `refresh`, within it by `apply`."""

    def wants(self, heard: Sequence[Heard], now: int) -> Wanted:
        """What to read from the store before deciding on these messages."""
        ...

    def refresh(self, found: ReadRows, heard: Sequence[Heard], now: int) -> None: ...
    def apply(self, step: Step) -> None:
        """A step was decided: the next message of the batch sees it done."""
        ...

    def make_up(self, heard: Heard, decided: Decision, now: int) -> Decision:
        """The decision, with what the store lacks of what the message says."""
        ...

    def refused(self, step: Step) -> None:
        """The store did not take it: whatever it touched has to be read again."""
        ...

    async def load(self, store: Store) -> None:
        """Another working set, or a new start: forget everything, and read what must be known from the beginning."""
        ...


class Consumer(Struct, frozen=True):
    """A durable consumer: its name is the same in every process, so that they share the work. `subject` is where a
    message may be said: who may publish there speaks for nobody else."""

    stream: str
    durable: str
    subjects: tuple[str, ...]
    decoder: Any  # msgspec decoder of the stream's messages
    subject: Callable[[Any], str] | None = None


class Service(Struct, frozen=True):
    """`single` services own ordered state and run behind a lease. `ticks` are local messages by period in
    ms; `begin` is one that is heard whenever the service starts on a working set; `beside` runs along with
    the service and puts local messages into its inbox."""

    name: str
    ears: tuple[Consumer, ...]
    decide: Callable[[Any, Heard, int], Decision]
    view: Callable[[], View]
    act: Callable[[Call], Awaitable[Outcome]] | None = None
    single: bool = False
    ticks: tuple[tuple[Any, int], ...] = ()
    begin: Any = None
    beside: Callable[[Any], Coroutine[Any, Any, None]] | None = None
    most: int = 256
