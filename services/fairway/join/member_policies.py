"""What RBAC cannot say of Fairway's account in a member, as ValidatingAdmissionPolicies: which namespaces and fields,
and whose objects. They are applied at the join, bind that one account, and are of no concern to anybody else.

Whoever holds the account's token has its rights, so each rule is written against a thief: RBAC says what may be done at
all, and these say to what.
"""

from typing import Any

from fairway.adapters.kubernetes.namespaces import ACCOUNT, HOME, TENANT_ROLE
from fairway.domain.tenancy.member_namespace import LEVEL_LABEL
from fairway.domain.tenancy.profile import LEVELS, TENANT_LABEL
from fairway.propagator.held_room import LONGEST_S
from fairway.workloads.member_copy import HOLD_LABEL, JOB_LABEL, PLACEHOLDER_LABEL
from fairway.workloads.reading.names import OURS

# A member cannot verify a seal, only see that there is one: the propagator and the watcher verify it.
from fairway.workloads.seal import SEAL

Json = dict[str, Any]
USER = f"system:serviceaccount:{HOME}:{ACCOUNT}"
PREFIX = "fairway-member"
_GROUP = "admissionregistration.k8s.io"
_HIGHEST = 1_000_000_000
_ALL = ("CREATE", "UPDATE", "DELETE")
# An expression that has to hold, and one that says why not.
Validation = tuple[str, str]

_VARIABLES = {
    "labels": "object == null ? {} : object.metadata.?labels.orValue({})",
    "before": "oldObject == null ? {} : oldObject.metadata.?labels.orValue({})",
    "notes": "object == null ? {} : object.metadata.?annotations.orValue({})",
    "notesBefore": "oldObject == null ? {} : oldObject.metadata.?annotations.orValue({})",
}
_CREATES, _UPDATES, _DELETES = (f"request.operation != '{one}'" for one in _ALL)
_TENANTS = f"namespaceObject.metadata.?labels[?'{TENANT_LABEL}'].orValue('') == namespaceObject.metadata.name"
_NO_TENANT = (
    f"'namespace ' + request.namespace + ' is not Fairway\\'s: it has no label {TENANT_LABEL}: ' + request.namespace + "
    "'; an administrator gives it with fairway join NAME --renew --adopt-namespaces ' + request.namespace"
)
# What is Fairway's own of an object's metadata may change; everything else stays.
_METADATA: tuple[Validation, ...] = (
    *((
        f"{_UPDATES} || (variables.{new}.all(k, k.startsWith('{OURS}') || "
        f"(k in variables.{old} && variables.{old}[k] == variables.{new}[k])) && "
        f"variables.{old}.all(k, k.startsWith('{OURS}') || k in variables.{new}))",
        f"'Fairway may change no {what} but its own, {OURS}...'",
    ) for what, new, old in (("label", "labels", "before"), ("annotation", "notes", "notesBefore"))),
    (f"{_UPDATES} || (object.metadata.?ownerReferences == oldObject.metadata.?ownerReferences && "
     "object.metadata.?finalizers == oldObject.metadata.?finalizers)",
     "'Fairway may change neither owners nor finalizers'"),
)  # fmt: skip


def policies(kinds: dict[str, tuple[str, ...]], level: str, image: str) -> list[Json]:
    """`kinds` are the resources of jobs by API group; `level` is the highest of Pod Security that Fairway may give a
    namespace, and `image` the one that placeholders run."""
    return [
        *_policy("namespaces", [_rule("", ("namespaces",), "CREATE", "UPDATE")], _namespaces(level)),
        *_policy("bindings", [_rule("rbac.authorization.k8s.io", ("rolebindings",), "CREATE", "UPDATE")], _bindings()),
        *_policy("jobs", [_rule(group, found, *_ALL) for group, found in kinds.items()], _jobs()),
        *_policy("pods", [_rule("", ("pods", "pods/status"), *_ALL)], _pods(image)),
        *_policy("classes", [_rule("scheduling.k8s.io", ("priorityclasses",), "CREATE", "UPDATE")], _classes()),
        *_policy("reservations", [_rule("scheduling.koordinator.sh", ("reservations",), *_ALL)], _reservations()),
    ]  # fmt: skip


def _namespaces(level: str) -> list[Validation]:
    known = [TENANT_LABEL, LEVEL_LABEL, "kubernetes.io/metadata.name"]
    allowed = list(LEVELS[: LEVELS.index(level) + 1])
    found = f"variables.labels[?'{LEVEL_LABEL}'].orValue('')"
    return [
        (f"!object.metadata.name.startsWith('kube-') && object.metadata.name != '{HOME}'",
         "'namespace ' + object.metadata.name + ' is the system\\'s'"),
        (f"variables.labels[?'{TENANT_LABEL}'].orValue('') == object.metadata.name",
         f"'a namespace that Fairway makes has the label {TENANT_LABEL}: ' + object.metadata.name"),
        (f"{_UPDATES} || variables.before[?'{TENANT_LABEL}'].orValue('') == object.metadata.name",
         "'namespace ' + object.metadata.name + ' is not Fairway\\'s to change'"),
        # Other labels switch off the rules of other people: webhooks, policies, quotas.
        (f"variables.labels.all(k, k in {known} || variables.before[?k].orValue('') == variables.labels[k]) && "
         "variables.before.all(k, k in variables.labels)",
         "'Fairway sets the labels of tenant and Pod Security, and no others'"),
        (f"{found} in {allowed}",
         f"'Pod Security ' + {found} + ' is not one of {', '.join(allowed)}: an administrator allows more with "
         "fairway join NAME --renew --max-pod-security LEVEL'"),
        ("variables.notes == variables.notesBefore && (oldObject == null ? !has(object.metadata.finalizers) : "
         "object.metadata.?finalizers == oldObject.metadata.?finalizers) && !has(object.metadata.ownerReferences)",
         "'Fairway changes nothing but labels of a namespace'"),
    ]  # fmt: skip


def _bindings() -> list[Validation]:
    ref = f"object.roleRef.kind == 'ClusterRole' && object.roleRef.name == '{TENANT_ROLE}'"
    subject = f"object.subjects.all(s, s.kind == 'ServiceAccount' && s.name == '{ACCOUNT}' && s.namespace == '{HOME}')"
    return [
        (_TENANTS, _NO_TENANT),
        (f"{ref} && size(object.?subjects.orValue([])) == 1 && {subject}",
         f"'Fairway binds itself to ClusterRole {TENANT_ROLE}, and nobody to nothing else'"),
    ]  # fmt: skip


def _jobs() -> list[Validation]:
    ours = f"('{JOB_LABEL}' in variables.before || '{SEAL}' in variables.notesBefore)"
    return [
        (_TENANTS, _NO_TENANT),
        (f"{_CREATES} || ('{JOB_LABEL}' in variables.labels && variables.notes[?'{SEAL}'].orValue('') != '')",
         f"'what Fairway applies has the label {JOB_LABEL} and the annotation {SEAL}'"),
        (f"request.operation == 'CREATE' || {ours}", "'not an object of Fairway\\'s'"),
        (f"{_UPDATES} || object.?spec == oldObject.?spec", "'Fairway changes no spec of what was applied'"),
        # A kind without a status subresource (Argo's Workflow) has its status in what may be created and patched.
        (f"({_CREATES} || size(object.?status.orValue({{}})) == 0) && "
         f"({_UPDATES} || object.?status == oldObject.?status)",
         "'how a job goes is said in its status by others, and not by Fairway'"),
        *_METADATA,
    ]  # fmt: skip


def _pods(image: str) -> list[Validation]:
    # A pod that waits behind a gate may be changed in more ways than one that runs: these are the others.
    frozen = ("containers", "initContainers", "ephemeralContainers", "tolerations", "nodeSelector", "affinity",
              "activeDeadlineSeconds", "terminationGracePeriodSeconds", "nodeName", "serviceAccountName",
              "priorityClassName", "schedulerName", "volumes", "resources", "topologySpreadConstraints")  # fmt: skip
    told = ("phase", "conditions", "message", "reason", "hostIP", "hostIPs", "podIP", "podIPs", "startTime", "qosClass",
            "initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses", "resourceClaimStatuses",
            "resize", "observedGeneration")  # fmt: skip
    return [
        (f"{_CREATES} || ({_placeholder(image)})",
         "'Fairway makes no pods but placeholders without a will of their own'"),
        (f"{_DELETES} || (request.namespace == '{HOME}' && '{PLACEHOLDER_LABEL}' in variables.before)",
         "'Fairway deletes no pods but placeholders'"),
        (f"{_UPDATES} || ({_TENANTS})", _NO_TENANT),
        (f"{_UPDATES} || ('{HOLD_LABEL}' in variables.before && '{JOB_LABEL}' in variables.before)",
         "'not a pod for which Fairway holds room'"),
        (f"{_UPDATES} || object.spec == oldObject.spec || "
         f"(has(oldObject.spec.schedulingGates) && {_same('spec', frozen)})",
         "'of a pod\\'s spec Fairway takes scheduling gates away, and changes nothing else'"),
        (f"{_UPDATES} || object.?status == oldObject.?status || "
         f"(!has(oldObject.spec.nodeName) && {_same('status', told)})",
         "'of a pod\\'s status Fairway says nominatedNodeName, and nothing else'"),
        *_METADATA,
    ]  # fmt: skip


def _placeholder(image: str) -> str:
    plain = ("command", "args", "env", "envFrom", "volumeMounts", "volumeDevices", "lifecycle", "livenessProbe",
             "readinessProbe", "startupProbe", "ports")  # fmt: skip
    return " && ".join((
        f"request.namespace == '{HOME}'",
        f"variables.labels[?'{PLACEHOLDER_LABEL}'].orValue('') == 'true'",
        f"'{JOB_LABEL}' in variables.labels",
        "object.spec.?automountServiceAccountToken.orValue(true) == false",
        "object.spec.?serviceAccountName.orValue('default') == 'default'",
        f"object.spec.?activeDeadlineSeconds.orValue({LONGEST_S + 1}) <= {LONGEST_S}",
        "object.spec.?priorityClassName.orValue('').startsWith('fairway-hold-')",
        *(f"!object.spec.?{one}.orValue(false)" for one in ("hostNetwork", "hostPID", "hostIPC")),
        *(f"size(object.spec.?{one}.orValue([])) == 0" for one in ("volumes", "initContainers", "ephemeralContainers")),
        "object.spec.?securityContext.?runAsNonRoot.orValue(false)",
        "!has(object.spec.nodeName)",
        "size(object.spec.containers) == 1",
        # Without a command an image runs what it was made for.
        f"object.spec.containers[0].image == '{image}'",
        *(f"!has(object.spec.containers[0].{one})" for one in plain),
        "!object.spec.containers[0].?securityContext.?privileged.orValue(false)",
        "object.spec.containers[0].?securityContext.?allowPrivilegeEscalation.orValue(true) == false",
    ))  # fmt: skip


def _classes() -> list[Validation]:
    never = "object.?preemptionPolicy.orValue('PreemptLowerPriority') == 'Never'"
    return [
        (f"{never} && !object.?globalDefault.orValue(false) && object.value <= {_HIGHEST}",
         "'a PriorityClass that Fairway makes drives out nobody: preemptionPolicy Never, and no default'"),
    ]  # fmt: skip


def _reservations() -> list[Validation]:
    # For Koordinator a ttl of nothing is for ever, and `expires` counts before it.
    ends = "!has(object.spec.expires) && duration(object.spec.?ttl.orValue('0s')) > duration('0s')"
    held = f"'{JOB_LABEL}' in variables.labels && '{HOLD_LABEL}' in variables.labels && {ends}"
    return [
        (f"request.operation == 'DELETE' || ({held} && duration(object.spec.ttl) <= duration('{LONGEST_S}s'))",
         f"'a Reservation names its job, and ends by itself within {LONGEST_S} s'"),
        (f"request.operation == 'CREATE' || '{HOLD_LABEL}' in variables.before", "'not a Reservation of Fairway\\'s'"),
    ]  # fmt: skip


def _same(part: str, fields: tuple[str, ...]) -> str:
    return " && ".join(f"object.{part}.?{one} == oldObject.{part}.?{one}" for one in fields)


def _rule(group: str, resources: tuple[str, ...], *operations: str) -> Json:
    return {
        "apiGroups": [group], "apiVersions": ["*"], "operations": list(operations), "resources": list(resources),
    }  # fmt: skip


def _policy(name: str, rules: list[Json], validations: list[Validation]) -> tuple[Json, Json]:
    metadata = {"name": f"{PREFIX}-{name}", "labels": {"app.kubernetes.io/name": "fairway"}}
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": rules},
        "matchConditions": [{"name": "fairway", "expression": f"request.userInfo.username == '{USER}'"}],
        "variables": [{"name": one, "expression": text} for one, text in _VARIABLES.items()],
        "validations": [{"expression": one, "messageExpression": said} for one, said in validations],
    }
    version = f"{_GROUP}/v1"
    return (
        {"apiVersion": version, "kind": "ValidatingAdmissionPolicy", "metadata": metadata, "spec": spec},
        {"apiVersion": version, "kind": "ValidatingAdmissionPolicyBinding", "metadata": metadata,
         "spec": {"policyName": metadata["name"], "validationActions": ["Deny"]}},
    )  # fmt: skip
