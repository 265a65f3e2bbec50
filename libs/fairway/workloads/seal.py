"""The seal on what Fairway applies: by it an object says which attempt it is of, and nobody else can say so.

Names and labels are anybody's to write. The seal is a keyed digest of what was applied: the cluster, the place there,
the job, the attempt, and a digest of the pod templates, in which what a resize changes has no part. An annotation that
was copied to another place, cluster or attempt is no seal. It does not say that the pod templates are still those that
were applied: nobody compares their digest with the object that is there, and who may edit the object changes them under
a good seal. Where an object itself is copied, deleted and made anew under its name, its uid tells
(domain.attempts). The key never leaves Fairway's own processes.
"""

import hmac
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from fairway.workloads.kinds.kind import Kind, Path
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.member_copy import applied_for, attempt_labels

Json = dict[str, Any]

SEAL = "fairway.io/seal"
_VERSION = "v1"
# Every attempt has a slash.
_NO_ATTEMPT = "companion"
# How many pods there are: outside the pods' own specs, wherever a kind has it.
_SIZES = frozenset({"replicas", "parallelism", "completions", "instances", "minReplicas", "maxReplicas"})
_encode = msgspec.json.Encoder(order="deterministic").encode


class Spot(Struct, frozen=True):
    """Where an object is: its cluster, its kind as `Kind.group/version`, its namespace and name."""

    cluster: str
    kind: str
    namespace: str
    name: str


def spot_of(cluster: str, kind: str, manifest: Json) -> Spot:
    meta = manifest["metadata"]
    return Spot(cluster, kind, str(meta.get("namespace") or "default"), str(meta.get("name") or ""))


def sealed(key: bytes, spot: Spot, attempt: tuple[str, int], manifest: Json) -> Json:
    """The manifest with its seal. `attempt` is the job and the number."""
    job, number = attempt
    content = digest(manifest, KINDS[spot.kind])
    text = f"{_VERSION} {job}/{number} {content} {_mac(key, spot, f'{job}/{number}', content)}"
    meta = manifest["metadata"]
    return {**manifest, "metadata": {**meta, "annotations": {**(meta.get("annotations") or {}), SEAL: text}}}


def attempt_of(key: bytes, spot: Spot, manifest: Json) -> tuple[str, int] | None:
    """The job and the attempt that an object was sealed for; None without a seal that is good here."""
    parts = seal_of(manifest).split(" ")
    if len(parts) != 4 or parts[0] != _VERSION:
        return None
    _, attempt, content, mac = parts
    if not hmac.compare_digest(_mac(key, spot, attempt, content).encode(), mac.encode()):
        return None
    job, _, number = attempt.rpartition("/")
    return job, int(number)


def seal_of(manifest: Json) -> str:
    """What stands where a seal would: empty for an object that has none. It proves nothing by itself."""
    notes = (manifest.get("metadata") or {}).get("annotations")
    text = notes.get(SEAL, "") if isinstance(notes, dict) else ""
    return text if isinstance(text, str) and text.isascii() else ""


def mark(key: bytes, spot: Spot) -> str:
    """The seal of what belongs to no single attempt: Fairway has put it there. What is in it has no part in it."""
    return f"{_VERSION} {_mac(key, spot, _NO_ATTEMPT, '')}"


def marked(key: bytes, spot: Spot, manifest: Json) -> bool:
    return hmac.compare_digest(mark(key, spot).encode(), seal_of(manifest).encode())


def of_attempt(key: bytes, where: tuple[str, str], manifest: Json, attempt: tuple[str, int]) -> bool:
    """Whether Fairway made this object for that attempt, whatever became of its labels: it carries the seal; or, from
    before there were seals, the API server and its pod templates say so. `where`: its cluster and kind."""
    if seal_of(manifest):
        return attempt_of(key, spot_of(*where, manifest), manifest) == attempt
    return applied_for(manifest, attempt_labels(*attempt))


def digest(manifest: Json, kind: Kind) -> str:
    """Of the pod templates, whatever their number of pods."""
    templates = [_without_sizes(_at(manifest, path)) for path in kind.label_paths(manifest)]
    return sha256(_encode(templates)).hexdigest()[:32]


def _at(manifest: Mapping[str, Any], path: Path) -> Any:
    """The template at or around a place for labels."""
    here: Any = manifest
    for key in path[:-1] if path[-1] == "metadata" else path:
        here = here[key]
    return here


def _without_sizes(part: Any) -> Any:
    if isinstance(part, dict):
        return {name: _without_sizes(value) for name, value in part.items() if name not in _SIZES}
    return [_without_sizes(one) for one in part] if isinstance(part, list) else part


def _mac(key: bytes, spot: Spot, attempt: str, content: str) -> str:
    """JSON keeps the parts apart, whatever is in them."""
    said = _encode([_VERSION, spot.cluster, spot.kind, spot.namespace, spot.name, attempt, content])
    return hmac.new(key, said, sha256).hexdigest()
