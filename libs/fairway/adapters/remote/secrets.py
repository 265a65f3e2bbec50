"""Secrets do not go over the bus, in neither direction. Of one in a member its own side tells what it is, and nothing
that it holds: its annotations may repeat its content, as those of kubectl do."""

from typing import Any

from fairway.runtime.cluster_port import ClusterRefused
from fairway.wire.reasons import Code
from fairway.workloads.companions.named import SECRET
from fairway.workloads.seal import SEAL

Json = dict[str, Any]
_TOLD = ("name", "namespace", "uid", "resourceVersion", "labels", "ownerReferences", "deletionTimestamp")


def check(kind: str, cluster: str) -> None:
    """Of a call that would carry the content of an object, there or back."""
    if kind == SECRET:
        text = f"{cluster} is reached over the bus (pull mode), and no Secret is sent over that"
        raise ClusterRefused(Code.SECRET_NOT_SENT, text)


def without_content(found: Json | None) -> Json | None:
    if found is None:
        return None
    meta = found["metadata"]
    told = {name: meta[name] for name in _TOLD if name in meta}
    seal = (meta.get("annotations") or {}).get(SEAL)
    return {"metadata": told | ({"annotations": {SEAL: seal}} if seal else {})}
