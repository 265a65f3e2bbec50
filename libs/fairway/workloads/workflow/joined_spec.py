"""The spec of a workflow with that of the template it is made from, as Argo 3.6 joins them (workflow/util/merge.go).

A strategic merge in which the workflow has the last word: mappings field by field, some lists entry by entry, hooks by
their names as a whole. What its encoder leaves out says nothing: an empty text or list, and what is false or 0 where
the type has no way to say that it is not given. `suspend` is the workflow's alone, and templates only the other's.
"""

from collections.abc import Iterator
from typing import Any

from fairway.workloads.reading.fields import Field, shown

Json = dict[str, Any]
# Lists that are merged, and what tells their entries apart (patchMergeKey in Argo's types and in those of Kubernetes).
_MERGED = {
    **dict.fromkeys(("volumes", "imagePullSecrets", "initContainers", "sidecars", "env", "tasks"), "name"),
    **dict.fromkeys(("parameters", "artifacts"), "name"),
    "tolerations": "key",
    "hostAliases": "ip",
    "ports": "containerPort",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
}
# An empty text is one: they are pointers, or a type of Argo's own.
_TEXTS = frozenset(("value", "default", "dnsPolicy", "storageClassName"))
# False or 0 is none: numbers and booleans that are no pointers.
_PLAIN = frozenset(
    (
        *("readOnly", "stdin", "stdinOnce", "tty", "deleted", "useSDKCreds", "forceFinalizerRemoval", "recurseMode"),
        *("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold", "hostPort"),
    )
)


def joined(own: Field, base: Json) -> Json:
    """`base` is the spec of the template. Problems are noted at the workflow's own fields."""
    if own["templates"].value:
        remedy = "give them to the template, or leave workflowTemplateRef out"
        own["templates"].wrong("stand beside workflowTemplateRef, which Argo does not take", remedy)
    if strange := next((key for key in _keys(own.value) if key.startswith("$")), ""):
        own.wrong(f"has a field {shown(strange)}, which says how to merge and nothing of a workflow", "remove it")
    wish = {key: value for key, value in own.value.items() if key not in ("workflowTemplateRef", "hooks", "suspend")}
    rest = {key: value for key, value in base.items() if key not in ("workflowTemplateRef", "hooks", "suspend")}
    made = _merged(Field(wish, own.problems, own.up, own.key), rest)
    hooks = {**_mapping(base.get("hooks")), **_mapping(own["hooks"].value)}
    if hooks:
        made["hooks"] = hooks
    if own["suspend"].given:
        made["suspend"] = own["suspend"].value
    return made


def _mapping(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _merged(own: Field, base: Json) -> Json:
    made = dict(base)
    for key, field in own.pairs():
        value = field.value
        other = base.get(key)
        if _unsaid(key, value) and other is not None:
            continue
        if isinstance(value, dict) and isinstance(other, dict):
            made[key] = _merged(field, other)
        elif key in _MERGED and isinstance(value, list) and isinstance(other, list):
            made[key] = _by_key(field, other, _MERGED[key])
        else:
            made[key] = value
    return made


def _unsaid(key: str, value: Any) -> bool:
    if value is None or value == []:
        return True
    if value == "":
        return key not in _TEXTS
    return key in _PLAIN and not value


def _by_key(own: Field, base: list[Any], name: str) -> list[Any]:
    made = list(base)
    for one in (*Field(base, own.problems, own.up, own.key).items(), *own.items()):
        if not isinstance(one.value, dict) or one.value.get(name) is None:
            one.wrong(
                f"has no {name}, by which Argo tells entries of both lists apart", "write all of them in one place"
            )
            return made
    known = _places(base, name)
    places = dict(known)
    for one in own.items():
        at = places.setdefault(_mark(one.value[name]), len(made))
        if at == len(made):
            made.append(one.value)
        else:
            made[at] = _merged(one, made[at])
    return _in_order(made, _places([one.value for one in own.items()], name), known, name)


def _places(entries: list[Json], name: str) -> dict[str, int]:
    """The first of each name."""
    return {_mark(one[name]): at for at, one in reversed(list(enumerate(entries)))}


def _in_order(made: list[Json], wished: dict[str, int], known: dict[str, int], name: str) -> list[Json]:
    """As the merge puts them: the workflow's own in its order, and each of the template's other ones before the first
    of these that it had behind it."""
    own = sorted((one for one in made if _mark(one[name]) in wished), key=lambda one: wished[_mark(one[name])])
    rest = [one for one in made if _mark(one[name]) not in wished]
    ordered = []
    while own and rest:
        place = known.get(_mark(own[0][name]))
        first = rest if place is not None and known[_mark(rest[0][name])] < place else own
        ordered.append(first.pop(0))
    return [*ordered, *own, *rest]


def _mark(value: Any) -> str:
    """1 is not true, and not "1"."""
    return f"{type(value).__name__} {value}"


def _keys(value: Any) -> Iterator[str]:
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            yield from one
            left.extend(one.values())
        elif isinstance(one, list):
            left.extend(one)
