"""Text that somebody sent, turned into documents: the one place where untrusted bytes are parsed.

Refused are: more than 1 MiB, text that is not UTF-8, tags, a key twice in one mapping, keys that are not strings, more
than 64 levels, documents that are not mappings; and where they are not asked for, aliases, anchors and merge keys. A
`v1` List is opened. JSON is tried first. Text whose re-encoding is byte for byte the same cannot have held a key twice;
other JSON is parsed again with its pairs in view.
"""

import json
from collections import Counter
from typing import Any

import msgspec

from fairway.domain.text.foreign_json import deeper
from fairway.wire.reasons import Code, Reason, Refused
from fairway.workloads.reading.fields import Field, shown
from fairway.workloads.reading.yaml_text import Bounds, load_yaml, refused

LARGEST_TEXT = 2**20
DEEPEST = 64


def parse_documents(text: str | bytes, aliases: bool = False) -> list[dict[str, Any]]:
    """The objects of a YAML or JSON text. Raises Refused, with the line where one is known. `aliases` are written out,
    as kubectl does, as far as 1 MiB more than the text itself."""
    return [one for document in _parsed(text, aliases) if document is not None for one in _opened(document)]


def parse_mapping(text: str | bytes) -> dict[str, Any]:
    """The one mapping that a YAML or JSON text is, whatever its keys: a List is not opened, as whoever merges the text
    into something else opens none either. Raises Refused."""
    documents = _parsed(text)
    if len(documents) > 1:
        raise refused(None, f"holds {len(documents)} documents where one mapping should be", "write one of them")
    if not documents or not isinstance(documents[0], dict):
        raise refused(None, f"holds {shown(documents[0] if documents else None)}, not a mapping", "write key: value")
    return documents[0]


def _parsed(text: str | bytes, aliases: bool = False) -> list[Any]:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if len(data) > LARGEST_TEXT:
        raise Refused(
            Reason(
                Code.TOO_LARGE,
                f"the text has {len(data)} bytes, more than {LARGEST_TEXT} (1 MiB)",
                remedy="split it; keep large data out of manifests, in a ConfigMap or a volume",
            )
        )
    data = data.removeprefix(b"\xef\xbb\xbf")
    documents = [json_value(data)] if data.lstrip()[:1] in (b"{", b"[") else None
    if documents is None or documents == [None]:
        documents = load_yaml(_decoded(data), Bounds(DEEPEST, LARGEST_TEXT if aliases else 0))
    return documents


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise refused(data[: error.start].count(b"\n"), "is not UTF-8 text", "save the file as UTF-8") from None


def json_value(data: bytes) -> Any:
    """The value of a JSON text, or None when it is not JSON (a YAML flow mapping looks alike)."""
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if msgspec.json.encode(value) != data:
        try:
            value = json.loads(data, object_pairs_hook=_pairs)
        except Refused:
            raise
        except (RecursionError, ValueError):
            value = None
    if value is None or too_deep(data):
        raise refused(None, f"is nested deeper than {DEEPEST} levels", "flatten it")
    return value


def too_deep(data: bytes) -> bool:
    """Whether a JSON text has more levels than a manifest may have."""
    return deeper(data, DEEPEST)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise refused(None, f"holds the key {shown(twice)} twice in one mapping", "keep one of them")
    return found


def _opened(document: Any) -> list[dict[str, Any]]:
    """A document as objects: itself, or the items of a v1 List."""
    if not isinstance(document, dict):
        raise refused(None, f"holds {shown(document)} where an object should be", "write apiVersion, kind, metadata")
    if document.get("kind") != "List" or document.get("apiVersion") != "v1":
        return [document]
    items = document.get("items") or []
    if not isinstance(items, list) or not all(isinstance(one, dict) for one in items):
        raise refused(None, "is a List whose items are not objects", "make every item a mapping")
    return items


def parse_amounts(field: Field) -> Field:
    """The mapping in an annotation that holds YAML such as "cpu: 5"; problems are noted at the annotation."""
    try:
        found = parse_mapping(field.text()) if field.text() else {}
    except Refused as error:
        field.wrong(error.reasons[0].text, "write one resource per line, such as 'cpu: 5'")
        found = {}
    return Field(found, field.problems, field.up, field.key)


def with_name(manifest: dict[str, Any], suffix: str) -> dict[str, Any]:
    """`metadata.generateName` made a name, as the API server does: cut to 58 characters, and a suffix.

    The same manifest when it has a name. `suffix` is the caller's, so that a repeat names the same object.
    """
    metadata = manifest.get("metadata")
    if not isinstance(metadata, dict) or metadata.get("name") or not isinstance(metadata.get("generateName"), str):
        return manifest
    rest = {key: value for key, value in metadata.items() if key != "generateName"}
    return {**manifest, "metadata": {**rest, "name": f"{metadata['generateName'][:58]}{suffix}"}}


def values(value: Any, most: int) -> int:
    """How many single values there are, empty lists and mappings too; counted as far as one beyond `most`."""
    count = 0
    left = [value]
    while left and count <= most:
        one = left.pop()
        inner = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        count += not inner
        left.extend(inner)
    return count


def more_than(most: int, value: Any, size: int | None = None) -> bool:
    """Whether there are more than `most` of them. `size`: how many bytes of JSON it is, if that is known: a value and
    what parts it from the next take two at least, so most documents need not be walked."""
    return (len(msgspec.json.encode(value)) if size is None else size) > 2 * most and values(value, most) > most
