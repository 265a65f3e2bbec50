"""A service as a value: what it hears, what it looks at, how it decides, what it may do outside."""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from fairway.domain.decision import Call, Decision, Heard, Message, Outcome, Step
from fairway.runtime.ports import ReadRows, Store, Wanted

Said = TypeVar("Said", contravariant=True)


class View(Protocol[Said]):
    """What `decide` sees. The loop keeps it current: before a batch by `refresh`, within it by `apply`."""

    def wants(self, heard: Sequence[Heard[Said]], now: int) -> Wanted:
        """What to read from the store before deciding on these messages."""

    def refresh(self, found: ReadRows, heard: Sequence[Heard[Said]], now: int) -> None: ...
    def apply(self, step: Step) -> None:
        """A step was decided: the next message of the batch sees it done."""

    def make_up(self, heard: Heard[Said], decided: Decision, now: int) -> Decision:
        """The decision, with what the store lacks of what the message says."""

    def refused(self, step: Step) -> None:
        """The store did not take it: whatever it touched has to be read again."""

    async def load(self, store: Store) -> None:
        """Another working set, or a new start: forget everything, and read what must be known from the beginning."""


class Decoder(Protocol[Message]):
    def decode(self, data: bytes, /) -> Message: ...


class Consumer(Struct, Generic[Message], frozen=True):
    """A durable consumer: its name is the same in every process, so that they share the work. `subject` is where a
    message may be said: who may publish there speaks for nobody else. Where it is given, the decoder may know more
    messages than are heard on `subjects`: none of the others is said in its place."""

    stream: str
    durable: str
    subjects: tuple[str, ...]
    decoder: Decoder[Message]
    subject: Callable[[Message], str] | None = None


class LocalMessages(Protocol):
    """The inbox of a service, for what runs beside it."""

    def put(self, message: object) -> None: ...
    async def room(self) -> None:
        """Returns when not too much waits."""

    async def pause(self, seconds: float) -> None: ...


Seen = TypeVar("Seen", bound=View[Any])
Hears = TypeVar("Hears")


class Service(Struct, Generic[Seen, Hears], frozen=True):
    """Decides with views of one type on messages of one type, most often a union: what its `consumers` hear and what it
    tells itself. `single` services own ordered state and run behind a lease. `ticks` are local messages by period in
    ms; `begin` is one that is heard whenever the service starts on a working set; `beside` runs along with the service
    and puts local messages into its inbox."""

    name: str
    consumers: tuple[Consumer[Hears], ...]
    decide: Callable[[Seen, Heard[Hears], int], Decision]
    view: Callable[[], Seen]
    act: Callable[[Call], Awaitable[Outcome]] | None = None
    single: bool = False
    ticks: tuple[tuple[Hears, int], ...] = ()
    begin: Hears | None = None
    beside: Callable[[LocalMessages], Coroutine[Any, Any, None]] | None = None
    most: int = 256


# The loop runs all of them: which view and messages belong together, each service says where it is made.
AnyService = Service[Any, Any]
