"""The few bodies that kubectl (1.33 and later) sends as protobuf only: `create namespace`, `auth can-i`,
evictions.

Kubernetes' envelope is `k8s\\0` and a runtime.Unknown {1: typeMeta {1: apiVersion, 2: kind}, 2: raw}; field
numbers are those of k8s.io/apimachinery (generated.proto).
"""

from collections.abc import Iterator

from fairway.lab.kubesim.api.errors import ApiError, Json

MAGIC = b"k8s\x00"
# Kinds whose metadata is all that this server needs of them; of an access review it is the question too.
_KINDS = ("Namespace", "ServiceAccount", "Eviction", "SelfSubjectAccessReview", "SelfSubjectReview")
# of ObjectMeta
_NAME = 1
_LABELS = 11
_ANNOTATIONS = 12
# What a SelfSubjectAccessReviewSpec holds, and in it the fields of each by number (k8s.io/api, authorization/v1).
_ASKED = {
    1: ("resourceAttributes", ("namespace", "verb", "group", "version", "resource", "subresource", "name")),
    2: ("nonResourceAttributes", ("path", "verb")),
}


def decode(raw: bytes) -> Json:
    """apiVersion, kind and metadata; 415 for every kind that needs more."""
    try:
        envelope = _first(raw[len(MAGIC) :])
        kind = _first(envelope[1])
        metadata = _first(_first(envelope.get(2, b"")).get(1, b""))
        body: Json = {"apiVersion": kind[1].decode(), "kind": kind[2].decode()}
        labels = dict(_map(envelope, _LABELS))
        annotations = dict(_map(envelope, _ANNOTATIONS))
        if body["kind"] == "SelfSubjectAccessReview":
            body["spec"] = _asked(_first(_first(envelope.get(2, b"")).get(2, b"")))
    except (IndexError, KeyError, UnicodeDecodeError, ValueError):
        body = {"kind": ""}
        metadata = {}
        labels = {}
        annotations = {}
    if body["kind"] not in _KINDS:
        raise ApiError(
            415, "UnsupportedMediaType", "this server reads no protobuf; send JSON or YAML (kubectl apply -f)"
        )
    found: Json = {"labels": labels, "annotations": annotations}
    if _NAME in metadata:
        found["name"] = metadata[_NAME].decode()
    return {**body, "metadata": {key: value for key, value in found.items() if value}}


def _asked(spec: dict[int, bytes]) -> Json:
    found: Json = {}
    for number, raw in spec.items():
        field, names = _ASKED[number]
        found[field] = {names[at - 1]: text.decode() for at, text in _fields(raw) if 0 < at <= len(names)}
    return found


def _map(envelope: dict[int, bytes], number: int) -> Iterator[tuple[str, str]]:
    metadata = _first(envelope.get(2, b"")).get(1, b"")
    for field, value in _fields(metadata):
        if field == number:
            entry = _first(value)
            yield entry[1].decode(), entry.get(2, b"").decode()


def _first(raw: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    for number, value in _fields(raw):
        found.setdefault(number, value)
    return found


def _fields(raw: bytes) -> Iterator[tuple[int, bytes]]:
    """(number, bytes) of the length-delimited fields."""
    at = 0
    while at < len(raw):
        tag, at = _varint(raw, at)
        wire = tag & 7
        if wire == 2:
            size, at = _varint(raw, at)
            yield tag >> 3, raw[at : at + size]
            at += size
        elif wire == 0:
            _, at = _varint(raw, at)
        elif wire in (1, 5):
            at += 8 if wire == 1 else 4
        else:
            raise ValueError(f"wire type {wire}")


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = raw[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
