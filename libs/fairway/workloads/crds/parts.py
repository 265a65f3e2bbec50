"""The pieces that schemas are made of: JSON Schema as a structural CRD has it, and rules in CEL."""

from typing import Any

from msgspec import Struct

Json = dict[str, Any]

# Kubernetes' own limits: a DNS subdomain, a DNS label, what a quantity may look like (no sign: none may be negative).
SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
LABEL = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"
QUANTITY = r"^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2}|[numkMGTPE]|[KMGTPE]i)?$"
ANYTHING: Json = {"x-kubernetes-preserve-unknown-fields": True}


def rule(expression: str, field: str, text: str, remedy: str) -> Json:
    """A condition that must hold, and what is said when it does not: the field, the cause, what to do."""
    return {"rule": expression, "message": f"{field} {text}; {remedy}"}


def unsupported(field: str, unless: str) -> Json:
    """A field of Karmada's or of ACK's that would run the job where or as Fairway does not."""
    return rule(unless, field, "is not supported", "remove it")


def obj(properties: Json, *rules: Json, required: tuple[str, ...] = (), about: str = "") -> Json:
    """An object that keeps what is not named here: to drop it would hide a typing error from the readers."""
    schema: Json = {"type": "object", **({"description": about} if about else {}), "properties": properties}
    if required:
        schema["required"] = list(required)
    if rules:
        schema["x-kubernetes-validations"] = list(rules)
    return {**schema, **ANYTHING}


def many(items: Json, most: int | None = None, about: str = "") -> Json:
    bound = {"maxItems": most} if most is not None else {}
    return {"type": "array", **({"description": about} if about else {}), **bound, "items": items}


def text(about: str = "", **limits: Any) -> Json:
    return {"type": "string", **({"description": about} if about else {}), **limits}


def whole(about: str = "", least: int = -(2**31), most: int = 2**31 - 1) -> Json:
    return {
        "type": "integer",
        "format": "int32" if most < 2**31 else "int64",
        **({"description": about} if about else {}),
        "minimum": least,
        "maximum": most,
    }


def flag(about: str = "") -> Json:
    return {"type": "boolean", **({"description": about} if about else {})}


def strings(about: str = "") -> Json:
    return {"type": "object", **({"description": about} if about else {}), "additionalProperties": {"type": "string"}}


def column(name: str, path: str, kind: str = "string", wide: bool = False) -> Json:
    return {"name": name, "type": kind, "jsonPath": path, **({"priority": 1} if wide else {})}


AGE = column("Age", ".metadata.creationTimestamp", "date")
READY = column("Ready", '.status.conditions[?(@.type=="Ready")].status')
WHY = column("Reason", '.status.conditions[?(@.type=="Ready")].message', wide=True)

CONDITIONS: Json = {
    **many(
        obj(
            {
                "type": text(),
                "status": text(enum=["True", "False", "Unknown"]),
                "reason": text(),
                "message": text(),
                "observedGeneration": whole(least=0, most=2**53 - 1),
                "lastTransitionTime": text(format="date-time"),
            },
            required=("type", "status"),
        ),
        about="What Fairway made of the object: Ready is True when it is in force, else the message says why not.",
    ),
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
}
STATUS = obj({"conditions": CONDITIONS})


class CrdKind(Struct, frozen=True, kw_only=True):
    """What a CRD says besides its schema. `status`: with the status subresource."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    short: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    status: bool = True
    columns: tuple[Json, ...] = (READY, AGE)


def crd(kind: CrdKind, about: str, properties: Json, *rules: Json, required: tuple[str, ...] = ()) -> Json:
    """The CustomResourceDefinition of one kind in one version; `properties` are those beside apiVersion, kind and
    metadata."""
    head = {"apiVersion": text(), "kind": text(), "metadata": {"type": "object"}}
    schema: Json = {"type": "object", "description": about, "properties": {**head, **properties}}
    if required:
        schema["required"] = list(required)
    if rules:
        schema["x-kubernetes-validations"] = list(rules)
    names: Json = {"kind": kind.kind, "listKind": f"{kind.kind}List", "plural": kind.plural}
    names |= {"singular": kind.kind.lower()}
    names |= {"shortNames": list(kind.short)} if kind.short else {}
    names |= {"categories": list(kind.categories)} if kind.categories else {}
    version: Json = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": list(kind.columns),
        "schema": {"openAPIV3Schema": schema},
        **({"subresources": {"status": {}}} if kind.status else {}),
    }
    metadata: Json = {"name": f"{kind.plural}.{kind.group}"}
    if kind.group.endswith(".k8s.io"):
        # The API server asks everybody for a word on this in groups of the Kubernetes project; these are older than it.
        metadata["annotations"] = {"api-approved.kubernetes.io": "unapproved, the objects of ACK and kube-queue"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {
            "group": kind.group,
            "names": names,
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [version],
        },
    }
