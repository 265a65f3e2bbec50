"""Expressions (CEL) that several policies of a member are made of."""

from fairway.domain.tenancy.profile import TENANT_LABEL
from fairway.workloads.reading.names import OURS
from fairway.workloads.seal import SEAL

ALL = ("CREATE", "UPDATE", "DELETE")


# An expression that has to hold, and one that says why not.
Validation = tuple[str, str]


CREATES, UPDATES, DELETES = (f"request.operation != '{one}'" for one in ALL)


TENANTS = f"namespaceObject.metadata.?labels[?'{TENANT_LABEL}'].orValue('') == namespaceObject.metadata.name"


NO_TENANT = (
    f"'namespace ' + request.namespace + ' is not Fairway\\'s: it has no label {TENANT_LABEL}: ' + request.namespace + "
    "'; an administrator gives it with fairway join NAME --renew --adopt-namespaces ' + request.namespace"
)


def sealed(label: str, labels: str = "labels", notes: str = "notes") -> str:
    """It has the label and a seal. A member cannot verify a seal, only see that there is one: the propagator and the
    watcher verify it."""
    return f"'{label}' in variables.{labels} && variables.{notes}[?'{SEAL}'].orValue('') != ''"


def ours(label: str) -> str:
    """What is there has one of Fairway's marks: somebody may have taken the other away."""
    return f"('{label}' in variables.before || '{SEAL}' in variables.notesBefore)"


# What is Fairway's own of an object's metadata may change; everything else stays.
METADATA: tuple[Validation, ...] = (
    *(
        (
            f"{UPDATES} || (variables.{new}.all(k, k.startsWith('{OURS}') || "
            f"(k in variables.{old} && variables.{old}[k] == variables.{new}[k])) && "
            f"variables.{old}.all(k, k.startsWith('{OURS}') || k in variables.{new}))",
            f"'Fairway may change no {what} but its own, {OURS}...'",
        )
        for what, new, old in (("label", "labels", "before"), ("annotation", "notes", "notesBefore"))
    ),
    (
        f"{UPDATES} || (object.metadata.?ownerReferences == oldObject.metadata.?ownerReferences && "
        "object.metadata.?finalizers == oldObject.metadata.?finalizers)",
        "'Fairway may change neither owners nor finalizers'",
    ),
)
