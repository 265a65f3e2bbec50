"""Rooms are small, and everything in them is found by its name."""

import ast
from collections import defaultdict
from pathlib import Path

from tests.tidy.source import CODE, ROOT, paths, sources

FILES = 15


def _python() -> list[Path]:
    return [path.relative_to(ROOT) for path in paths() if path.suffix == ".py"]


def test_no_folder_has_more_files_than_a_reader_takes_in_at_once() -> None:
    folders: dict[Path, int] = defaultdict(int)
    for path in _python():
        folders[path.parent] += 1
    assert {str(folder): count for folder, count in folders.items() if count > FILES} == {}


def test_no_two_files_of_a_folder_differ_by_a_suffix_only() -> None:
    """`recorder.py` and `recorder_backlog.py` are one drawer; a room of their own, or a name of its own, is found."""
    names: dict[Path, set[str]] = defaultdict(set)
    for path in _python():
        if path.parts[0] in CODE:
            names[path.parent].add(path.stem)
    cousins = [
        f"{folder}/{one}.py and {other}.py"
        for folder, stems in names.items()
        for one in stems
        for other in stems
        if other.startswith(f"{one}_")
    ]
    assert sorted(cousins) == []


def test_a_public_class_name_means_one_thing() -> None:
    """`View` is what a service decides on: each has one."""
    homes: dict[str, list[str]] = defaultdict(list)
    for source in sources(".py"):
        if source.path.split("/")[0] in CODE:
            for node in source.tree.body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes[node.name].append(source.path)
    assert {name: files for name, files in homes.items() if len(files) > 1 and name != "View"} == {}
