"""The podTemplateOverrides of a TrainJob, merged into the pod templates of its runtime as Kubeflow's trainer 2.1 does
it (pkg/runtime/core/trainingruntime.go): a strategic merge, one override after the other.

They are merged before the job is sized and checked, and the members get what comes of it: so nothing depends on
another merge than this one, and a trainer 2.0, which knows no such overrides, runs the same.
"""

from copy import deepcopy
from typing import Any

import msgspec

from fairway.wire.reasons import Code
from fairway.workloads.reading.fields import Field
from fairway.workloads.reading.names import check_labels
from fairway.workloads.reading.parse import LARGEST_TEXT
from fairway.workloads.reading.pods import MOST_CONTAINERS
from fairway.workloads.references import Json
from fairway.workloads.trainjob.known_fields import only

# Of a spec: what is merged field by field, what is replaced, and lists whose entries are known by a field.
_MAPPINGS = ("nodeSelector", "affinity")
_WHOLE = ("serviceAccountName", "tolerations")
_LISTS = {"volumes": "name", "schedulingGates": "name", "imagePullSecrets": "name"}
_CONTAINERS = ("initContainers", "containers")
_IN_CONTAINER = {"env": "name", "volumeMounts": "mountPath"}
# Their variables are the trainer's and the initializer's.
_OWN_VARIABLES = ("node", "dataset-initializer", "model-initializer")
# Of each list, merged or not.
_MOST = 256


def overridden(overrides: Field, jobs: list[Json]) -> None:
    """`jobs` are the runtime's replicatedJobs, whose pod templates are changed. Problems are noted where they are."""
    templates: dict[Any, list[Json]] = {}
    for job in jobs:
        templates.setdefault(str(job.get("name")), []).append(within(job, "template", "spec", "template"))
    left = LARGEST_TEXT
    for override in overrides.items(_MOST):
        only(override, ("targetJobs", "metadata", "spec"))
        only(override["metadata"], ("labels", "annotations"))
        only(override["spec"], (*_WHOLE, *_MAPPINGS, *_LISTS, *_CONTAINERS))
        check_labels(override["metadata"]["labels"])
        found = [one for name in _targets(override, templates) for one in templates[name]]
        # What is merged is in the result, which may be no larger; asked before it is merged.
        left -= len(msgspec.json.encode(override.value)) * len(found)
        if left < 0:
            remedy = "say less in overrides, or more in the runtime"
            overrides.wrong(f"make more than {LARGEST_TEXT} bytes in the jobs that they name", remedy, Code.TOO_LARGE)
            return
        for template in found:
            _override(template, override)


def _targets(override: Field, known: Json) -> list[str]:
    names = [(target["name"], target["name"].text()) for target in override["targetJobs"].items(_MOST)]
    for field, name in names:
        if name not in known:
            field.wrong("is no job of the runtime", "name one of its replicatedJobs")
    return list(dict.fromkeys(name for _, name in names if name in known))


def _override(template: Json, override: Field) -> None:
    for name in ("labels", "annotations"):
        if own := override["metadata"][name].mapping():
            within(template, "metadata")[name] = {**within(template, "metadata", name), **own}
    spec = override["spec"]
    pods = within(template, "spec")
    pods |= {name: deepcopy(spec[name].value) for name in _WHOLE if spec[name].value}
    for name in _MAPPINGS:
        if spec[name].mapping():
            pods[name] = _merged(pods.get(name), spec[name].value)
    for name, key in _LISTS.items():
        _merge_list(pods, spec[name], key)
    for name in _CONTAINERS:
        _containers(pods, spec[name])


def _containers(pods: Json, containers: Field) -> None:
    listed = [one for one in pods.get(str(containers.key)) or () if isinstance(one, dict)]
    for container in containers.items(MOST_CONTAINERS):
        only(container, ("name", *_IN_CONTAINER))
        name = container["name"].text()
        there = [one for one in listed if one.get("name") == name]
        if not there:
            container["name"].wrong("is no container of the runtime's job", "name one of those that it has")
        if name in _OWN_VARIABLES and container["env"].value:
            container["env"].wrong("is not the place for variables of this container", "use trainer or initializer")
        for one in there:
            for field, key in _IN_CONTAINER.items():
                _merge_list(one, container[field], key)


def _merge_list(holder: Json, own: Field, key: str) -> None:
    made = [*_as_list(holder.get(str(own.key)))]
    entries = own.items(_MOST)
    if not entries:
        return
    if len(made) > _MOST:
        own.wrong(f"is merged into a list of the runtime with {len(made)} entries", f"use at most {_MOST} there")
        return
    places = {one[key]: at for at, one in enumerate(made) if isinstance(one, dict) and isinstance(one.get(key), str)}
    for entry in entries:
        mark = entry[key].text()
        if not mark:
            entry[key].wrong("is missing", f"give every entry its {key}")
        elif mark in places:
            made[places[mark]] = _merged(made[places[mark]], entry.value)
        else:
            places[mark] = len(made)
            made.append(deepcopy(entry.value))
    holder[str(own.key)] = made


def _merged(base: Any, own: Any) -> Any:
    """Mappings field by field; all else as `own` says."""
    if not isinstance(base, dict) or not isinstance(own, dict):
        return deepcopy(own)
    return {**base, **{key: _merged(base.get(key), value) for key, value in own.items()}}


def within(here: Json, *path: str) -> Json:
    """The mapping there; made on the way where there is none."""
    for name in path:
        if not isinstance(here.get(name), dict):
            here[name] = {}
        here = here[name]
    return here


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
