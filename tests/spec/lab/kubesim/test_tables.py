"""kubesim: printer columns by JSONPath, values in the form of their column, and times as kubectl shows them."""

from typing import Any

import pytest

from fairway.lab.kubesim.api.registry import Column, of_crd
from fairway.lab.kubesim.tables.human_time import moment, span
from fairway.lab.kubesim.tables.json_path import compiled, found
from fairway.workloads.crds import definitions

S = 1_000
OBJ: dict[str, Any] = {
    "spec": {
        "names": ["a", "b", "c"],
        "parts": [{"name": "p", "size": 1}, {"name": "q", "size": 9}, {}],
        "note's": 1,
        "map": {"y": 2, "x": 1},
    },
    "metadata": {"annotations": {"example.org/note": "in words"}},
    "status": {"conditions": [{"type": "Other", "status": "x"}, {"type": "Ready", "status": "True"}]},
}

PATHS = [
    (".spec.names", [["a", "b", "c"]]),
    (".spec.names[0]", ["a"]),
    (".spec.names[-1]", ["c"]),
    (".spec.names[-1:]", ["c"]),
    (".spec.names[0:2]", ["a", "b"]),
    (".spec.names[::2]", ["a", "c"]),
    (".spec.names[0,2]", ["a", "c"]),
    (".spec.names[7]", []),
    (".spec.names[*]", ["a", "b", "c"]),
    (".spec.parts[*].name", ["p", "q"]),
    (".spec.map.*", [1, 2]),
    (".spec['map'].x", [1]),
    ('.spec["names"][1]', ["b"]),
    (r".metadata.annotations.example\.org/note", ["in words"]),
    (".metadata.annotations['example.org/note']", ["in words"]),
    ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
    ("[?(@.type=='Ready')]", []),
    (".spec.parts[?(@.size>3)].name", ["q"]),
    (".spec.parts[?(@.size!=9)].name", ["p"]),
    (".spec.parts[?(@.name)].name", ["p", "q"]),
    (".spec.nothing.here", []),
    (".spec.names.a", []),
    ("", [OBJ]),
]


@pytest.mark.parametrize(("path", "want"), PATHS, ids=[path or "nothing" for path, _ in PATHS])
def test_a_path_finds(path: str, want: list[Any]) -> None:
    steps = compiled(path)
    assert steps is not None
    assert found(OBJ, steps) == want


@pytest.mark.parametrize("path", ["spec", ".spec[", ".spec[x]", ".spec[?(x)]", ".spec..", ".a[?(@.b ~ 1)]"])
def test_a_path_that_is_none_is_not_understood(path: str) -> None:
    assert compiled(path) is None


@pytest.mark.parametrize(
    ("seconds", "want"),
    [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (192, "3m12s"),
        (600, "10m"),
        (659, "10m"),
        (3 * 3600, "3h"),
        (7 * 3600 + 1800, "7h30m"),
        (8 * 3600 + 1800, "8h"),
        (48 * 3600, "2d"),
        (50 * 3600, "2d2h"),
        (8 * 86400 + 3600, "8d"),
        (2 * 365 * 86400, "2y"),
        (2 * 365 * 86400 + 17 * 86400, "2y17d"),
        (8 * 365 * 86400 + 17 * 86400, "8y"),
    ],
)
def test_a_span_in_the_words_of_kubectl(seconds: int, want: str) -> None:
    assert span(seconds * S) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("2023-11-14T22:13:20Z", 1_700_000_000_000),
        ("2023-11-15T00:13:20+02:00", 1_700_000_000_000),
        ("2023-11-14", None),
        ("2023-11-14T22:13:20", None),
        ("soon", None),
        (7, None),
    ],
)
def test_a_moment_is_read_with_its_zone_or_not_at_all(text: object, want: int | None) -> None:
    assert moment(text) == want


def test_every_column_of_our_own_definitions_is_understood() -> None:
    columns = [column for crd in definitions().values() for kind in of_crd(crd) for column in kind.columns]
    assert len(columns) > 20
    assert [column.path for column in columns if compiled(column.path) is None] == []
    assert Column("Reason", '.status.conditions[?(@.type=="Ready")].message', priority=1).path in {
        column.path for column in columns
    }
