"""The rooms of the code, read from its files: what each is for, how large it is, and which others it imports.

A room is a package right below `fairway`; a folder below it is a part of the room. Nothing is imported to find out.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

SOURCES = ("proto", "libs", "services")
_SENTENCE = re.compile(r".*?[.?](?=\s|$)")


class Folder(Struct, frozen=True):
    """A package: its path in the checkout, and its docstring on one line."""

    path: str
    charter: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def purpose(self) -> str:
        """The first sentence, without the name that it may begin with."""
        words = self.charter.removeprefix(f"{self.name.replace('_', '-')}: ")
        found = _SENTENCE.match(words)
        return _begun(found.group() if found else words)

    @property
    def owns(self) -> str:
        found = re.search(rf"\bOwns:? ({_SENTENCE.pattern})", self.charter)
        return _begun(found.group(1)) if found else ""


def _begun(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


class CodeRoom(Struct, frozen=True):
    """`uses` are the rooms that it imports; `parts` its folders in order."""

    folder: Folder
    files: int
    lines: int
    uses: tuple[str, ...]
    parts: tuple[Folder, ...]

    @property
    def name(self) -> str:
        return self.folder.name


def rooms(root: Path) -> dict[str, CodeRoom]:
    found = (path for source in SOURCES for path in sorted((root / source / "fairway").iterdir()))
    made = [_room(root, path) for path in found if (path / "__init__.py").is_file()]
    return {room.name: room for room in made}


def _room(root: Path, path: Path) -> CodeRoom:
    files = sorted(path.rglob("*.py"))
    texts = [file.read_text("utf-8") for file in files]
    uses = {name for text in texts for name in _imported(ast.parse(text))} - {path.name}
    parts = [file.parent for file in files if file.name == "__init__.py" and file.parent != path]
    return CodeRoom(
        _folder(root, path),
        len(files),
        sum(len(text.splitlines()) for text in texts),
        tuple(sorted(uses)),
        tuple(_folder(root, part) for part in parts),
    )


def _folder(root: Path, path: Path) -> Folder:
    charter = ast.get_docstring(ast.parse((path / "__init__.py").read_text("utf-8"))) or ""
    return Folder(path.relative_to(root).as_posix(), " ".join(charter.split()))


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            named = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        else:
            continue
        yield from (name.split(".")[1] for name in named if name.startswith("fairway."))


def layers(root: Path) -> list[tuple[str, ...]]:
    """As pyproject.toml has them for import-linter, from the top. A room sees only rooms of layers below its own."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    (contract,) = project["tool"]["importlinter"]["contracts"]
    return [tuple(re.findall(r"\w+", line)) for line in contract["layers"]]
