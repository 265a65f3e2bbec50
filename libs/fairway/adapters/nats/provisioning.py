"""The streams, and the durable consumers of the flow's table: made by `fairway setup`, and looked at by all others, who
may also ask how far a consumer has come."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
import nats.errors
import structlog
from msgspec import Struct
from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig, DeliverPolicy, StreamConfig
from nats.js.errors import APIError, NotFoundError

from fairway.runtime.ports import ANSWER_S, Unreachable
from fairway.wire.flow import CONSUMERS, consumer
from fairway.wire.subjects import Stream

log = structlog.get_logger()
# What is put off counts as not answered, and when so many are, a consumer gives nothing more to anybody. It costs the
# server some hundred bytes for each; what is in hand is bounded by how much is asked for.
_MOST_UNANSWERED = 1_000_000
# The bytes of a stream are more than the server has left to promise.
NO_ROOM = 10047
_OTHERWISE = 10058
_ASK_S = 5.0
# A message that waits for less is not late.
_YOUNG_MS = 5_000
_SETUP = "run `fairway setup` of this version against this NATS"


async def make_stream(js: JetStreamContext, stream: Stream, replicas: int) -> None:
    """Creates or updates it and its consumers; with less room where the server has no more."""
    try:
        await _stream(js, stream, replicas)
    except APIError as error:
        if error.err_code != NO_ROOM or not stream.least:
            raise
        log.warning("a stream has less room than it should", stream=stream.name, bytes=stream.least)
        await _stream(js, msgspec.structs.replace(stream, max_bytes=stream.least), replicas)
    for of, durable, subjects in (consumer(one.name) for one in CONSUMERS):
        if of == stream.name:
            await js.add_consumer(of, durable_consumer(durable, subjects))


async def _stream(js: JetStreamContext, stream: Stream, replicas: int) -> None:
    config = StreamConfig(
        name=stream.name,
        subjects=list(stream.subjects),
        max_age=stream.max_age or None,
        allow_direct=True,
        max_msgs_per_subject=stream.per_subject or -1,
        duplicate_window=stream.duplicate_window,
        num_replicas=replicas,
        max_bytes=stream.max_bytes or None,
    )
    try:
        await js.add_stream(config)
    except APIError as error:
        if error.err_code != _OTHERWISE:
            raise
        await js.update_stream(config)


def durable_consumer(name: str, subjects: Sequence[str], wait_s: float = ANSWER_S) -> ConsumerConfig:
    """What is not answered within `wait_s` seconds is given again."""
    return ConsumerConfig(
        durable_name=name,
        filter_subjects=list(subjects),
        ack_wait=wait_s,
        max_ack_pending=_MOST_UNANSWERED,
        deliver_policy=DeliverPolicy.ALL,
        max_deliver=-1,
    )


async def check(js: JetStreamContext, stream: str, durable: str, subjects: Sequence[str]) -> None:
    """Unreachable when there is no such consumer, or one that hears something else: that of another version."""
    try:
        found = (await js.consumer_info(stream, durable)).config
    except NotFoundError:
        raise Unreachable(f"stream {stream} has no consumer {durable}; {_SETUP}") from None
    except (nats.errors.Error, TimeoutError) as error:
        raise Unreachable(f"the bus does not tell of consumer {durable} of {stream}: {error}") from error
    heard = set(found.filter_subjects or filter(None, [found.filter_subject]))
    if heard != set(subjects):
        other = ", ".join(sorted(heard ^ set(subjects)))
        raise Unreachable(f"consumer {durable} of {stream} is of another version, which differs in {other}; {_SETUP}")


async def missing(js: JetStreamContext, streams: Sequence[Stream]) -> list[str]:
    """The names of those that nobody has made."""
    found = []
    for one in streams:
        try:
            await js.find_stream_name_by_subject(one.subjects[0])
        except NotFoundError:
            found.append(one.name)
    return found


class ConsumerProgress(Struct, frozen=True):
    """Messages that nobody was given yet, those in work or put off, and when the oldest of both was stored, in
    milliseconds since 1970 (0: there is none)."""

    pending: int
    unacked: int
    oldest_at: int = 0


class _Place(Struct):
    stream_seq: int = 0


class _Info(Struct):
    num_pending: int = 0
    num_ack_pending: int = 0
    ack_floor: _Place = msgspec.field(default_factory=_Place)


class _Timed(Struct):
    time: datetime


class _Stored(Struct):
    """Whatever else stands in it is anybody's, and not looked at."""

    message: _Timed | None = None


async def progress(client: Client, at: tuple[str, str], subjects: Sequence[str], now: int) -> ConsumerProgress:
    """Of the consumer `at` stream and name. Raises Unreachable when the bus does not tell."""
    stream, durable = at
    info = await _told(client, f"$JS.API.CONSUMER.INFO.{stream}.{durable}", {}, _Info)
    if not info.num_pending and not info.num_ack_pending:
        return ConsumerProgress(0, 0)
    get = f"$JS.API.STREAM.MSG.GET.{stream}"
    first = info.ack_floor.stream_seq + 1
    found = _stored_at(await _told(client, get, {"seq": first}, _Stored))
    # The very next message of the stream is no younger than the oldest: where it is young that is not looked for, as
    # every subject costs a message.
    if not found or now - found > _YOUNG_MS:
        asked = [{"seq": first, "next_by_subj": subject} for subject in subjects]
        times = [_stored_at(await _told(client, get, one, _Stored)) for one in asked]
        found = min(filter(None, times), default=0)
    return ConsumerProgress(info.num_pending, info.num_ack_pending, found)


def _stored_at(stored: _Stored) -> int:
    """0: there is none."""
    return round(stored.message.time.timestamp() * 1000) if stored.message is not None else 0


async def _told(client: Client, subject: str, asked: dict[str, Any], answer: type[Any]) -> Any:
    try:
        said = await client.request(subject, msgspec.json.encode(asked) if asked else b"", timeout=_ASK_S)
        return msgspec.json.decode(said.data, type=answer)
    except (nats.errors.Error, TimeoutError, msgspec.DecodeError) as error:
        raise Unreachable(f"the bus does not answer {subject}: {error}") from error
