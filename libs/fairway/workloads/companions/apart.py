"""Companions are applied on the hub and read there: one that is submitted like a job is refused where it comes in, so
that none of it gets to the record. Pure."""

from typing import Any

from fairway.wire.reasons import Code, Reason
from fairway.workloads.companions.named import KINDS
from fairway.workloads.reading.fields import shown
from fairway.workloads.reading.wrapped import wrapped

_PLAIN = frozenset(kind.partition(".")[0] for kind in KINDS)
_REMEDY = "apply it on the hub with kubectl apply -f: it goes along with every job whose pods or policy name it"


def apart(manifest: dict[str, Any]) -> Reason | None:
    """Why this is no job, whatever its version; of a List or an AppWrapper what stands in it, too."""
    items = manifest.get("items")
    for one in (manifest, *(items if isinstance(items, list) else ()), *wrapped(manifest)):
        kind = one.get("kind") if isinstance(one, dict) else None
        if isinstance(kind, str) and kind in _PLAIN:
            meta = one.get("metadata")
            name = shown(meta.get("name")) if isinstance(meta, dict) else "without a name"
            return Reason(Code.UNKNOWN_KIND, f"{kind} {name} is no job, and is not sent", "kind", _REMEDY)
    return None
