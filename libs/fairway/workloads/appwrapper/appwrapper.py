"""AppWrapper of workload.codeflare.dev/v1beta2: components, each an object of another kind.

Each is read, ruled on and labelled by its own kind. All of them start together, so the gang is that of each. Its
controller retries them by itself, and says so with its phase; that of "Running" begins when they are made, so that what
runs is told by its condition PodsReady.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fairway.wire.workload import PodSet, Workload
from fairway.workloads.appwrapper import components, declared_pods
from fairway.workloads.appwrapper.components import Component
from fairway.workloads.appwrapper.shown_status import ENDS
from fairway.workloads.companions.apart import apart
from fairway.workloads.hub_status import entries
from fairway.workloads.kinds.kind import Kind, Path, WrappedObject, prefixed, reach
from fairway.workloads.kinds.phase import FAILED, PENDING, RUNNING, SUCCEEDED, UNKNOWN, Phase, condition, said
from fairway.workloads.pod_security.pod import Pod
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.reading.fields import Field, Problems
from fairway.workloads.reading.wrapped import wrapped

Json = dict[str, Any]

_STATES = {"Succeeded": SUCCEEDED, "Failed": FAILED, "Terminating": UNKNOWN}


class AppWrapper(Kind):
    name = "AppWrapper"
    api_version = "workload.codeflare.dev/v1beta2"
    plural = "appwrappers"
    ends = ENDS
    managed_by = ("spec", "managedBy")

    def __init__(self, kinds: Mapping[str, Kind]) -> None:
        """`kinds` are those that are known, declared ones too."""
        self._kinds = kinds

    def _components(self, manifest: Field) -> Iterator[Component]:
        return components.components(manifest, self._kinds)

    def pod_sets(self, manifest: Field) -> tuple[PodSet, ...]:
        components.check(manifest, self._kinds)
        found: list[PodSet] = []
        for one in self._components(manifest):
            pods = one.kind.pod_sets(one.template)
            declared_pods.check(one, sum(each.count for each in pods))
            found += (prefixed(each, one.prefix) for each in pods)
        return tuple(found)

    def gang(self, manifest: Field, pods: tuple[PodSet, ...]) -> int:
        return sum(
            one.kind.gang(one.template, tuple(each for each in pods if each.name.startswith(one.prefix)))
            for one in self._components(manifest)
        )

    def phase(self, workload: Workload, manifest: Field) -> Phase:
        status = manifest["status"]
        name = str(status["phase"].value or "")
        ready = condition(status, "PodsReady")
        unwell = condition(status, "Unhealthy")
        why = unwell if name != "Succeeded" and unwell is not None else ready
        text = f"{name or 'new'}: {said(why, '')}" if why is not None and said(why, "") else name or "new"
        if name == "Running":
            return Phase(RUNNING if ready is not None else PENDING, text)
        return Phase(_STATES.get(name, PENDING), text)

    def priority(self, manifest: Field) -> str:
        return next(filter(None, (one.kind.priority(one.template) for one in self._components(manifest))), "")

    def as_written(self, manifest: Json) -> Json:
        """Of a Secret among its components no more than will be refused by its name."""
        if not any(apart(one) for one in wrapped(manifest)):
            return manifest
        listed = [{**one, "template": _head(one)} for one in entries(manifest["spec"]["components"])]
        return {**manifest, "spec": {**manifest["spec"], "components": listed}}

    def wrapped_objects(self, manifest: Json) -> Iterator[WrappedObject]:
        for one in self._components(Field(manifest, Problems())):
            yield WrappedObject(one.kind, one.template.way, one.prefix)

    def label_paths(self, manifest: Mapping[str, Any]) -> Iterator[Path]:
        """The objects that its controller makes are the attempt's, and so are their pods."""
        for kind, at, _ in self.wrapped_objects(dict(manifest)):
            own = (*at, "metadata")
            yield own
            inside = (path for path in kind.label_paths(reach(dict(manifest), at)))
            yield from ((*at, *path) for path in inside if path != ("metadata",))

    def pod_templates(self, manifest: Field) -> Iterator[Pod]:
        for one in self._components(manifest):
            yield from one.kind.pod_templates(one.template)

    def besides(self, manifest: Field, ruling: Ruling) -> None:
        for one in self._components(manifest):
            one.kind.besides(one.template, ruling)


def _head(component: Json) -> Any:
    """A component's object; of one that goes along with jobs only which it is."""
    template = component.get("template")
    if not isinstance(template, dict) or not apart(template):
        return template
    meta = template.get("metadata")
    name = meta.get("name") if isinstance(meta, dict) else None
    kept = {key: template[key] for key in ("apiVersion", "kind") if key in template}
    return {**kept, "metadata": {"name": name}}
