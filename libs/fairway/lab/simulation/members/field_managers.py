"""Objects as an API server keeps them for who looks who wrote what, and what hands make of them."""

from typing import Any

import msgspec

from fairway.workloads.member_copy import ATTEMPT_LABEL, FIELD_MANAGER, JOB_LABEL

Json = dict[str, Any]
_HAND = "kubectl-edit"


def applied(manifest: Json) -> Json:
    """As it is when Fairway has applied it: every field of its spec is Fairway's, and a list as a whole."""
    ours = _set_by(FIELD_MANAGER, _fields(manifest["spec"]))
    return {**manifest, "metadata": {**manifest["metadata"], "generation": 1, "managedFields": [ours]}}


def edited(manifest: Json) -> Json:
    """Somebody has put another image into the first pod template."""
    copy: Json = msgspec.json.decode(msgspec.json.encode(manifest))
    path, containers = _containers(copy["spec"])
    containers[0]["image"] = "other"
    meta = copy["metadata"]
    ours, theirs = meta["managedFields"][0], _fields_at(path)
    _give_up(ours["fieldsV1"]["f:spec"], path)
    meta["managedFields"] = [ours, _set_by(_HAND, theirs)]
    meta["generation"] += 1
    return copy


# What becomes of the labels by which Fairway knows an object; None: it is taken off.
STRIPS: tuple[dict[str, str | None], ...] = (
    {JOB_LABEL: None, ATTEMPT_LABEL: None},
    {JOB_LABEL: None},
    {ATTEMPT_LABEL: None},
    {ATTEMPT_LABEL: "77"},
    {JOB_LABEL: "nobody"},
)


def stripped(manifest: Json, how: dict[str, str | None]) -> Json:
    """Somebody has taken labels off, or changed them."""
    meta = manifest["metadata"]
    labels = {name: value for name, value in {**meta["labels"], **how}.items() if value is not None}
    return {**manifest, "metadata": {**meta, "labels": labels}}


def _set_by(manager: str, fields: Json) -> Json:
    return {"manager": manager, "fieldsV1": {"f:spec": fields}}


def _fields(spec: Any) -> Json:
    return {f"f:{name}": _fields(value) for name, value in spec.items()} if isinstance(spec, dict) else {}


def _containers(spec: Json) -> tuple[list[str], list[Json]]:
    """The way to the containers of the first template, and what is there."""
    path: list[str] = []
    here: Any = spec
    while "template" not in here:
        name = "pytorchReplicaSpecs" if "pytorchReplicaSpecs" in here else min(here)
        path.append(name)
        here = here[name]
    return [*path, "template", "spec", "containers"], here["template"]["spec"]["containers"]


def _fields_at(path: list[str]) -> Json:
    fields: Json = {}
    for name in reversed(path):
        fields = {f"f:{name}": fields}
    return fields


def _give_up(fields: Json, path: list[str]) -> None:
    for name in path[:-1]:
        fields = fields[f"f:{name}"]
    fields.pop(f"f:{path[-1]}", None)
