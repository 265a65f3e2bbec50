"""The files of the checkout, as the tidy tests read them: what a fresh clone would hold, without asking git."""

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = ("libs", "services", "proto")


@dataclass(frozen=True)
class Source:
    """A file: `path` relative to the checkout with forward slashes, and its text."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node


def paths() -> list[Path]:
    """Every file that .gitignore does not exclude, in a stable order."""
    ignored = [*(ROOT / ".gitignore").read_text().split(), ".git"]
    found = []
    for folder, names, files in os.walk(ROOT):
        names[:] = sorted(n for n in names if not _is_ignored(n, ignored))
        found += [Path(folder, f) for f in sorted(files) if not _is_ignored(f, ignored)]
    return found


@cache
def sources(*suffixes: str) -> list[Source]:
    """The text files with one of these suffixes; without suffixes, every file that is text."""
    found = []
    for path in paths():
        if suffixes and path.suffix not in suffixes:
            continue
        try:
            found.append(Source(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")))
        except UnicodeDecodeError:
            continue
    return found


def packages() -> list[Path]:
    """Every folder of code under the three roots, relative to the checkout, `fairway` folders included."""
    homes = {path.parent for path in paths() if path.suffix == ".py"}
    code = [h for h in homes if h.relative_to(ROOT).parts[:1] and h.relative_to(ROOT).parts[0] in CODE]
    return sorted(h.relative_to(ROOT) for h in code)


def _is_ignored(name: str, patterns: list[str]) -> bool:
    return any(fnmatch(name, pattern.strip("/")) for pattern in patterns)
