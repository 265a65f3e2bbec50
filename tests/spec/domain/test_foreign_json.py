"""JSON that somebody else wrote: no nesting of it stops whoever reads it."""

from typing import Any

import msgspec
import pytest

from fairway.domain.text.decoding import decoded
from fairway.domain.text.foreign_json import CUT, DEEPEST, readable


def nested(levels: int, opened: str = '{"a":', closed: str = "}") -> bytes:
    return (opened * levels + "1" + closed * levels).encode()


def depth(value: Any) -> int:
    found = 0
    while isinstance(value, dict | list):
        found = found + 1
        value = next(iter(value.values() if isinstance(value, dict) else value))
    return found


@pytest.mark.parametrize("levels", [1, DEEPEST, DEEPEST + 1, 960, 1_500, 200_000])
@pytest.mark.parametrize(("opened", "closed"), [('{"a":', "}"), ("[", "]"), ('[{"a":', "}]")])
def test_what_is_nested_deeper_is_cut_off(levels: int, opened: str, closed: str) -> None:
    found = decoded(msgspec.json.decode, readable(nested(levels, opened, closed)))
    assert depth(found) == min(levels * len(closed), DEEPEST)


def test_what_stands_beside_it_is_kept() -> None:
    deep = nested(3_000)
    text = b'{"before":{"b":[1]},"x":' + deep + b',"y":[' + deep + b',2],"metadata":{"name":"n","brackets":"}]\\"}"}}'
    found = decoded(msgspec.json.decode, readable(text))
    assert found["before"] == {"b": [1]} and found["metadata"] == {"name": "n", "brackets": '}]"}'}
    assert found["y"][1] == 2 and CUT.encode() in msgspec.json.encode(found["x"])


@pytest.mark.parametrize("text", [b"{}", nested(DEEPEST), b'["' + b"[" * 5_000 + b'"]', b"[[],[]]" + b" " * 9])
def test_what_is_not_nested_so_deeply_is_left_as_it_is(text: bytes) -> None:
    assert readable(text) == text


@pytest.mark.parametrize(
    "text", [nested(1_500), b'{"a": "\xff"}', b'{"a"', b"[" * 5_000, b"]" * 5_000, b'"' * 5_001, b"}{" * 2_000]
)
def test_whatever_is_wrong_is_one_error(text: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decoded(msgspec.json.decode, text)
    if text != nested(1_500):
        with pytest.raises(msgspec.DecodeError):
            decoded(msgspec.json.decode, readable(text))
