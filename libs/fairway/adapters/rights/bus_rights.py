"""What each credential of the bus may publish and hear: made from the table of the flow (flow.py), for NATS and for its
twin in memory. Subjects are patterns, with `*` for one token and `>` for the rest.

A service says its own messages, reads what is to be heard by it, and nothing else. It makes and changes no stream and
no durable consumer: `SETUP` makes them. `OPERATOR` deletes dead letters and `KEEPER` messages of the record, and nobody
else deletes anything; a server cannot be told which messages.
"""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from fairway.wire import subjects
from fairway.wire.flow import CONSUMERS, FLOW, consumer
from fairway.wire.subjects import AGENT, GATEWAY, HUB, KEEPER, LOOPS, OPERATOR, FlowRow

SETUP = "setup"
SERVICES = (*LOOPS, GATEWAY, AGENT, KEEPER)
CREDENTIALS = (*SERVICES, SETUP, OPERATOR)
_API = "$JS.API"
_VARIES = re.compile(r"\{\w+\}")
# Whoever reads the record from its beginning, or follows it: a rebuild, and what the door tells of jobs and letters.
_HISTORY: Mapping[str, tuple[str, ...]] = {
    subjects.JOBS: (*LOOPS, GATEWAY, KEEPER),
    subjects.CONFIG: (*LOOPS, GATEWAY, AGENT),
    subjects.DLQ: (GATEWAY,),
}
# Whoever reads a manifest by its place in the record.
_MANIFESTS = ("admission", "propagator", "watcher", HUB, GATEWAY, KEEPER)
# Whoever calls members over the bus.
_WITH_MEMBERS = ("propagator", "watcher", AGENT)
# Of settings an agent says what its cluster is, and no more.
_KINDS_OF_AGENTS = ("Cluster", "Member")


class BusRights(Struct, frozen=True):
    """`publish` but for `never`; `subscribe` below its own inbox besides. `answers`: to where it is asked, once."""

    publish: tuple[str, ...]
    never: tuple[str, ...]
    subscribe: tuple[str, ...]
    answers: bool = False


def inbox(credential: str) -> str:
    """Below it come the answers to that credential alone."""
    return f"_INBOX_{credential}"


def rights(*credentials: str, user: str = "") -> BusRights:
    """Of one credential; of several, what a process needs that does the work of all of them. `user` is who it comes as,
    if that is no credential's name."""
    own = {one.name for one in CONSUMERS if one.service in credentials}
    publish = [subject for one in credentials for subject in (*_says(one), *_asks(one))]
    others = [consumer(one.name) for one in CONSUMERS if one.name not in own]
    return BusRights(
        publish=_sorted(publish),
        never=_sorted(next_of(stream, name) for stream, name, _ in others),
        subscribe=_sorted(
            (f"{inbox(user or credentials[0])}.>", *(subject for one in credentials for subject in _hears(one)))
        ),
        answers="queue" in credentials,
    )


def _sorted(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(found)))


def _says(credential: str) -> list[str]:
    """Its own messages."""
    own = [subject for row in FLOW if credential in row.says for subject in _said(row, credential)]
    if credential == OPERATOR:  # a dead letter is said again, whosever it is
        own += [stream.subjects[0] for stream in subjects.STREAMS if stream.name in (subjects.JOBS, subjects.DLQ)]
    return own


def _said(row: FlowRow, credential: str) -> tuple[str, ...]:
    if row.name == "queue_place":
        return ()  # an answer: it goes where it was asked for
    masks = [_VARIES.sub("*", row.subject.replace("{service}", name)) for name in _loops(credential)]
    if row.name == "configured" and credential == AGENT:
        return tuple(mask.replace("*", kind, 1) for mask in masks for kind in _KINDS_OF_AGENTS)
    return tuple(masks)


def _loops(credential: str) -> tuple[str, ...]:
    """A service may have a loop of its own for a consumer, which then speaks under its name."""
    return (credential, *(one.name for one in CONSUMERS if one.service == credential))


def _asks(credential: str) -> list[str]:
    """Of JetStream, and of members."""
    if credential == SETUP:
        made = [f"{_API}.STREAM.{verb}.*" for verb in ("CREATE", "UPDATE", "INFO")]
        return [*made, f"{_API}.STREAM.NAMES", f"{_API}.CONSUMER.DURABLE.CREATE.*.*", f"{_API}.CONSUMER.INFO.*.*"]
    if credential == OPERATOR:
        every = [one.name for one in subjects.STREAMS]
        read = [subject for stream in every for subject in (*_reads(stream), *_looks(stream))]
        return [*read, *(by_number(one) for one in every), deletion(subjects.DLQ)]
    found = [f"{_API}.STREAM.NAMES", "$SYS.REQ.USER.INFO"]
    for one in CONSUMERS:
        if one.service == credential:
            stream, name, _ = consumer(one.name)
            found += [next_of(stream, name), info_of(stream, name), *_answers(stream, name)]
    for stream, readers in _HISTORY.items():
        found += _reads(stream) if credential in readers else ()
    says = {row.stream for row in FLOW if credential in row.says and row.stream}
    hears = {consumer(one.name)[0] for one in CONSUMERS if one.service == credential}
    for stream in says | hears:  # what has its id already is read back; how old what it has not heard is, is told
        found.append(f"{_API}.STREAM.MSG.GET.{stream}")
    return [*found, *_own(credential)]


def _own(credential: str) -> list[str]:
    """What some ask beside what the flow gives them."""
    found = [by_number(subjects.JOBS)] if credential in _MANIFESTS else []
    if credential == GATEWAY:
        found += [f"{_API}.STREAM.INFO.{subjects.DLQ}", by_number(subjects.DLQ), by_number(subjects.FOUND)]
    if credential == KEEPER:  # what admission has handled, and nobody answers, is of no job
        found += [deletion(subjects.JOBS), info_of(*consumer("admission")[:2])]
    if credential in _WITH_MEMBERS:
        found += ["fairway.member.*.ask", "fairway.member.*.at.*"]
    return found


def next_of(stream: str, name: str) -> str:
    """To ask for what a consumer has next; the name of one that passes is anything."""
    return f"{_API}.CONSUMER.MSG.NEXT.{stream}.{name}"


def info_of(stream: str, name: str) -> str:
    """To ask how far a consumer has come."""
    return f"{_API}.CONSUMER.INFO.{stream}.{name}"


def deletion(stream: str) -> str:
    """To delete one message, whichever."""
    return f"{_API}.STREAM.MSG.DELETE.{stream}"


def _answers(stream: str, name: str) -> tuple[str, str]:
    """Acknowledgements, in the form of NATS and in that with a domain and an account."""
    return f"$JS.ACK.{stream}.{name}.>", f"$JS.ACK.*.*.{stream}.{name}.>"


def passing(stream: str) -> str:
    """To make a consumer without a name, which passes. What it filters on cannot be bounded."""
    return f"{_API}.CONSUMER.CREATE.{stream}"


def by_number(stream: str) -> str:
    """To read one message by its place in the stream."""
    return f"{_API}.DIRECT.GET.{stream}"


def credential_of(loop: str) -> str:
    """Whose a loop is: a service may have one of its own for a consumer."""
    return next((one.service for one in CONSUMERS if one.name == loop), loop)


def _reads(stream: str) -> tuple[str, str]:
    return passing(stream), next_of(stream, "*")


def _looks(stream: str) -> tuple[str, ...]:
    return f"{_API}.STREAM.INFO.{stream}", f"{_API}.STREAM.MSG.GET.{stream}"


def _hears(credential: str) -> list[str]:
    asked = [row for row in FLOW if credential in row.follows and not row.stream and row.name != "queue_place"]
    found = [_VARIES.sub("*", row.subject) for row in asked]
    return [*found, *(["fairway.member.*.reply.>"] if credential in _WITH_MEMBERS else [])]


def may_publish(of: BusRights, subject: str) -> bool:
    """Whether a server takes it from who has these rights."""
    return _any(of.publish, subject) and not _any(of.never, subject)


def may_hear(of: BusRights, subject: str) -> bool:
    return _any(of.subscribe, subject)


def _any(patterns: Iterable[str], subject: str) -> bool:
    return any(subjects.matches(pattern, subject) for pattern in patterns)
