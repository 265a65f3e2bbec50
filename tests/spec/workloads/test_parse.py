"""Bytes that somebody sent: what is read, and what is refused before anything is made of it."""

import json
import string
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.wire.reasons import Code, Refused
from fairway.workloads.reading.parse import DEEPEST, LARGEST_TEXT, parse_documents, with_name
from tests.spec.workloads.builders import refusal


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("---\n# only a comment\n---\n", [], id="empty documents"),
        pytest.param("a: 1\n---\nb: two\n", [{"a": 1}, {"b": "two"}], id="several documents"),
        pytest.param("a: {b: [1, x]}", [{"a": {"b": [1, "x"]}}], id="flow style"),
        pytest.param('{"a":1}', [{"a": 1}], id="compact JSON"),
        pytest.param(b'\xef\xbb\xbf{ "a" : 1.5 }', [{"a": 1.5}], id="JSON with a byte order mark and spaces"),
        pytest.param("{a: 1}", [{"a": 1}], id="YAML that begins like JSON"),
        pytest.param(
            "a: '1'\nb: yes\nc: ~\nd: 0x10\ne: 010\nf: -1e3",
            [{"a": "1", "b": True, "c": None, "d": 16, "e": 8, "f": -1000.0}],
            id="scalars of YAML 1.1",
        ),
        pytest.param(
            "a: 2024-01-01\nb: 12:30:45\nc: 500m\nd: .nan",
            [{"a": "2024-01-01", "b": "12:30:45", "c": "500m", "d": ".nan"}],
            id="dates, times and quantities stay text",
        ),
        pytest.param("a: |\n  x\n  y\n", [{"a": "x\ny\n"}], id="block text"),
        pytest.param(
            '{"apiVersion":"v1","kind":"List","items":[{"a":1},{"b":2}]}', [{"a": 1}, {"b": 2}], id="a List is opened"
        ),
    ],
)
def test_read(text: str | bytes, want: list[object]) -> None:
    assert parse_documents(text) == want


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("a: &x 1\nb: *x", "line 1 sets the anchor &x", id="anchor"),
        pytest.param("a: *x", "line 1 uses the alias *x", id="alias"),
        pytest.param("a:\n  <<: {b: 1}", "line 2 uses a merge key", id="merge key"),
        pytest.param("a: !!python/name:os.system x", "line 1 uses the tag", id="tag"),
        pytest.param("a: 1\nb: 2\na: 3", "line 3 holds the key 'a' a second time", id="key twice"),
        pytest.param('{"a": {"b":1,"c":2,"b":3}}', "the key 'b' twice", id="key twice in JSON"),
        pytest.param('{"b":1,"b":1}', "the key 'b' twice", id="key twice in compact JSON"),
        pytest.param("a:\n  1: b", "line 2 has the key '1', which is not a string", id="number as key"),
        pytest.param("? [a]\n: b", "line 1 has a key that is not a string", id="list as key"),
        pytest.param("a: 1\n---\n- b", "holds a list", id="list as document"),
        pytest.param("hello", "holds 'hello'", id="text as document"),
        pytest.param("a: [1", "is not YAML", id="broken YAML"),
        pytest.param("a:\n\t- b", "line 2 is not YAML", id="tab"),
        pytest.param(b"a: 1\nb: \xff", "line 2 is not UTF-8", id="not UTF-8"),
        pytest.param("a: \x00", "control characters", id="control character"),
        pytest.param("[" * 200_000, "nested deeper", id="deep YAML"),
        pytest.param('{"a":' * 65 + "1" + "}" * 65, "nested deeper", id="deep JSON"),
        pytest.param('{"a":' * 9000 + "1" + "}" * 9000, "nested deeper", id="JSON too deep for its parser"),
        pytest.param('{"apiVersion":"v1","kind":"List","items":[1]}', "items are not objects", id="List of numbers"),
    ],
)
def test_refused(text: str | bytes, says: str) -> None:
    assert says in " ".join(refusal(lambda: parse_documents(text)).values())


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("a: &x 1\nb: *x", [{"a": 1, "b": 1}], id="a number"),
        pytest.param("a: &x {c: [1]}\nb: *x", [{"a": {"c": [1]}, "b": {"c": [1]}}], id="a mapping"),
        pytest.param("&x a: b\nc: *x", [{"a": "b", "c": "a"}], id="a key"),
        pytest.param(
            "a: &x {c: 1}\nb: &x {c: 2}\nd: *x", [{"a": {"c": 1}, "b": {"c": 2}, "d": {"c": 2}}], id="the last"
        ),
        pytest.param(
            "a: &x {c: 1, d: 1}\nb: {d: 2, <<: *x}", [{"a": {"c": 1, "d": 1}, "b": {"c": 1, "d": 2}}], id="a merge key"
        ),
        pytest.param(
            "a: &x {c: 1}\nb: &y {c: 2, d: 2}\ne: {<<: [*x, *y]}",
            [{"a": {"c": 1}, "b": {"c": 2, "d": 2}, "e": {"c": 1, "d": 2}}],
            id="of several that are merged the first counts",
        ),
        pytest.param("a: {'<<': 1}", [{"a": {"<<": 1}}], id="in quotes it is a key as others"),
    ],
)
def test_aliases_are_written_out_where_they_are_asked_for(text: str, want: list[object]) -> None:
    assert parse_documents(text, aliases=True) == want


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{one}: &{one} [{', '.join([f'*{before}'] * 10)}]\n" for before, one in pairwise("abcdefghi")
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("a: *x", "line 1 uses the alias *x which no anchor before it sets", id="no anchor"),
        pytest.param("a: &x 1\n---\nb: *x", "which no anchor before it sets", id="the anchor of another document"),
        pytest.param("a: &x\n  b: *x", "line 2 uses the alias *x inside of what it stands for", id="in itself"),
        pytest.param("a: &x 1\n*x : 1", "as a key", id="an alias as a key"),
        pytest.param(BOMB, "bytes with its aliases written out", id="a small text that would be large"),
        pytest.param(
            f"a: &x {'[' * 40}{']' * 40}\nb: {'[' * 30}*x{']' * 30}", "line 2 is nested deeper", id="deep by an alias"
        ),
        pytest.param("a: {<<: 1}", "line 1 merges 1, not a mapping", id="a merge of a number"),
        pytest.param("a: {<<: {b: 1}, <<: {c: 1}}", "a merge key a second time", id="two merge keys"),
        pytest.param("a: !!str 1", "uses the tag", id="a tag"),
    ],
)
def test_aliases_keep_to_the_bounds(text: str, says: str) -> None:
    assert says in " ".join(refusal(lambda: parse_documents(text, aliases=True)).values())


def test_what_an_alias_stands_for_is_a_copy() -> None:
    (found,) = parse_documents("a: &x {c: 1}\nb: *x", aliases=True)
    found["b"]["c"] = 2
    assert found["a"] == {"c": 1}


def test_more_than_a_mebibyte_is_too_large() -> None:
    assert parse_documents("a: " + "x" * (LARGEST_TEXT - 3))
    with pytest.raises(Refused) as caught:
        parse_documents("a: " + "x" * (LARGEST_TEXT - 2))
    assert [reason.code for reason in caught.value.reasons] == [Code.TOO_LARGE]


def test_the_deepest_level_is_still_read() -> None:
    deep = '{"a":' * DEEPEST + "1" + "}" * DEEPEST
    assert parse_documents(deep) == parse_documents("---\n" + deep)


words = st.text(string.printable, max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(words, values, max_size=5))
def test_what_was_written_as_json_is_read_back(document: dict[str, object]) -> None:
    assert parse_documents(json.dumps(document)) == [document]
    assert parse_documents(json.dumps(document, indent=1).encode()) == [document]


@given(st.binary(max_size=200) | st.text(max_size=200))
def test_any_input_is_read_or_refused(text: bytes | str) -> None:
    try:
        assert all(isinstance(one, dict) for one in parse_documents(text))
    except Refused as refused:
        assert refused.reasons


def test_a_generated_name_is_written_out_once() -> None:
    given_name = {"metadata": {"generateName": "sweep-", "labels": {"a": "b"}}}
    named = with_name(given_name, "x7k2p")
    assert named == {"metadata": {"name": "sweep-x7k2p", "labels": {"a": "b"}}}
    assert with_name(named, "other") is named
    assert len(with_name({"metadata": {"generateName": "a" * 90}}, "x7k2p")["metadata"]["name"]) == 63
