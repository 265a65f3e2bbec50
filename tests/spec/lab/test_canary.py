"""A canary is found in whatever it was put into, and no other one is."""

import zlib
from base64 import b64encode

import msgspec
import pytest

from fairway.lab.canary import Canary
from fairway.wire import views

CANARY = Canary("canary-of-this-test")


@pytest.mark.parametrize("before", [b"", b"x", b"xy"], ids=["alone", "after one byte", "after two"])
def test_it_is_found_however_it_is_wrapped(before: bytes) -> None:
    plain = before + CANARY.text.encode() + b"z"
    coded = b64encode(plain)
    twice = b64encode(before + CANARY.data.encode() + b"z")
    for data in (plain, coded, twice):
        for found in (data, b"head" + zlib.compress(data), b"\x78\x9c no data" + zlib.compress(data)):
            assert CANARY.is_in(found)
            assert not Canary("canary-of-another").is_in(found)


def test_it_is_found_in_what_a_stage_saw() -> None:
    row = views.ViewRow("nodes/a", "n", 1, CANARY.text.encode())
    assert CANARY.is_in(views.encode(views.Piece("i", 1, 0, 0, views.packed([row]))))


def test_it_is_found_in_bytes_of_a_message() -> None:
    assert CANARY.is_in(msgspec.json.encode({"body": msgspec.json.encode({"data": {"password": CANARY.data}})}))
