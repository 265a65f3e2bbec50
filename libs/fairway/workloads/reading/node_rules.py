"""Which nodes a pod may use: selector, required affinity, tolerations.

Read are nodeSelector, required nodeAffinity, tolerations and nodeName. Preferences, pod affinity and topology
spread are left to the member's own scheduler.
"""

import re

from fairway.wire.workload import Expression, Toleration
from fairway.workloads.reading.fields import Field, shown
from fairway.workloads.reading.names import is_label_key, is_label_value

Terms = tuple[tuple[Expression, ...], ...]
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_OPERATORS = {
    "In": "values",
    "NotIn": "values",
    "Exists": "",
    "DoesNotExist": "",
    "Gt": "number",
    "Lt": "number",
}


def read_selector(field: Field) -> dict[str, str]:
    """nodeSelector: a mapping of labels that the node must carry."""
    selector = field.strings()
    for key, value in selector.items():
        if "{{" in key + value:
            field[key].wrong("is filled in only at run time, too late to choose a cluster", "write the label out")
        elif not is_label_key(key) or not is_label_value(value):
            field[key].wrong(f"{shown(key)}: {shown(value)} is no label a node can carry", "check its spelling")
    return selector


def read_terms(affinity: Field, node_name: Field) -> Terms:
    """Required node affinity, any one term of which must match; a nodeName narrows every term."""
    required = affinity.at("nodeAffinity", _REQUIRED)
    terms: list[tuple[Expression, ...]] = []
    for term in required["nodeSelectorTerms"].items():
        labels = tuple(read_expression(entry) for entry in term["matchExpressions"].items())
        fields = tuple(read_expression(entry, field=True) for entry in term["matchFields"].items())
        if labels or fields:  # an empty term matches no node: core/v1 NodeSelectorTerm
            terms.append(labels + fields)
    if required.given and not terms:
        required["nodeSelectorTerms"].wrong("has no term with an expression, so it matches no node", "add one")
    if name := node_name.text():
        pinned = Expression(key="metadata.name", operator="In", values=(name,), field=True)
        return tuple((*term, pinned) for term in terms) or ((pinned,),)
    return tuple(terms)


def read_expression(entry: Field, field: bool = False) -> Expression:
    """One matchExpressions (or matchFields) entry, with the number of values its operator takes."""
    key = entry["key"].text()
    operator = entry["operator"].text()
    values = entry["values"].texts()
    if not key or not (field or is_label_key(key)):
        entry["key"].wrong(f"is {shown(entry['key'].value)}, not a label key", "name the label to compare")
    elif field and key != "metadata.name":
        entry["key"].wrong(f"is {shown(key)}; the only field is metadata.name", "use metadata.name")
    takes = _OPERATORS.get(operator)
    if takes is None or (field and operator not in ("In", "NotIn")):
        entry["operator"].wrong(
            f"is {shown(entry['operator'].value)}",
            f"use one of {', '.join(('In', 'NotIn') if field else _OPERATORS)}",
        )
    elif takes == "" and values:
        entry["values"].wrong(f"{operator} takes no values", "remove the values")
    elif takes == "values" and not values:
        entry["values"].wrong(f"{operator} needs at least one value", "add a value")
    elif takes == "number" and not (len(values) == 1 and _NUMBER.fullmatch(values[0])):
        entry["values"].wrong(f"{operator} needs one whole number", "write one number, in quotes")
    return Expression(key=key, operator=operator, values=values, field=field)


def read_tolerations(field: Field) -> tuple[Toleration, ...]:
    """Tolerations of a pod, or of a policy (clusterTolerations): the same four fields."""
    found = []
    for entry in field.items():
        operator = entry["operator"].choice("Equal", "Exists", "")
        key = entry["key"].text()
        value = entry["value"].text()
        effect = entry["effect"].choice("", "NoSchedule", "PreferNoSchedule", "NoExecute")
        if not key and operator != "Exists":
            entry["key"].wrong("is empty", "name the taint, or set operator: Exists to tolerate every taint")
        if value and operator == "Exists":
            entry["value"].wrong("Exists takes no value", "remove the value, or use operator: Equal")
        found.append(Toleration(key=key, operator=operator or "Equal", value=value, effect=effect))
    return tuple(found)
