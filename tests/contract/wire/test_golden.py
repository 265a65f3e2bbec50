"""The bytes on the wire stay what they are: what was written once is read for ever."""

import json
import re
from typing import Any, get_args

import msgspec
import pytest

from fairway.lab.documents.schemas import messages
from fairway.wire import fleet, inbound, jobs
from fairway.wire.preemption import evictions
from tests.contract.wire.examples import EXAMPLES, GOLDEN, bytes_of

MESSAGES = messages()
STORED = [name for name in MESSAGES if not name.startswith("queue_")]
AGAIN = "python -m tests.contract.wire.examples"


def read(name: str) -> bytes:
    return (GOLDEN / f"{name}.json").read_bytes()


def decoded(name: str, data: bytes) -> Any:
    """As its readers decode it: a message of a stream by its `type`, a question or answer by its subject."""
    cls = MESSAGES[name]
    union = next(
        (
            union
            for union in (jobs.Message, fleet.Message, inbound.Message, evictions.Message)
            if cls in get_args(union)
        ),
        cls,
    )
    return msgspec.json.decode(data, type=union)


def test_every_message_has_golden_bytes_and_no_others_lie_there() -> None:
    assert sorted(path.stem for path in GOLDEN.iterdir()) == sorted(MESSAGES) == sorted(EXAMPLES)


@pytest.mark.parametrize("name", MESSAGES)
def test_golden_bytes_are_read_and_written_back_unchanged(name: str) -> None:
    assert bytes_of(decoded(name, read(name))) == read(name)


@pytest.mark.parametrize("name", MESSAGES)
def test_what_was_written_is_what_is_written_now(name: str) -> None:
    assert bytes_of(EXAMPLES[name]) == read(name), f"the wire has changed; if it may, write it anew: {AGAIN}"


@pytest.mark.parametrize("name", MESSAGES)
def test_an_example_sets_every_field(name: str) -> None:
    """Else a field could be renamed and no golden bytes would show it."""
    fields = {field.encode_name for field in msgspec.structs.fields(MESSAGES[name])}
    assert fields <= set(json.loads(read(name)))


@pytest.mark.parametrize("name", MESSAGES)
def test_a_field_of_a_later_version_is_passed_over(name: str) -> None:
    later = {**json.loads(read(name)), "of_a_later_version": [1]}
    assert decoded(name, json.dumps(later).encode()) == decoded(name, json.dumps(json.loads(read(name))).encode())


@pytest.mark.parametrize("name", [name for name in MESSAGES if b'"code":"' in read(name)])
def test_a_reason_of_a_later_version_is_read_with_its_sentence(name: str) -> None:
    later = re.sub(rb'"code":"[A-Za-z]+"', b'"code":"OfALaterVersion"', read(name))
    assert bytes_of(decoded(name, later)) == later.replace(b"OfALaterVersion", b"Unknown")


@pytest.mark.parametrize("name", STORED)
def test_an_unknown_type_does_not_decode(name: str) -> None:
    """The loop sends what does not decode to the dead letters."""
    unknown = json.dumps({**json.loads(read(name)), "type": "unheard_of"}).encode()
    with pytest.raises(msgspec.DecodeError, match="unheard_of"):
        decoded(name, unknown)
