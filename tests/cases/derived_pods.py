"""The pods that the reader of a job's kind derives from its manifest, as plain data: as operators would make them."""

from collections.abc import Iterator
from typing import Any

from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.pod_security.pod import Pod
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import Field, Problems
from tests.cases.pod_flaws import Json


def derived(manifest: Json) -> list[Json]:
    """Each pod of the job that has containers."""
    return [one for one in _each(manifest) if one["spec"].get("containers")]


def _each(manifest: Json) -> Iterator[Json]:
    pods = KINDS[f"{manifest['kind']}.{manifest['apiVersion']}"].pod_templates(Field(manifest, Problems()))
    shared: Json | None = None
    for pod in pods:
        own = plain_pod(pod)
        if shared is None and manifest["kind"] == "Workflow":  # first what all of its pods have in common
            shared = own
        else:
            yield own if shared is None else _with(shared, own)


def _with(shared: Json, own: Json) -> Json:
    notes = {**(shared["metadata"].get("annotations") or {}), **(own["metadata"].get("annotations") or {})}
    volumes = [*(shared["spec"].get("volumes") or ()), *(own["spec"].get("volumes") or ())]
    return {
        "metadata": {**own["metadata"], "annotations": notes},
        "spec": {**shared["spec"], **own["spec"], "volumes": volumes},
    }


def plain_pod(pod: Pod) -> Json:
    return {"metadata": plain(pod.metadata) or {}, "spec": plain(pod.spec) or {}}


def plain(view: PodView) -> Any:
    if view.entries is not None:
        return [plain(entry) for entry in view.entries]
    here = [place.value for place in view.places if place.given]
    if not here and not view.moved:
        return None
    if (here and not isinstance(here[0], dict)) and not view.moved:
        return [plain(entry) for entry in view.items()] if isinstance(here[0], list) else here[0]
    keys = {key: None for value in here for key in value}
    made = {key: plain(view[key]) for key in {**keys, **dict.fromkeys(view.moved)}}
    return {key: value for key, value in made.items() if value is not None and value != []}
