"""The policy of companions: of ConfigMaps, Secrets, service accounts and claims, and of what jobs are not whole
without, Fairway makes, changes and deletes none but its own, which go with a job, and none by which its account would
come to rights that it was not given."""

from collections.abc import Iterable

from fairway.join.policy_parts import CREATES, METADATA, NO_TENANT, TENANTS, UPDATES, Validation, ours, sealed
from fairway.workloads.companions.sent import ANCHOR_PREFIX, COMPANION_LABEL, KEPT_LABELS, TOKENS
from fairway.workloads.reading.names import OURS
from fairway.workloads.seal import SEAL

RESOURCES = ("configmaps", "secrets", "serviceaccounts", "persistentvolumeclaims")
# Every API server gives it to every claim before policies are asked.
_CLAIMS_OWN = "kubernetes.io/pvc-protection"
_GOES = "request.operation == 'DELETE'"
_IS = "request.resource.resource"
_ANCHOR = f"variables.labels[?'{COMPANION_LABEL}'].orValue('') == 'anchor'"
_OWNERS = "object.metadata.?ownerReferences.orValue([])"

_METADATA: tuple[Validation, ...] = (
    (
        f"{CREATES} || (variables.labels.all(k, k.startsWith('{OURS}') || k in {list(KEPT_LABELS)}) && "
        f"object.metadata.?finalizers.orValue([]).all(f, f == '{_CLAIMS_OWN}'))",
        "'a companion has no labels but those that Fairway gives it, and no finalizers'",
    ),
    *METADATA[:-1],
    (
        f"{UPDATES} || object.metadata.?finalizers == oldObject.metadata.?finalizers",
        "'Fairway changes no finalizers'",
    ),
)


def companions(parts: Iterable[str]) -> list[Validation]:
    """`parts` are the resources without which jobs of some kinds are not whole."""
    owned = f"size({_OWNERS}) > 0 && {_OWNERS}.all(o, o.kind == 'ConfigMap' && o.name.startsWith('{ANCHOR_PREFIX}'))"
    anchor = f"{_IS} == 'configmaps' && object.metadata.name.startsWith('{ANCHOR_PREFIX}') && !has(object.data)"
    return [
        (TENANTS, NO_TENANT),
        (
            f"{_GOES} || ({sealed(COMPANION_LABEL)})",
            f"'what Fairway sends along has the label {COMPANION_LABEL} and the annotation {SEAL}'",
        ),
        (f"request.operation == 'CREATE' || {ours(COMPANION_LABEL)}", "'not a companion that Fairway sent'"),
        (
            f"{_GOES} || ({_ANCHOR} ? ({anchor}) : ({owned}))",
            f"'a companion goes with its attempt: it is owned by a ConfigMap {ANCHOR_PREFIX}..., which holds nothing'",
        ),
        # An API server fills such a Secret with a token of the account that it names.
        (
            f"{_GOES} || {_IS} != 'secrets' || !(object.?type.orValue('') in {list(TOKENS)})",
            "'Fairway makes no Secret that is filled with a token'",
        ),
        (
            f"{_GOES} || {_IS} != 'serviceaccounts' || (object.?automountServiceAccountToken.orValue(true) == false && "
            "size(object.?secrets.orValue([])) == 0)",
            "'a service account that Fairway makes gives its pods no token'",
        ),
        (
            f"{CREATES} || {_IS} != 'persistentvolumeclaims' || !has(object.spec.volumeName)",
            "'Fairway claims no volume by its name'",
        ),
        *_parts(list(parts)),
        *_METADATA,
    ]


def _parts(resources: list[str]) -> list[Validation]:
    """Such an object of another name, or one that says something else by now, may be what others' jobs run."""
    other = f"!({_IS} in {resources})"
    return [
        (
            f"{CREATES} || {other} || object.metadata.name.startsWith('{ANCHOR_PREFIX}')",
            f"'what Fairway makes with a job is called {ANCHOR_PREFIX}...'",
        ),
        (f"{UPDATES} || {other} || object.?spec == oldObject.?spec", "'what was made with a job stays as it was made'"),
    ]
