"""A Workflow whose templates lie elsewhere, written out: one object without references that means the same to Argo 3.6.

`workflowTemplateRef` is the spec of another object below the workflow's own (joined_spec.py). A `templateRef` of a
step, a task or a hook is a template of another object: it is copied under a name of its own, with those that it runs
by name, which are looked for where it came from, as are the references in it. The same template is copied once, however
often it is named, so templates may run each other in circles, as Argo lets them. Of a template's object nothing but its
templates counts then: no volumes, no account, no labels.

What is no reference stays as it is, right or wrong: whether Argo takes the workflow is read from the result.
"""

from collections.abc import Iterable
from hashlib import sha256
from itertools import count
from typing import Any

import msgspec

from fairway.wire.reasons import Code
from fairway.workloads.reading.fields import Field, Problems, shown
from fairway.workloads.reading.names import is_namespace
from fairway.workloads.reading.parse import LARGEST_TEXT, too_deep
from fairway.workloads.references import Find, Json, Reference, WrittenOut
from fairway.workloads.workflow.joined_spec import joined
from fairway.workloads.workflow.referenced_specs import ReferencedSpecs

# Of a template's name as much is kept as leaves room for a mark in a label of 63 characters.
_STEM = 40
_MARK = 10
_encode = msgspec.json.Encoder(order="deterministic").encode


def written_out(manifest: Json, find: Find) -> WrittenOut:
    problems = Problems()
    root = Field(manifest, problems)
    if not isinstance(root["spec"].value, dict) or too_deep(_encode(manifest)):
        return WrittenOut(manifest)  # nobody takes it
    specs = ReferencedSpecs(_namespace(manifest), find)
    spec = _Copies(specs).written(root["spec"])
    used = tuple(specs.seen)
    if problems or not used:
        return WrittenOut(manifest, used, tuple(problems.reasons))
    made = {**manifest, "spec": spec}
    if len(_encode(made)) > LARGEST_TEXT:
        remedy = "split it; large data belongs in a ConfigMap or a volume"
        root["spec"].wrong(f"has more than {LARGEST_TEXT} bytes with its templates", remedy, Code.TOO_LARGE)
    return WrittenOut(made, used, tuple(problems.reasons))


def _namespace(manifest: Json) -> str:
    meta = manifest.get("metadata")
    named = meta.get("namespace") if isinstance(meta, dict) else None
    return named if isinstance(named, str) and is_namespace(named) else "default"


class _Origin:
    """Where a template is from: an object, and its templates by name, of which Argo takes the first. Of the workflow
    itself it is nobody's, and names of templates in it stay. `place` is the field that led there first."""

    def __init__(self, reference: Reference | None, templates: dict[str, Field], place: Field) -> None:
        self.reference = reference
        self.templates = templates
        self.place = place


class _Copies:
    """The templates that are copied, by origin and name, with the names that they get."""

    def __init__(self, specs: ReferencedSpecs) -> None:
        self._specs = specs
        self._origins: dict[Reference, _Origin] = {}
        self._names: dict[tuple[Reference, str], str] = {}
        self._taken: set[str] = set()
        self._left: list[tuple[Field, str, _Origin]] = []

    def written(self, own: Field) -> Json:
        spec = self._whole(own)
        root = Field(spec, own.problems, own.up, own.key)
        templates = _listed(root["templates"])
        here = _Origin(None, {}, root)
        self._taken = {one.value["name"] for one in templates if _is_named(one.value)}
        made = dict(spec)
        if isinstance(spec.get("templates"), list):
            kept = _first_of_each(templates) if spec is not own.value else templates
            made["templates"] = [self._template(one, here) for one in kept]
        self._hooks(root, made, here)
        copies = []
        while self._left:
            template, name, origin = self._left.pop(0)
            copies.append({**self._template(template, origin), "name": name})
        if copies:
            made["templates"] = [*_as_list(made.get("templates")), *copies]
        return made

    def _whole(self, own: Field) -> Json:
        reference = own["workflowTemplateRef"]
        if not isinstance(reference.value, dict):
            return own.value  # type: ignore[no-any-return]  # a mapping, as the caller knows
        found = self._specs.of(reference, reference)
        return joined(own, found[1]) if found is not None else own.value

    def _template(self, template: Field, origin: _Origin) -> Any:
        if not isinstance(template.value, dict):
            return template.value
        made = dict(template.value)
        if isinstance(made.get("steps"), list):
            made["steps"] = [self._group(group, origin) for group in template["steps"].items()]
        if isinstance(made.get("dag"), dict) and isinstance(made["dag"].get("tasks"), list):
            tasks = [self._step(task, origin) for task in template["dag"]["tasks"].items()]
            made["dag"] = {**made["dag"], "tasks": tasks}
        return made

    def _group(self, group: Field, origin: _Origin) -> Any:
        if isinstance(group.value, list):
            return [self._step(step, origin) for step in group.items()]
        return self._step(group, origin)

    def _step(self, step: Field, origin: _Origin) -> Any:
        if not isinstance(step.value, dict):
            return step.value
        made = self._called(step, origin)
        if isinstance(made.get("inline"), dict):
            if step["templateRef"].given:
                place = self._place(step["templateRef"], origin)
                place.wrong("stands beside a template that is written inline", "keep one of them")
            made["inline"] = self._template(step["inline"], origin)
        if origin.reference is not None and isinstance(made.get("onExit"), str) and made["onExit"]:
            made["onExit"] = self._copied(origin, made["onExit"], self._place(step["onExit"], origin))
        self._hooks(step, made, origin)
        return made

    def _hooks(self, holder: Field, made: Json, origin: _Origin) -> None:
        if isinstance(made.get("hooks"), dict):
            made["hooks"] = {name: self._called(hook, origin) for name, hook in holder["hooks"].pairs()}

    def _called(self, holder: Field, origin: _Origin) -> Any:
        """A step, a task or a hook, which runs a template by name."""
        if not isinstance(holder.value, dict):
            return holder.value
        reference = holder["templateRef"]
        own = holder["template"]
        if isinstance(reference.value, dict):
            if own.value:
                place = self._place(own, origin)
                place.wrong("names a template beside templateRef, which Argo does not take", "keep one of them")
            made = {key: value for key, value in holder.value.items() if key != "templateRef"}
            return {**made, "template": self._referred(reference, self._place(reference, origin))}
        if origin.reference is not None and isinstance(own.value, str) and own.value:
            return {**holder.value, "template": self._copied(origin, own.value, self._place(own, origin))}
        return dict(holder.value)

    def _place(self, field: Field, origin: _Origin) -> Field:
        """The field of the workflow itself that something is noted at."""
        return field if origin.reference is None else origin.place

    def _referred(self, reference: Field, place: Field) -> str:
        found = self._specs.of(reference, place)
        if found is None:
            return ""
        name, spec = found
        if name not in self._origins:
            templates = _first_of_each(_listed(Field(spec, place.problems)["templates"]))
            by_name = {one.value["name"]: one for one in templates if _is_named(one.value)}
            self._origins[name] = _Origin(name, by_name, place)
        return self._copied(self._origins[name], reference["template"].text(), place)

    def _copied(self, origin: _Origin, name: str, place: Field) -> str:
        """The name that a template of another object has in this workflow."""
        assert origin.reference is not None, "templates of the workflow itself are not copied"
        key = (origin.reference, name)
        if key in self._names:
            return self._names[key]
        if "{{" in name:
            text = f"leads to a step of {origin.reference.words} that names its template {shown(name)} only at run time"
            place.wrong(text, "write the name itself")
            return ""
        if name not in origin.templates:
            text = f"{origin.reference.words} has no template {shown(name)}"
            place.wrong(text, "correct the name, or add the template there", Code.UNKNOWN_TEMPLATE)
            return ""
        self._names[key] = self._new_name(origin.reference, name)
        self._left.append((origin.templates[name], self._names[key], origin))
        return self._names[key]

    def _new_name(self, reference: Reference, name: str) -> str:
        """One that no template of the workflow has, whoever chose their names; the same for the same workflow."""
        stem = "".join(one for one in name[:_STEM] if one.isascii() and (one.isalnum() or one == "-")).strip("-")
        for number in count():
            mark = sha256(f"{reference.kind} {reference.name} {name} {number}".encode()).hexdigest()[:_MARK]
            if (made := f"{stem or 'template'}-{mark}") not in self._taken:
                break
        self._taken.add(made)
        return made


def _listed(field: Field) -> list[Field]:
    return field.items() if isinstance(field.value, list) else []


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_named(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str)


def _first_of_each(templates: Iterable[Field]) -> list[Field]:
    seen: set[str] = set()
    kept = []
    for one in templates:
        name = one.value["name"] if _is_named(one.value) else None
        if name is None or name not in seen:
            kept.append(one)
        if name is not None:
            seen.add(name)
    return kept
