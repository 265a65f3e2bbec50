"""Files that a person names, as documents: where each came from, and what it is to Fairway."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from fairway.wire.reasons import Code, Reason, Refused
from fairway.workloads.companions.apart import apart
from fairway.workloads.hub.objects import SETTINGS, WIDE
from fairway.workloads.kinds.registry import referred_kinds
from fairway.workloads.reading.parse import parse_documents
from fairway.workloads.references import is_wide
from fairway.workloads.settings import volcano_queues
from fairway.workloads.settings.policies import is_policy

POLICY = "policy"
SETTING = "setting"
JOB = "job"
TEMPLATE = "template"
_SUFFIXES = (".yaml", ".yml", ".json")
_STDIN = "standard input"


class Document(Struct, frozen=True):
    """One object of one file. `reasons`: it is not sent. `copied`: nor is it by itself, but in another one. `unused`:
    it is a part of jobs, and of none in these files. Without a manifest the file could not be read at all."""

    source: str
    manifest: dict[str, Any] = {}
    reasons: tuple[Reason, ...] = ()
    copied: bool = False
    unused: bool = False

    @property
    def role(self) -> str:
        """What neither sets up the hub nor is copied into jobs has to be a job."""
        if self.copied or self.key in referred_kinds():
            return TEMPLATE
        return POLICY if is_policy(self.manifest) else SETTING if self.key in SETTINGS else JOB

    @property
    def key(self) -> str:
        """Of its kind, as the hub's settings have it."""
        return f"{self.manifest.get('kind')}.{self.manifest.get('apiVersion')}"

    @property
    def kind(self) -> str:
        return str(self.manifest.get("kind") or "")[:80]

    @property
    def namespace(self) -> str:
        """Empty for what stands above namespaces."""
        wide = self.kind in WIDE or self.key == volcano_queues.KIND
        if wide or (self.role == TEMPLATE and is_wide(self.key)):
            return ""
        return str(self._metadata.get("namespace") or "default")[:80]

    @property
    def name(self) -> str:
        return str(self._metadata.get("name") or self._metadata.get("generateName") or "")[:253]

    @property
    def _metadata(self) -> dict[str, Any]:
        metadata = self.manifest.get("metadata")
        return metadata if isinstance(metadata, dict) else {}


def read_all(names: Iterable[str]) -> list[Document]:
    """Every document of the files and folders (with all that is below them) named; `-` is standard input."""
    return [document for name in names for document in _read(name)]


def _read(name: str) -> list[Document]:
    if name == "-":
        return _parsed(_STDIN, sys.stdin.buffer.read())
    path = Path(name)
    try:
        files = _below(path) if path.is_dir() else [path]
        return [document for file in files for document in _parsed(str(file), file.read_bytes())]
    except OSError as error:
        return [Document(name, reasons=(_unread(error.strerror or str(error)),))]


def _below(folder: Path) -> list[Path]:
    found = sorted(path for path in folder.rglob("*") if path.suffix in _SUFFIXES and path.is_file())
    if not found:
        raise OSError(0, f"the folder holds no {', '.join(_SUFFIXES)} file")
    return found


def _unread(cause: str) -> Reason:
    return Reason(Code.INVALID, f"could not be read: {cause}", remedy="name a file, a folder, or - for standard input")


def _parsed(source: str, text: bytes) -> list[Document]:
    try:
        found: Sequence[dict[str, Any]] = parse_documents(text, aliases=True)
    except Refused as error:
        return [Document(source, reasons=error.reasons)]
    if not found:
        return [Document(source, reasons=(_unread("it holds no object"),))]
    return [Document(source, one, (why,) if (why := apart(one)) else ()) for one in found]
