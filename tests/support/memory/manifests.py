"""What a cluster in memory looks at in the objects that it keeps."""

from typing import Any

from fairway.workloads.member_copy import FIELD_MANAGER

Json = dict[str, Any]


def by_fairway(manifest: Json) -> Json:
    """As an API server keeps it of who made an object, if the manifest does not say more of that."""
    made = [{"manager": FIELD_MANAGER, "fieldsV1": {}}]
    return {**manifest, "metadata": {"managedFields": made, **manifest["metadata"]}}


def selected(manifest: Json, selector: str) -> bool:
    """A selector is the name of a label here."""
    return not selector or selector in (manifest["metadata"].get("labels") or {})


def carries(manifest: Json, labels: dict[str, str]) -> bool:
    found = manifest["metadata"].get("labels") or {}
    return all(found.get(name) == value for name, value in labels.items())
