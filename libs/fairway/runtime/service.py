"""A service as a value: what it hears, what it looks at, how it decides, what it may do outside."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct, field

from fairway.domain.decision import Call, Decision, Heard, Message, Outcome, Step
from fairway.runtime.metrics.accumulators import Sample
from fairway.runtime.ownership import Ownership
from fairway.runtime.ports import ReadRows, Wanted

Said = TypeVar("Said", contravariant=True)


class Remembered(Struct, frozen=True):
    """A part of a memory, by reference: it is encoded when there is time. `recall` takes it back as JSON."""

    table: str
    key: str
    value: Any  # of the table's own type; whoever remembers the table knows it
    rev: int = 0


class Memory(Protocol[Said]):
    """What `decide` sees, and what is remembered from one batch to the next. It changes only by what it is given here,
    and by the settings that it was made with: the same in the same order makes the same memory. Of `settings` it reads
    these kinds."""

    settings: tuple[str, ...]

    def begin(self) -> None:
        """Another working set, or a new start: forget what was known of the last one."""

    def first(self, found: ReadRows | None) -> Wanted | None:
        """What must be known from the beginning, piece by piece: the next read after this one; None: that was all."""

    def wants(self, heard: Sequence[Heard[Said]], now: int) -> Wanted:
        """What to read from the store before deciding on these messages. What it notes counts until the next time."""

    def take(self, found: ReadRows, heard: Sequence[Heard[Said]], now: int) -> None: ...
    def apply(self, step: Step) -> None:
        """A step was decided: the next message of the batch sees it done."""

    def make_up(self, heard: Heard[Said], decided: Decision, now: int) -> Decision:
        """The decision, with what the store lacks of what the message says."""

    def refused(self, step: Step) -> None:
        """The store did not take it: whatever it touched has to be read again."""

    @staticmethod
    def told(message: Any) -> Any:
        """A message that is not in the record, as it is recorded: with all of it that is ever read here."""

    @staticmethod
    def told_row(table: str, data: bytes) -> bytes:
        """A row that was read, likewise."""

    def remembered(self) -> Iterable[Remembered]:
        """All that is known now, and that no read or message to come would tell again."""

    def recall(self, table: str, key: str, rev: int, data: bytes) -> None:
        """A part of what another one `remembered`, in its order, after `begin`."""


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


Seen = TypeVar("Seen", bound=Memory[Any])
Hears = TypeVar("Hears")


class Recording(Protocol):
    """Is told what a memory is given and what comes of it, and stores that beside the service."""

    def begun(self, born: int) -> None:
        """The memory was made anew, of this working set."""

    def asked(self, memory: Memory[Any], heard: Sequence[Heard[Any]], now: int) -> None: ...
    def took(self, memory: Memory[Any], found: ReadRows, now: int) -> None: ...
    def decided(self, heard: Heard[Any], made: Decision, now: int) -> None: ...
    def refused(self, step: Step) -> None: ...
    def settled(self) -> None:
        """No more comes of what was decided last."""

    def torn(self) -> None:
        """The memory has taken only a part of what it was given."""

    async def run(self, inbox: LocalMessages) -> None: ...


class Service(Struct, Generic[Seen, Hears], frozen=True):
    """Decides with memories of one type on messages of one type, most often a union: what its `consumers` hear and what
    it tells itself. `single` services own ordered state and run behind a lease: in `ownership` is how long that lasts.
    `ticks` are local messages by period in ms, or make them; `begin` is one that is heard whenever the service starts
    on a working set; `beside` runs along with the service and puts local messages into its inbox; `recording` is told
    everything, and `shown` sees the memory whenever it has taken something: what it counts or logs is no part of a
    decision. `gauges` are what is told of the memory at a scrape (metrics.families), now; only by one process of
    those that run the service."""

    name: str
    consumers: tuple[Consumer[Hears], ...]
    decide: Callable[[Seen, Heard[Hears], int], Decision]
    memory: Callable[[], Seen]
    act: Callable[[Call], Awaitable[Outcome]] | None = None
    single: bool = False
    ownership: Ownership = field(default_factory=Ownership)
    ticks: tuple[tuple[Hears | Callable[[], Hears], int], ...] = ()
    begin: Hears | None = None
    beside: Callable[[LocalMessages], Coroutine[Any, Any, None]] | None = None
    most: int = 256
    recording: Recording | None = None
    shown: Callable[[Seen], None] | None = None
    gauges: Callable[[Seen, int], Iterable[Sample]] | None = None


# The loop runs all of them: which memory and messages belong together, each service says where it is made.
AnyService = Service[Any, Any]
