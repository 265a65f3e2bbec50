"""How many pods of which template an Argo workflow may run at once.

A step group or a level of a DAG (tasks at the same depth of dependencies) runs together; groups run one after
another. A step with withItems, a literal withParam or a literal withSequence counts once per item; with a withParam
that is filled in at run time once, as nobody knows its items before. A template that reaches itself counts nothing the
second time. `wave` of a composite is its heaviest group; parallelism of a template or of the workflow cuts it.
templateDefaults and literal podSpecPatches are read. Not read: daemon steps that outlive their group, exit handlers and
hooks, podSpecPatches that are filled in at run time (which only a privileged namespace may have).
"""

import json
from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

from fairway.domain.resources import Resources, add
from fairway.domain.text.digits import is_whole
from fairway.wire.workload import PodSet
from fairway.workloads.reading.fields import Field, shown
from fairway.workloads.reading.node_rules import read_selector, read_terms, read_tolerations
from fairway.workloads.reading.pods import MOST_PODS
from fairway.workloads.workflow.pod_requests import template_requests
from fairway.workloads.workflow.size_limits import group_of
from fairway.workloads.workflow.template_defaults import with_defaults

# Deeper nesting of templates than any real workflow; a bound on the work a hostile one can cause.
_DEEPEST = 40


def weight(requests: Resources) -> tuple[int, int, int]:
    """What makes one amount heavier than another: accelerators, then cpu, then memory."""
    devices = sum(amount for name, amount in requests.items() if "/" in name)
    return devices, requests.get("cpu", 0), requests.get("memory", 0)


class Wave(NamedTuple):
    """Pods that run at once, by the names of their templates; how many these are and what they request together."""

    pods: Counter[str]
    total: int
    requests: Resources


_NOTHING = Wave(Counter(), 0, {})


class Templates:
    """The templates of one workflow by name; the ones of single pods already sized."""

    def __init__(self, spec: Field, sized: bool) -> None:
        self.spec = spec
        self.sized = sized  # the size stands in an annotation, so a template that lies elsewhere is no problem
        self.defaults = spec["templateDefaults"]
        self.by_name = {one["name"].text(): with_defaults(one, self.defaults) for one in spec["templates"].items()}
        self._waves: dict[str, Wave] = {}
        self._sets: dict[str, PodSet] = {}
        self._inline: dict[str, str] = {}  # by path
        self._numbers = count()
        if spec["workflowTemplateRef"].given and not sized:
            _elsewhere(spec["workflowTemplateRef"])

    def wave(self, entrypoint: Field, parallelism: int) -> list[tuple[str, int]]:
        """(template, pods at once) of the heaviest wave, the heaviest template first."""
        if self.spec["workflowTemplateRef"].given:
            return []
        self._named(entrypoint)
        found = self._cut(self._of(entrypoint.text(), ()), parallelism)
        return self._ordered(found.pods)

    def pod_set(self, name: str, count: int) -> PodSet:
        """`count` pods of a template that runs one pod."""
        if name not in self._sets:
            self._sets[name] = self._read(name)
        one = self._sets[name]
        return PodSet(name, count, one.requests, one.node_selector, one.node_terms, one.tolerations)

    def _read(self, name: str) -> PodSet:
        template = self.by_name[name]
        spec = self.spec
        affinity = template["affinity"] if template["affinity"].given else spec["affinity"]
        tolerations = template["tolerations"] if template["tolerations"].given else spec["tolerations"]
        return PodSet(
            name=name,
            count=1,
            requests=template_requests(template, (spec["podSpecPatch"], template["podSpecPatch"])),
            node_selector={**read_selector(spec["nodeSelector"]), **read_selector(template["nodeSelector"])},
            node_terms=read_terms(affinity, Field(None, spec.problems)),
            tolerations=read_tolerations(tolerations),
        )

    def _of(self, name: str, above: tuple[str, ...]) -> Wave:
        """The heaviest wave of one template."""
        template = self.by_name.get(name)
        if template is None or name in above:
            return _NOTHING
        if len(above) >= _DEEPEST:
            template.wrong(f"is nested deeper than {_DEEPEST} templates", "flatten the workflow")
            return _NOTHING
        if name not in self._waves:
            self._waves[name] = self._count(name, template, (*above, name))
        return self._waves[name]

    def _count(self, name: str, template: Field, above: tuple[str, ...]) -> Wave:
        if template["steps"].given:
            groups = [group_of(group) for group in template["steps"].items()]
        elif template["dag"].given:
            groups = levels(template["dag"]["tasks"].items())
        elif template["suspend"].given:
            return _NOTHING
        else:
            return self._wave(Counter({name: 1}))
        runs = [self._runs(group, above) for group in groups]
        return self._cut(self._together(max(runs, key=_weight, default=[])), template["parallelism"].whole(0))

    def _runs(self, group: Sequence[Field], above: tuple[str, ...]) -> list[tuple[Wave, int]]:
        """What a group of steps runs at once: each template once, and how often."""
        repeats: Counter[str] = Counter()
        for step in group:
            repeats[self._target(step)] += times(step)
        return [(self._of(name, above), often) for name, often in repeats.items()]

    def _together(self, runs: Sequence[tuple[Wave, int]]) -> Wave:
        pods: Counter[str] = Counter()
        for wave, often in runs:
            for name, number in wave.pods.items():
                pods[name] = min(pods[name] + number * often, MOST_PODS)
        return self._wave(pods)

    def _target(self, step: Field) -> str:
        """The template a step runs; one written inline gets a name of its own."""
        if step["templateRef"].given:
            if not self.sized:
                _elsewhere(step["templateRef"])
            return ""
        if step["inline"].given:
            path = step["inline"].path
            if path not in self._inline:
                self._inline[path] = self._free_name()
                self.by_name[self._inline[path]] = with_defaults(step["inline"], self.defaults)
            return self._inline[path]
        self._named(step["template"])
        return step["template"].text()

    def _free_name(self) -> str:
        """Of a template written inline: one that no other template has."""
        return next(name for number in self._numbers if (name := f"inline-{number}") not in self.by_name)

    def _named(self, field: Field) -> None:
        if field.text() not in self.by_name and "{{" not in field.text():
            field.wrong(f"{shown(field.value)} is not a template of this workflow", "correct the name or add it")

    def _ordered(self, wave: Counter[str]) -> list[tuple[str, int]]:
        by_name = sorted(wave.items())
        return sorted(by_name, key=lambda one: weight(self.pod_set(one[0], 1).requests), reverse=True)

    def _wave(self, pods: Counter[str]) -> Wave:
        requests: Resources = {}
        for name, number in pods.items():
            requests = add(requests, self.pod_set(name, 1).requests, number)
        return Wave(pods, pods.total(), requests)

    def _cut(self, wave: Wave, most: int) -> Wave:
        """At most `most` pods (0: no bound), the heaviest kept."""
        if not most or wave.total <= most:
            return wave
        kept: Counter[str] = Counter()
        left = most
        for name, number in self._ordered(wave.pods):
            kept[name] = min(number, left)
            left -= kept[name]
        return self._wave(+kept)


def _weight(runs: Sequence[tuple[Wave, int]]) -> tuple[tuple[int, int, int], int]:
    requests: Resources = {}
    for wave, often in runs:
        requests = add(requests, wave.requests, often)
    return weight(requests), sum(wave.total * often for wave, often in runs)


def levels(tasks: list[Field]) -> list[list[Field]]:
    """The tasks of a DAG by depth, those without dependencies first: tasks of one depth may run together."""
    by_name = {task["name"].text(): task for task in tasks}
    open_needs = {name: _needs(task, by_name) for name, task in by_name.items()}
    waits_for_me: dict[str, list[str]] = {name: [] for name in by_name}
    for name, needs in open_needs.items():
        for one in sorted(needs):
            waits_for_me[one].append(name)
    found: list[list[Field]] = []
    ready = [name for name, needs in open_needs.items() if not needs]
    while ready:
        found.append([by_name[name] for name in ready])
        following = []
        for name in ready:
            for waiting in waits_for_me[name]:
                open_needs[waiting].discard(name)
                if not open_needs[waiting]:
                    following.append(waiting)
        ready = following
    for name, needs in open_needs.items():
        if needs:
            by_name[name].wrong("waits for itself through its dependencies", "break the circle")
    return found


def _needs(task: Field, names: dict[str, Field]) -> set[str]:
    """The tasks that must be done before: `dependencies`, or the names in the expression `depends`."""
    words = task["depends"].text().replace("!", " ").replace("(", " ").replace(")", " ").replace("&&", " ")
    named = [word.split(".")[0] for word in words.replace("||", " ").split()]
    return {name for name in (*task["dependencies"].texts(), *named) if name in names}


def times(step: Field) -> int:
    """How often a step or task runs at once."""
    if step["withItems"].given:
        return len(step["withItems"].value) if isinstance(step["withItems"].value, list) else 1
    if step["withParam"].given:
        return _listed(step["withParam"].value)
    sequence = step["withSequence"]
    if sequence["count"].given:
        return min(_number(sequence["count"], 1), MOST_PODS)
    if sequence["end"].given:
        return min(abs(_number(sequence["end"], 0) - _number(sequence["start"], 0)) + 1, MOST_PODS)
    return 1


def _listed(text: object) -> int:
    """The length of a list written as JSON; 1 where it is known only at run time."""
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return 1
    return len(found) if isinstance(found, list) else 1


def _number(field: Field, default: int) -> int:
    """A number that may be text or an expression known only at run time; whatever is too long is more than enough."""
    text = str(field.value)
    if not is_whole(text, len(text)):
        return default
    return int(text) if len(text) < 10 else MOST_PODS


def _elsewhere(field: Field) -> None:
    field.wrong(
        f"names the template {shown(field['name'].value)}, which is not here, so its pods are unknown",
        "apply both on the hub, or submit them in one file: then it is copied into the workflow",
    )
