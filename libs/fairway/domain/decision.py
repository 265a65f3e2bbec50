"""What a service decides: steps to commit and calls to make, as values that can be compared.

A step is all or nothing: its writes hold only if every guard holds at the moment of the commit, and its events are
kept beside them (the outbox) until they were published. A refused step means that nothing of it happened.
"""

from typing import Any, Generic, TypeVar

from msgspec import Raw, Struct

from fairway.wire.fleet import FleetMessage
from fairway.wire.jobs import JobMessage
from fairway.wire.spec import FoundRef

# Covariant: who needs only what the transport knows takes `Heard[object]`, and is given what was heard of any message.
Message = TypeVar("Message", covariant=True)

# Tables of the store. What is in `nodes/<cluster>`, `ledger/<cluster>` and `clusters` is followed by revision.
JOBS = "jobs"
PLACED = "placed"
LIVE = "live"
NAMES = "names"
CLIENTS = "clients"
QUOTA = "quota"
OWED = "owed"
CLUSTERS = "clusters"
FREED = "freed"
FREEZE = "freeze"
PENDING = "pending"
# Objects of the hub by uid, and their uids by the ids of their jobs (held_object.py).
HELD = "held"
HELD_JOBS = "held_jobs"


def nodes(cluster: str) -> str:
    return f"nodes/{cluster}"


def ledger(cluster: str) -> str:
    return f"ledger/{cluster}"


class Put(Struct, frozen=True, tag=True):
    """Store `value`, encoded as JSON (None: delete). `expect` guards: the revision that must be there, 0 for nothing,
    None for any."""

    table: str
    key: str
    value: Any  # of the table's own type; whoever reads the table knows it
    rev: int = 1
    expect: int | None = None


class Add(Struct, frozen=True, tag=True):
    """Add `amount` to a counter; refused when the result would be more than `most`."""

    table: str
    key: str
    amount: int
    most: int | None = None


Write = Put | Add


class Say(Struct, frozen=True):
    """A message to publish: `id` is derived from its cause, so that saying it twice is saying it once."""

    id: str
    subject: str
    message: JobMessage | FleetMessage


class FoundApart(Struct, frozen=True):
    """What a decision found, too large to go along with its event, which has `ref` instead. It is of the decision that
    brought the job to `rev`; `packed` is a `wire.spec.Found` in msgpack without its `clusters`. It is stored before the
    step is committed, and then it is known where: `ref` is filled in."""

    job: str
    rev: int
    clusters: tuple[str, ...]
    packed: Raw
    ref: FoundRef


class Step(Struct, frozen=True):
    writes: tuple[Write, ...] = ()
    events: tuple[Say, ...] = ()
    apart: tuple[FoundApart, ...] = ()


class Call(Struct, frozen=True):
    """Something to do outside: `verb` of the service's own port, with values. Its outcome is decided upon next. The
    bodies are between a service and its own port."""

    verb: str
    cluster: str
    job: str
    attempt: int
    body: Any = None


class Outcome(Struct, frozen=True):
    """What a call brought: `ok`, or the reason as the other side gave it. The call is named without its body, which no
    record keeps: what has to be known of it later, its own port says in the outcome's."""

    call: Call
    ok: bool
    code: str = ""
    text: str = ""
    body: Any = None


class Reminder(Struct, frozen=True):
    """A message of a service to itself, to be heard in so many milliseconds. It is not stored."""

    message: Any  # of the service's own type
    after: int = 0


class Decision(Struct, frozen=True):
    """Nothing to do is a decision too: `Decision()`. Calls stand alone: what follows is decided when they are made.

    `again_in` is after how many milliseconds the same message is to be handled once more. A message that is `kept` is
    acknowledged with the decision that says its id under `done`; until then the bus has it, whoever dies.
    """

    steps: tuple[Step, ...] = ()
    calls: tuple[Call, ...] = ()
    again_in: int | None = None
    reminders: tuple[Reminder, ...] = ()
    kept: bool = False
    done: tuple[str, ...] = ()


class Heard(Struct, Generic[Message], frozen=True):
    """A message with what the transport knows of it. `id` identifies it over redeliveries; `sequence` is its place
    in the stream (0: it did not come from one), `stored_at` when it got there, in milliseconds since 1970 (0: not
    known), `subject` where it was said; `delivered` counts deliveries from 1. `behind` it so many others were stored
    together with it, under the same sequence."""

    id: str
    message: Message
    sequence: int = 0
    delivered: int = 1
    outcomes: tuple[Outcome, ...] = ()
    size: int = 0
    stored_at: int = 0
    subject: str = ""
    behind: int = 0


NOTHING = Decision()


def job_of(heard: Heard[object]) -> str:
    """The id of the job that a message speaks of, or empty."""
    message = heard.message
    return message.job if isinstance(message, JobMessage) else ""


def job_spoken_of(step: Step) -> str:
    """The id of the job that a step's first event about one speaks of, or empty."""
    for one in step.events:
        if isinstance(one.message, JobMessage):
            return one.message.job
    return ""
