"""A kind of one's own, declared in a short YAML instead of code.

    apiVersion: serving.example.com/v1
    kind: Ensemble
    plural: ensembles
    podSets:
    - name: worker
      count: [spec.groups, {path: spec.groupSize, minus: 1}]   # multiplied; absent means 1
      template: [spec.workerTemplate, spec.template]           # the first that is there
    gang: spec.minAvailable            # optional: the path of a number; else all pods
    priority: [spec.priorityClassName] # optional; else the templates in their order
    suspend: spec.suspend              # optional
    podTemplates: [spec.logger]        # optional: pods that are not counted, and looked at like the others
    inPlace: [spec.replicas]           # optional: what its operator takes over while it runs
    status:                            # looked at in this order: failed, succeeded, running
      failed:    [{condition: Failed}]
      succeeded: [{path: status.phase, values: [Done]}]
      running:   [{path: status.readyReplicas, atLeast: gang}]   # a number, `gang` or `pods`

A check holds for a condition of status True, for a path whose value is one of `values`, or for a number.
Any one check of a list is enough; none holding means pending. A manifest that holds containers where the declaration
names no template is refused, except where a namespace's pods may do anything.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from fairway.wire.reasons import Code, Reason, Refused
from fairway.wire.workload import PodSet, Workload
from fairway.workloads.hub_status import PLAIN, Ends, StatusWord
from fairway.workloads.kinds.kind import Kind, Path, first_text, reach
from fairway.workloads.kinds.kubeflow import minimum
from fairway.workloads.kinds.phase import FAILED, PENDING, RUNNING, SUCCEEDED, Phase, condition, count, said
from fairway.workloads.pod_security.pod import Pod, of_template
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.spelling import check_spelling
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import Field
from fairway.workloads.reading.parse import parse_documents
from fairway.workloads.reading.pods import MOST_PODS, read_pod_set, read_replicas


class Factor(Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    default: int = 1
    minus: int = 0


class PodsDeclaration(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    template: list[str]
    count: list[str | Factor] = []


class Check(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    condition: str = ""
    path: str = ""
    values: list[str] = []
    at_least: int | Literal["gang", "pods"] | None = None


class States(Struct, frozen=True, forbid_unknown_fields=True):
    running: list[Check]
    succeeded: list[Check] = []
    failed: list[Check] = []


class Declaration(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    api_version: str
    kind: str
    plural: str
    pod_sets: list[PodsDeclaration]
    status: States
    gang: str = ""
    priority: list[str] = []
    suspend: str = ""
    managed_by: str = ""
    drop: list[str] = []
    in_place: list[str] = []
    pod_templates: list[str] = []


def load_generic(text: str | bytes) -> Kind:
    """The Kind that a declaration describes. Raises Refused with the place that is wrong."""
    documents = parse_documents(text)
    if len(documents) != 1:
        raise _refused(f"holds {len(documents)} documents, not 1", "declare one kind per file")
    try:
        declared = msgspec.convert(documents[0], Declaration)
    except msgspec.ValidationError as error:
        raise _refused(str(error), "compare with deploy/examples/kinds/cloneset.yaml") from None
    if not declared.pod_sets or not all(pods.template for pods in declared.pod_sets):
        raise _refused("a pod set without the path of its template", "name at least one template path")
    return DeclaredKind(declared)


def _refused(text: str, remedy: str) -> Refused:
    return Refused(Reason(Code.INVALID, f"the declaration of a kind: {text}", remedy=remedy))


def _split(path: str) -> tuple[str, ...]:
    return tuple(path.split(".")) if path else ()


class DeclaredKind(Kind):
    def __init__(self, declared: Declaration) -> None:
        self.declared = declared
        self.name = declared.kind
        self.api_version = declared.api_version
        self.plural = declared.plural
        self.suspend_path = _split(declared.suspend)
        self.managed_by = _split(declared.managed_by)
        self.drop = tuple(_split(path) for path in declared.drop)
        self.in_place = tuple(_split(path) for path in declared.in_place)
        self.ends = Ends(PLAIN.waits, self.fails)

    def pod_sets(self, manifest: Field) -> tuple[PodSet, ...]:
        found = []
        for pods in self.declared.pod_sets:
            total = 1
            for one in pods.count:
                factor = Factor(one) if isinstance(one, str) else one
                field = manifest.at(*_split(factor.path))
                total *= max(0, read_replicas(field, factor.default) - factor.minus)
                if total > MOST_PODS:
                    field.wrong(f"makes {total} pods", f"use at most {MOST_PODS}")
                    total = 1
            found.append(read_pod_set(pods.name, total, self._template(manifest, pods)))
        return tuple(found)

    def _template(self, manifest: Field, pods: PodsDeclaration) -> Field:
        """The first template that is there; the last path when none is."""
        places = [manifest.at(*_split(path)) for path in pods.template]
        return next((place for place in places if place.given), places[-1])

    def gang(self, manifest: Field, pods: tuple[PodSet, ...]) -> int:
        total = super().gang(manifest, pods)
        return minimum(manifest.at(*_split(self.declared.gang)), total) if self.declared.gang else total

    def priority(self, manifest: Field) -> str:
        named = [manifest.at(*_split(path)) for path in self.declared.priority]
        templates = [self._template(manifest, pods) for pods in self.declared.pod_sets]
        return first_text(*named, *(one.at("spec", "priorityClassName") for one in templates))

    def pod_templates(self, manifest: Field) -> Iterator[Pod]:
        for path in self._templates():
            template = manifest.at(*_split(path))
            if template.given:
                yield of_template(template)

    def besides(self, manifest: Field, ruling: Ruling) -> None:
        """Containers beyond the templates that are named; nobody knows how the kind's operator reads its objects."""
        check_spelling(manifest["spec"], ruling)
        known = {manifest.at(*_split(path), "spec").path for path in self._templates()}
        for place in _with_containers(manifest["spec"]):
            if place.path not in known:
                text = f"describes a pod, and the declaration of {self.declared.kind} does not name it"
                ruling.unseen(PodView(place), text)

    def _templates(self) -> list[str]:
        counted = [path for pods in self.declared.pod_sets for path in pods.template]
        return list(dict.fromkeys((*counted, *self.declared.pod_templates)))

    def label_paths(self, manifest: Mapping[str, Any]) -> Iterator[Path]:
        for path in self._templates():
            here: Any = manifest
            for key in _split(path):
                here = here.get(key) if isinstance(here, dict) else None
            if here:
                yield (*_split(path), "metadata")

    def fails(self, shown: dict[str, Any], word: StatusWord) -> dict[str, Any]:
        """As the first check of `failed` would find it: a condition, or a value at a path of the status."""
        check = next((one for one in self.declared.status.failed if one.condition or one.values), Check("Failed"))
        path = _split(check.path)
        if check.condition or path[0] != "status" or len(path) < 2:
            return PLAIN.fails(shown, word)
        status: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(shown))
        reach(status, path[1:-1])[path[-1]] = check.values[0]
        return status

    def phase(self, workload: Workload, manifest: Field) -> Phase:
        states = self.declared.status
        for state, checks in (
            (FAILED, states.failed),
            (SUCCEEDED, states.succeeded),
            (RUNNING, states.running),
        ):
            for check in checks:
                if text := _holds(check, workload, manifest):
                    return Phase(state, text)
        return Phase(PENDING, "nothing in the status says that it runs")


def _with_containers(field: Field) -> Iterator[Field]:
    """The places below that have containers as a pod has them."""
    if isinstance(field.value, dict):
        if isinstance(field.value.get("containers"), list):
            yield field
            return
        for _, one in field.pairs():
            yield from _with_containers(one)
    elif isinstance(field.value, list):
        for one in field.items():
            yield from _with_containers(one)


def _holds(check: Check, workload: Workload, manifest: Field) -> str:
    """The sentence for a check that holds; empty when it does not."""
    if check.condition:
        entry = condition(manifest["status"], check.condition)
        return said(entry, check.condition) if entry else ""
    field = manifest.at(*_split(check.path))
    if check.at_least is None:
        return f"{check.path} is {field.value}" if str(field.value) in check.values else ""
    named = {"gang": workload.gang_minimum, "pods": workload.pods}
    least = named[check.at_least] if isinstance(check.at_least, str) else check.at_least
    here = count(field)
    return f"{check.path} is {here} of {least}" if here >= least else ""
