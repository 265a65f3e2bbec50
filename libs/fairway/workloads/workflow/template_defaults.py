"""templateDefaults of an Argo workflow: what its controller merges into every template before it runs it, with those
written inside steps (3.6, mergedTemplateDefaultsInto): a strategic merge, in which the template has the last word.

A template stays what it is, a container for one, only where Argo clears the other types away. Steps and tasks that
were merged in would run templates that stand in no list, so they are refused.
"""

from typing import Any

from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import Field

# What a template may be. Argo clears `_CLEARED` away where a template is another one of `_CLEARED`.
_CLEARED = frozenset(("container", "data", "dag", "resource", "script", "steps", "suspend"))
_KEPT = ("containerSet", "http", "plugin")
# Lists whose entries are told apart by their name.
_NAMED = frozenset(("initContainers", "sidecars"))


def with_defaults(template: Field, defaults: Field) -> Field:
    """A template as Argo runs it."""
    own = template.value
    more = defaults.value
    if not isinstance(own, dict) or not isinstance(more, dict):
        return template
    if _CLEARED & own.keys():
        more = {key: value for key, value in more.items() if key not in _CLEARED or key in own}
    return Field(_merged(own, more), template.problems, template.up, template.key)


def _merged(own: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    made = dict(more)
    for key, value in own.items():
        other = more.get(key)
        if isinstance(value, dict) and isinstance(other, dict):
            made[key] = _merged(value, other)
        elif key in _NAMED and isinstance(value, list) and isinstance(other, list):
            made[key] = _by_name(value, other)
        elif value is not None:
            made[key] = value
    return made


def _by_name(own: list[Any], more: list[Any]) -> list[Any]:
    known = {one.get("name"): one for one in more if isinstance(one, dict) and isinstance(one.get("name"), str)}
    made = []
    for one in own:
        name = one.get("name") if isinstance(one, dict) else None
        made.append(_merged(one, known.pop(name)) if isinstance(name, str) and name in known else one)
    return [*made, *known.values()]


def check_defaults(defaults: Field, ruling: Ruling) -> None:
    for key in ("steps", "dag"):
        if defaults[key].given:
            text = "is merged into other templates, so that pods would run which stand in none of them"
            ruling.never(PodView(defaults[key]), text, "write it in the templates that run it")
    for key in _KEPT:
        if defaults[key].given:
            text = "makes something else of every template it is merged into"
            ruling.never(PodView(defaults[key]), text, "write it in the templates that are one")
