"""A CustomResourceDefinition around a schema, and what those of Fairway have alike."""

from msgspec import Struct

from fairway.workloads.crds.schema import Json, closed, many, obj, rule, text, whole


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


# A label can hold it, and so can a subject.
SHORT_NAME = rule("size(self.metadata.name) <= 63", "metadata.name", "has more than 63 characters", "shorten it to 63")


class CrdKind(Struct, frozen=True, kw_only=True):
    """What a CRD says besides the schema of its spec. `subresource`: its status is one; `required`: of its fields."""

    api_version: str
    kind: str
    plural: str
    about: str
    columns: tuple[Json, ...]
    namespaced: bool = True
    short: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresource: bool = True
    required: tuple[str, ...] = ("spec",)


def crd(kind: CrdKind, spec: Json, *rules: Json, status: Json = STATUS) -> Json:
    """The CustomResourceDefinition of one kind in one version."""
    head = {"apiVersion": text(), "kind": text(), "metadata": {"type": "object"}}
    schema = closed({**head, "spec": spec, "status": status}, *rules, required=kind.required, about=kind.about)
    group, _, version = kind.api_version.partition("/")
    names: Json = {"kind": kind.kind, "listKind": f"{kind.kind}List", "plural": kind.plural}
    names["singular"] = kind.kind.lower()
    names |= {"shortNames": list(kind.short)} if kind.short else {}
    names |= {"categories": list(kind.categories)} if kind.categories else {}
    served: Json = {
        "name": version,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": list(kind.columns),
        "schema": {"openAPIV3Schema": schema},
        **({"subresources": {"status": {}}} if kind.subresource else {}),
    }
    metadata: Json = {"name": f"{kind.plural}.{group}"}
    if group.endswith(".k8s.io"):
        # The API server asks everybody for a word on this in groups of the Kubernetes project; these are older than it.
        metadata["annotations"] = {"api-approved.kubernetes.io": "unapproved, the objects of ACK and kube-queue"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {
            "group": group,
            "names": names,
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [served],
        },
    }
