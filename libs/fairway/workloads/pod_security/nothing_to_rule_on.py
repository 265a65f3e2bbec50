"""Whether a description of a pod says nothing that any rule below `restricted` looks at.

Nearly every job does, and it is told in a few microseconds by the names of its fields alone: those of plain_pod.py.
Everything else is left to the rules.
"""

from collections.abc import Callable, Mapping
from typing import Any

from fairway.domain.tenancy.profile import SYSTEM_CLASSES
from fairway.workloads.pod_security.marks import quiet_marks
from fairway.workloads.pod_security.plain_pod import (
    PlainContainer,
    PlainPodSpec,
    PlainPort,
    PlainVariable,
    PlainVolume,
    names,
)
from fairway.workloads.reading.pods import MOST_CONTAINERS

_POD = names(PlainPodSpec)
_CONTAINER = names(PlainContainer)
_VOLUME = names(PlainVolume)
_PORT = names(PlainPort)
_VARIABLE = names(PlainVariable)


def quiet_template(template: Any) -> bool:
    """Of a PodTemplateSpec."""
    if type(template) is not dict or type(spec := template.get("spec")) is not dict:
        return False
    return quiet_metadata(template.get("metadata")) and _POD.issuperset(spec) and quiet_parts(spec)


def quiet_metadata(metadata: Any) -> bool:
    if type(metadata) is not dict:
        return metadata is None
    return not metadata.get("annotations") and quiet_marks(metadata.get("labels"))


def quiet_parts(described: Mapping[str, Any]) -> bool:
    """The fields of a pod, whatever else is among them, that are quiet or not by what stands in them."""
    return all(
        key not in described or _quiet_list(described[key], quiet) for key, quiet in _LISTS.items()
    ) and quiet_class(described.get("priorityClassName"))


def _quiet_list(value: Any, quiet: Callable[[Any], bool]) -> bool:
    """One that is longer than containers may be is left to the rules."""
    return type(value) is list and len(value) <= MOST_CONTAINERS and all(map(quiet, value))


def quiet_class(name: Any) -> bool:
    return name is None or (type(name) is str and not name.startswith(SYSTEM_CLASSES) and "{{" not in name)


def _container(value: Any) -> bool:
    if type(value) is not dict or not _CONTAINER.issuperset(value):
        return False
    return _all(value.get("env"), _VARIABLE) and _all(value.get("ports"), _PORT)


def _all(value: Any, known: frozenset[str]) -> bool:
    """Whether these are mappings of known fields alone."""
    return value is None or (type(value) is list and all(type(one) is dict and known.issuperset(one) for one in value))


def _volume(value: Any) -> bool:
    return type(value) is dict and _VOLUME.issuperset(value)


def quiet_toleration(value: Any) -> bool:
    """One that names a taint, now and not later."""
    if type(value) is not dict or type(key := value.get("key")) is not str:
        return False
    return bool(key) and "{{" not in key


_LISTS: dict[str, Callable[[Any], bool]] = {
    "containers": _container,
    "initContainers": _container,
    "volumes": _volume,
    "tolerations": quiet_toleration,
}
