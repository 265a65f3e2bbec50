"""Whoever may publish on one subject may write any text there: nested so deeply that the stack of its reader ends, or
no text at all. Every reader of messages, letters and the record passes it over, or says so."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from fairway.adapters.nats.bundle import delivered
from fairway.adapters.nats.connection import Arrived
from fairway.adapters.nats.headers import PARTS
from fairway.domain.text.decoding import decoder
from fairway.domain.working_sets import WorkingSets
from fairway.explain.story import _read
from fairway.operate.dead_letters.show import _readable
from fairway.runtime.ports import Delivery, Outgoing
from fairway.runtime.record import dead_letter_retry
from fairway.runtime.record.dead_letters import asker
from fairway.runtime.record.folding import Folding
from fairway.runtime.record.kept_letters import kept_letter, message_in
from fairway.runtime.record.publishable import same
from fairway.runtime.record.senders import message_of
from fairway.runtime.record.working_sets import rebuild_of
from fairway.runtime.views.settings import complaint, setting
from fairway.wire import jobs as wire

DEEP = b'{"type":"submitted","job":"a","manifest":%b' % (b"[" * 200_000)
ODD = {"deep": DEEP, "deep and whole": DEEP + b"]" * 200_000 + b"}", "no text": b'{"type":"submitted","job":"\xff"}'}
SETS = WorkingSets()


def told(data: bytes) -> Delivery:
    return Delivery(id="x", subject="fairway.job.submitted.a", data=data, sequence=1)


def bundled(data: bytes) -> list[bytes]:
    headers = b"NATS/1.0" + PARTS + b"one two\r\n\r\n"
    return [one.data for one in delivered(Arrived(b"a", b"$JS.ACK.JOBS.c.1.1.1.1.0", headers, data))]


READERS: dict[str, tuple[Callable[[bytes], Any], Any]] = {
    "the job that a letter speaks of": (dead_letter_retry.job_of, ""),
    "whether a letter came too late": (lambda data: dead_letter_retry.check(data, 1, SETS), None),
    "the letter itself": (lambda data: kept_letter(1, data).letter.service, "?"),
    "who asked for what is buried": (lambda data: asker(told(data)), None),
    "the story": (lambda data: _read(told(data)), None),
    "a rebuild": (lambda data: rebuild_of(told(data)), None),
    "a setting": (lambda data: setting(told(data)), None),
    "a refused setting": (lambda data: complaint(told(data)), None),
    "an event of the door, a first word, the hub's narrator": (lambda data: message_of(told(data)), None),
    "whether it is what was said": (lambda data: same(Outgoing("a", "s", b"{}"), "s", data), False),
}


@pytest.mark.parametrize("data", ODD.values(), ids=list(ODD))
@pytest.mark.parametrize(("read", "want"), READERS.values(), ids=list(READERS))
def test_it_is_passed_over(read: Callable[[bytes], Any], want: Any, data: bytes) -> None:
    assert read(data) == want


@pytest.mark.parametrize("data", ODD.values(), ids=list(ODD))
def test_it_says_nothing_of_a_job_to_a_rebuild_and_is_one_message_to_a_bundle(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        Folding(SETS).read(data, 1, "fairway.job.submitted.a")
    assert bundled(data) == [data]


@pytest.mark.parametrize("data", ODD.values(), ids=list(ODD))
def test_an_operator_sees_its_bytes(data: bytes) -> None:
    assert list(message_in(data)) == ["data"]
    assert _readable(data)


@pytest.mark.parametrize("data", ODD.values(), ids=list(ODD))
def test_there_is_one_error_to_know(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decoder(wire.Message)(data)
