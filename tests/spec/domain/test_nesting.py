"""How deep a text of others is nested: told of any text, in time that grows with its length."""

from collections.abc import Callable
from time import process_time

import msgspec
import pytest

from fairway.domain.text.foreign_json import DEEPEST, below, deeper, readable
from fairway.workloads.reading.parse import too_deep

OPEN = b"{" * (DEEPEST + 1)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param(b"[[1],[[2]],3]", [b"[2]"], id="one part"),
        pytest.param(b"[[[1],2,[3]]]", [b"[1]", b"[3]"], id="parts beside each other"),
        pytest.param(b"[[[[[1]]]]]", [b"[[[1]]]"], id="what is deeper still belongs to it"),
        pytest.param(b"[[[1,", [b"[1,"], id="a part that does not end"),
        pytest.param(b'[["[[[]]]"]]', [], id="brackets in a string"),
        pytest.param(b'[["\\"[[[]]]\\\\"],[[]]]', [b"[]"], id="a string with quotes and a backslash in it"),
        pytest.param(b'[["[[[', [], id="a string that does not end"),
        pytest.param(b'[["[[[\\', [], id="a string that ends within an escape"),
        pytest.param(b'[["\n[[["]]', [], id="a string over lines"),
        pytest.param(b"]]]]", [], id="what closes alone"),
        pytest.param(b"", [], id="nothing"),
    ],
)
def test_each_part_below_two_levels_is_found(text: bytes, want: list[bytes]) -> None:
    assert [text[begin:end] for begin, end in below(text, 2)] == want
    assert deeper(text, 2) is bool(want)


@pytest.mark.parametrize("look", [readable, too_deep])
@pytest.mark.parametrize("more", [b'\\"', b"a", b'\\\\"\\'], ids=["quotes", "letters", "backslashes"])
def test_a_string_that_does_not_end_is_walked_once(look: Callable[[bytes], object], more: bytes) -> None:
    """Each quote in it was taken for the beginning of another one: 64 KiB took 6 s, and 8 MiB would have taken a day,
    in the one thread that all tenants share. The first size makes a failure short."""
    for size in (2**16, 2**23):
        text = OPEN + b'"' + more * (size // len(more))
        began = process_time()
        look(text)
        assert process_time() - began < (2 if size == 2**16 else 10)


def test_a_string_that_does_not_end_is_still_one_error() -> None:
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(readable(OPEN + b'"[[[\\'))
