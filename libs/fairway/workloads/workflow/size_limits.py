"""How much one Argo workflow may be, and its templates and steps one by one.

A text of a mebibyte has room for 350,000 empty templates, and each is looked at several times: so what costs a look is
counted before anything else is read. The largest of Argo's own examples has 9 templates with 13 steps; generated ones
have some hundreds.
"""

from collections import deque
from collections.abc import Iterator

from fairway.wire.reasons import Code
from fairway.workloads.reading.fields import Field
from fairway.workloads.reading.parse import LARGEST_TEXT
from fairway.workloads.reading.pods import MOST_CONTAINERS

# Each with those that are written inside steps.
MOST_TEMPLATES = 1_000
# Of steps and of DAGs, as they are written, not as often as they run.
MOST_STEPS = 5_000
# Of all templates together, with those that templateDefaults add to each.
MOST_IN_ALL = 5_000
_LISTS = (("initContainers",), ("sidecars",), ("containerSet", "containers"))


def templates(spec: Field) -> Iterator[Field]:
    """Those of the workflow and those written inside steps."""
    left = deque(spec["templates"].items())
    while left:
        template = left.popleft()
        yield template
        left += [step["inline"] for step in steps(template) if step["inline"].given]


def steps(template: Field) -> Iterator[Field]:
    """Of a template that runs others."""
    for group in template["steps"].items():
        yield from group_of(group)
    yield from template["dag"]["tasks"].items()


def group_of(group: Field) -> list[Field]:
    """The parallel steps of one group; Argo takes a single step without its list."""
    return [group] if isinstance(group.value, dict) else group.items()


def check_bounds(spec: Field) -> None:
    """Raises Refused where there is more than one workflow may have: then nothing more of it is read."""
    number = step_count = container_count = 0
    defaults = spec["templateDefaults"]
    of_defaults = _containers(defaults)
    for template in templates(spec):
        number += 1
        step_count += sum(1 for _ in steps(template))
        container_count += of_defaults + _containers(template)
        if number > MOST_TEMPLATES:
            remedy = f"use at most {MOST_TEMPLATES}; templates that are nearly alike can be one with a parameter"
            _stop(spec["templates"], f"are more than {MOST_TEMPLATES} with those written inside steps", remedy)
        if step_count > MOST_STEPS:
            remedy = f"use at most {MOST_STEPS}; withItems and withParam repeat a step"
            _stop(spec["templates"], f"have more than {MOST_STEPS} steps and tasks", remedy)
        if container_count > MOST_IN_ALL:
            text = f"have more than {MOST_IN_ALL} containers with those of templateDefaults"
            _stop(spec["templates"], text, f"use at most {MOST_IN_ALL}, or several workflows")
    # They are merged once for each template, and may be no more then than if they were written there.
    if defaults.given and (1 + number) * len(str(defaults.value)) > LARGEST_TEXT:
        _stop(defaults, "is too much for so many templates", "write it where it is used")


def _containers(template: Field) -> int:
    """How many are listed; one of `container` or `script` costs no more than its template."""
    known = template.mapping()
    return sum(len(template.at(*way).items(MOST_CONTAINERS)) for way in _LISTS if way[0] in known)


def _stop(field: Field, text: str, remedy: str) -> None:
    field.wrong(text, remedy, Code.TOO_LARGE)
    field.problems.stop()
