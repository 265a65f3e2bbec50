"""What a watch has told of each object, remembered so that one that vanished in a gap can be told as gone."""

from collections.abc import Mapping
from typing import Any

from fairway.runtime.cluster_port import Change
from fairway.workloads.reading.names import OURS

# By namespace and name: the uid, and Fairway's labels.
Former = tuple[str, dict[str, str]]
Told = dict[tuple[str, str], Former]
# One for the thousands of objects that are not Fairway's; nobody changes it.
_NONE: dict[str, str] = {}


def remember(told: Told, key: tuple[str, str], metadata: Mapping[str, Any]) -> Former | None:
    """Returns what is gone though nobody said so: another uid under the same name is another object."""
    uid = metadata.get("uid", "")
    labels = metadata.get("labels") or {}
    ours = {name: labels[name] for name in labels if name.startswith(OURS)}
    former = told.get(key)
    told[key] = (uid, ours or _NONE)
    return former if former is not None and former[0] != uid else None


def vanished(kind: str, key: tuple[str, str], what: Former) -> Change:
    (namespace, name) = key
    (uid, labels) = what
    metadata = {"namespace": namespace, "name": name, "uid": uid, "labels": {**labels}}
    return Change(kind, namespace, name, {"metadata": metadata}, gone=True)
