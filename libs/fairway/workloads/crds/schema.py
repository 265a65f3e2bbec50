"""The pieces that schemas are made of: JSON Schema as a structural CRD has it, and rules in CEL."""

from typing import Any

Json = dict[str, Any]

# Kubernetes' own limits: a DNS subdomain, a DNS label, what a quantity may look like (no sign: none may be negative).
SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
LABEL = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
QUANTITY = r"^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2}|[numkMGTPE]|[KMGTPE]i)?$"
ANYTHING: Json = {"x-kubernetes-preserve-unknown-fields": True}


def _described(kind: str, about: str) -> Json:
    return {"type": kind, **({"description": about} if about else {})}


def rule(expression: str, field: str, text: str, remedy: str) -> Json:
    """A condition that must hold, and what is said when it does not: the field, the cause, what to do."""
    return {"rule": expression, "message": f"{field} {text}; {remedy}"}


def unsupported(field: str, unless: str) -> Json:
    """A field of Karmada's or of ACK's that would run the job where or as Fairway does not."""
    return rule(unless, field, "is not supported", "remove it")


def obj(properties: Json, *rules: Json, required: tuple[str, ...] = (), about: str = "") -> Json:
    """An object that keeps what is not named here: to drop it would hide a typing error from the readers."""
    return {**closed(properties, *rules, required=required, about=about), **ANYTHING}


def closed(properties: Json, *rules: Json, required: tuple[str, ...] = (), about: str = "") -> Json:
    """An object of which an API server keeps what is named here."""
    schema = {**_described("object", about), "properties": properties}
    if required:
        schema["required"] = list(required)
    if rules:
        schema["x-kubernetes-validations"] = list(rules)
    return schema


def many(items: Json, most: int | None = None, about: str = "") -> Json:
    bound = {"maxItems": most} if most is not None else {}
    return {**_described("array", about), **bound, "items": items}


def text(about: str = "", **limits: Any) -> Json:
    return {**_described("string", about), **limits}


def whole(about: str = "", least: int = -(2**31), most: int = 2**31 - 1) -> Json:
    kind = {"type": "integer", "format": "int32" if most < 2**31 else "int64"}
    return {**kind, **_described("integer", about), "minimum": least, "maximum": most}


def flag(about: str = "") -> Json:
    return _described("boolean", about)


def strings(about: str = "") -> Json:
    return {**_described("object", about), "additionalProperties": {"type": "string"}}
