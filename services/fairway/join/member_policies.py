"""What RBAC cannot say of Fairway's account in a member, as ValidatingAdmissionPolicies: which namespaces and fields,
and whose objects. They are applied at the join, bind that one account, and are of no concern to anybody else.

Whoever holds the account's token has its rights, so each rule is written against a thief: RBAC says what may be done at
all, and these say to what.
"""

from typing import Any

from fairway.adapters.kubernetes.namespaces import ACCOUNT, TENANT_ROLE
from fairway.domain.tenancy.member_namespace import LEVEL_LABEL
from fairway.domain.tenancy.profile import HOME, LEVELS, TENANT_LABEL
from fairway.join.batch_resources import objects as batch_resources
from fairway.join.companion_policy import RESOURCES, companions
from fairway.join.pod_policy import pods
from fairway.join.policy_parts import ALL, CREATES, METADATA, NO_TENANT, TENANTS, UPDATES, Validation, ours, sealed
from fairway.join.spec_policy import VARIABLES, OpenPaths, specs
from fairway.propagator.held_room import LONGEST_S, PAUSE
from fairway.runtime.views.members import Facts
from fairway.workloads.appwrapper.components import may_be_wrapped
from fairway.workloads.companions.sent import ANCHOR_PREFIX
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.member_copy import HOLD_LABEL, JOB_LABEL
from fairway.workloads.seal import SEAL

Json = dict[str, Any]
USER = f"system:serviceaccount:{HOME}:{ACCOUNT}"
PREFIX = "fairway-member"
_GROUP = "admissionregistration.k8s.io"
_HIGHEST = 1_000_000_000
_RUNTIME = "variables.spec.?runtimeRef"
# By API group.
Resources = dict[str, tuple[str, ...]]

_VARIABLES = {
    "labels": "object == null ? {} : object.metadata.?labels.orValue({})",
    "before": "oldObject == null ? {} : oldObject.metadata.?labels.orValue({})",
    "notes": "object == null ? {} : object.metadata.?annotations.orValue({})",
    "notesBefore": "oldObject == null ? {} : oldObject.metadata.?annotations.orValue({})",
    **VARIABLES,
}


def policies(kinds: Resources, parts: Resources, open_paths: OpenPaths, facts: Facts) -> list[Json]:
    """`kinds` are the resources of jobs by API group, `parts` those of what some are not whole without, `open_paths`
    what of their specs may change. `facts` say which level of Pod Security is the highest that Fairway may give a
    namespace, which image placeholders run, and which PriorityClass pods on batch resources get."""
    sent = {"": RESOURCES, **parts}
    return [
        *_policy("namespaces", [_rule("", ("namespaces",), "CREATE", "UPDATE")], _namespaces(facts.max_pod_security)),
        *_policy("bindings", [_rule("rbac.authorization.k8s.io", ("rolebindings",), "CREATE", "UPDATE")], _bindings()),
        # Not only jobs are pods: these have a policy of their own.
        *_policy("jobs", [_rule(group, found, *ALL) for group, found in kinds.items() if group], _jobs(open_paths)),
        *_policy("pods", [_rule("", ("pods", "pods/status"), *ALL)], pods(facts.placeholder_image or PAUSE)),
        *_policy(
            "companions",
            [_rule(group, found, *ALL) for group, found in sent.items()],
            companions(sorted({one for found in parts.values() for one in found})),
        ),
        *_policy(
            "classes",
            [_rule("scheduling.k8s.io", ("priorityclasses",), "CREATE", "UPDATE")],
            _classes(facts.batch_class),
        ),
        *_policy("queues", [_rule("scheduling.volcano.sh", ("queues",), "CREATE", "UPDATE")], _queues()),
        *_policy("reservations", [_rule("scheduling.koordinator.sh", ("reservations",), *ALL)], _reservations()),
    ]


def _namespaces(level: str) -> list[Validation]:
    known = [TENANT_LABEL, LEVEL_LABEL, "kubernetes.io/metadata.name"]
    allowed = list(LEVELS[: LEVELS.index(level) + 1])
    found = f"variables.labels[?'{LEVEL_LABEL}'].orValue('')"
    return [
        (
            f"!object.metadata.name.startsWith('kube-') && object.metadata.name != '{HOME}'",
            "'namespace ' + object.metadata.name + ' is the system\\'s'",
        ),
        (
            f"variables.labels[?'{TENANT_LABEL}'].orValue('') == object.metadata.name",
            f"'a namespace that Fairway makes has the label {TENANT_LABEL}: ' + object.metadata.name",
        ),
        (
            f"{UPDATES} || variables.before[?'{TENANT_LABEL}'].orValue('') == object.metadata.name",
            "'namespace ' + object.metadata.name + ' is not Fairway\\'s to change'",
        ),
        # Other labels switch off the rules of other people: webhooks, policies, quotas.
        (
            f"variables.labels.all(k, k in {known} || variables.before[?k].orValue('') == variables.labels[k]) && "
            "variables.before.all(k, k in variables.labels)",
            "'Fairway sets the labels of tenant and Pod Security, and no others'",
        ),
        (
            f"{found} in {allowed}",
            f"'Pod Security ' + {found} + ' is not one of {', '.join(allowed)}: an administrator allows more with "
            "fairway join NAME --renew --max-pod-security LEVEL'",
        ),
        (
            "variables.notes == variables.notesBefore && (oldObject == null ? !has(object.metadata.finalizers) : "
            "object.metadata.?finalizers == oldObject.metadata.?finalizers) && !has(object.metadata.ownerReferences)",
            "'Fairway changes nothing but labels of a namespace'",
        ),
    ]


def _bindings() -> list[Validation]:
    ref = f"object.roleRef.kind == 'ClusterRole' && object.roleRef.name == '{TENANT_ROLE}'"
    subject = f"object.subjects.all(s, s.kind == 'ServiceAccount' && s.name == '{ACCOUNT}' && s.namespace == '{HOME}')"
    return [
        (TENANTS, NO_TENANT),
        (
            f"{ref} && size(object.?subjects.orValue([])) == 1 && {subject}",
            f"'Fairway binds itself to ClusterRole {TENANT_ROLE}, and nobody to nothing else'",
        ),
    ]


def _jobs(open_paths: OpenPaths) -> list[Validation]:
    return [
        (TENANTS, NO_TENANT),
        (
            f"{CREATES} || ({sealed(JOB_LABEL)})",
            f"'what Fairway applies has the label {JOB_LABEL} and the annotation {SEAL}'",
        ),
        (f"request.operation == 'CREATE' || {ours(JOB_LABEL)}", "'not an object of Fairway\\'s'"),
        *specs(open_paths),
        # What else a runtime says would be run as a job of Fairway's that nobody has looked at.
        (
            f"{CREATES} || request.resource.resource != 'trainjobs' || ({_RUNTIME}.?kind.orValue('') == "
            f"'TrainingRuntime' && {_RUNTIME}.?name.orValue('').startsWith('{ANCHOR_PREFIX}'))",
            f"'a TrainJob that Fairway makes names a TrainingRuntime {ANCHOR_PREFIX}..., which goes with it'",
        ),
        # Its controller makes what it is given with rights of its own.
        (
            f"{CREATES} || request.resource.resource != 'appwrappers' || variables.spec.?components.orValue([]).all(c, "
            f"(c.?template.?kind.orValue('') + '.' + c.?template.?apiVersion.orValue('')) in {_wrapped()})",
            "'an AppWrapper that Fairway makes holds objects of kinds whose pods it counts, and no others'",
        ),
        # A kind without a status subresource (Argo's Workflow) has its status in what may be created and patched.
        (
            f"({CREATES} || size(object.?status.orValue({{}})) == 0) && "
            f"({UPDATES} || object.?status == oldObject.?status)",
            "'how a job goes is said in its status by others, and not by Fairway'",
        ),
        *METADATA,
    ]


def _wrapped() -> list[str]:
    return sorted(key for key, kind in KINDS.items() if may_be_wrapped(kind))


def _classes(batch_class: str) -> list[Validation]:
    batch = sorted({batch_resources.NAME, batch_class} - {""})
    gives_way = (
        f"object.value < 0 || (object.value >= {batch_resources.LEAST} && object.value <= {batch_resources.MOST})"
    )
    never = "object.?preemptionPolicy.orValue('PreemptLowerPriority') == 'Never'"
    return [
        (
            f"{never} && !object.?globalDefault.orValue(false) && object.value <= {_HIGHEST}",
            "'a PriorityClass that Fairway makes drives out nobody: preemptionPolicy Never, and no default'",
        ),
        # A join makes it. Somebody may delete it, and a profile gives it to pods that are to give way to all others.
        (
            f"!(object.metadata.name in {batch}) || {gives_way}",
            "'PriorityClass ' + object.metadata.name + ' is for pods on batch resources, which give way to others'",
        ),
    ]


def _queues() -> list[Validation]:
    # The last three are what webhooks of some versions fill in. Annotations would put it elsewhere in a hierarchy.
    plain = ["weight", "reclaimable", "parent", "preemptable", "dequeueStrategy"]
    return [
        (
            f"variables.spec.all(k, k in {plain}) && size(variables.notes) == 0 && "
            "object.spec.?weight.orValue(0) == 1 && !object.spec.?reclaimable.orValue(true) && "
            "object.spec.?parent.orValue('root') == 'root'",
            "'a Queue that Fairway makes has weight 1, is not reclaimable, and says nothing else'",
        ),
    ]


def _reservations() -> list[Validation]:
    # For Koordinator a ttl of nothing is for ever, and `expires` counts before it.
    ends = "!has(object.spec.expires) && duration(object.spec.?ttl.orValue('0s')) > duration('0s')"
    held = f"'{JOB_LABEL}' in variables.labels && '{HOLD_LABEL}' in variables.labels && {ends}"
    return [
        (
            f"request.operation == 'DELETE' || ({held} && duration(object.spec.ttl) <= duration('{LONGEST_S}s'))",
            f"'a Reservation names its job, and ends by itself within {LONGEST_S} s'",
        ),
        (f"request.operation == 'CREATE' || '{HOLD_LABEL}' in variables.before", "'not a Reservation of Fairway\\'s'"),
    ]


def _rule(group: str, resources: tuple[str, ...], *operations: str) -> Json:
    return {
        "apiGroups": [group],
        "apiVersions": ["*"],
        "operations": list(operations),
        "resources": list(resources),
    }


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
        {
            "apiVersion": version,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": metadata,
            "spec": {"policyName": metadata["name"], "validationActions": ["Deny"]},
        },
    )
