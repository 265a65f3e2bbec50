"""What a job refers to: objects beside it, such as a WorkflowTemplate, in which a part of it stands.

A kind of job names the kinds that it refers to (`Kind.refers_to`) and writes an object out (`Kind.written_out`): the
parts are copied into it, so that what is sized and checked is what runs.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from fairway.wire.reasons import Code, Reason
from fairway.wire.spec import Template
from fairway.workloads.reading.fields import Field

Json = dict[str, Any]
# All that one job refers to may together be as large as one manifest (parse.LARGEST_TEXT), and be so many.
MOST_REFERENCES = 64
_DIGITS = 32
_encode = msgspec.json.Encoder(order="deterministic").encode


class Reference(NamedTuple):
    """`kind` is `Kind.group/version`; `namespace` is empty where the kind has none."""

    kind: str
    namespace: str
    name: str

    @property
    def words(self) -> str:
        plain = self.kind.partition(".")[0]
        return f"{plain} {self.namespace}/{self.name}" if self.namespace else f"{plain} {self.name}"


class Referenced(Struct, frozen=True):
    """An object that jobs refer to. Its `spec` is kept as JSON, which takes a tenth of the memory."""

    reference: Reference
    uid: str
    version: str
    digest: str
    spec: bytes

    @property
    def templates(self) -> tuple[Template, ...]:
        """As the record keeps it of a job: which one it was, not what stood in it."""
        kind, namespace, name = self.reference
        return (Template(kind, namespace, name, self.uid, self.version, self.digest),)


# None: there is none of that name.
Find = Callable[[Reference], Referenced | None]


class WrittenOut(Struct, frozen=True):
    """`manifest` refers to nothing any more, unless there is something `wrong`. `used` are all that were looked for,
    whether they are there or not."""

    manifest: Json
    used: tuple[Reference, ...] = ()
    wrong: tuple[Reason, ...] = ()

    @property
    def waits(self) -> bool:
        """For something that may yet come."""
        return any(one.code is Code.UNKNOWN_TEMPLATE for one in self.wrong)


def is_wide(kind: str) -> bool:
    """It has no namespace: all such kinds are named so."""
    return kind.startswith("Cluster")


def reference_of(kind: str, manifest: Json) -> Reference:
    """As kubectl would apply it, where no namespace is said."""
    meta = _metadata(manifest)
    return Reference(kind, "" if is_wide(kind) else _text(meta, "namespace") or "default", _text(meta, "name"))


def digest_of(text: bytes) -> str:
    return sha256(text).hexdigest()[:_DIGITS]


def referenced(kind: str, manifest: Json) -> Referenced:
    meta = _metadata(manifest)
    spec = _encode(manifest.get("spec"))
    digest = digest_of(spec)
    where = reference_of(kind, manifest)
    return Referenced(where, _text(meta, "uid"), _text(meta, "resourceVersion"), digest, spec)


def _metadata(manifest: Json) -> Json:
    meta = manifest.get("metadata")
    return meta if isinstance(meta, dict) else {}


def _text(meta: Json, name: str) -> str:
    value = meta.get(name)
    return value if isinstance(value, str) else ""


def not_there(field: Field, reference: Reference) -> None:
    plain = reference.kind.partition(".")[0]
    where = f" in namespace {reference.namespace}" if reference.namespace else ""
    text = f"there is no {plain} {reference.name}{where}"
    field.wrong(text, f"create the {plain}, or name another one", Code.UNKNOWN_TEMPLATE)
