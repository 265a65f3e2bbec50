"""The policy of pods: Fairway makes and deletes none but placeholders and those that are jobs themselves, lets go those
for which it holds room, and tells those of its jobs when they end. It may hasten those that are on their way out."""

from collections.abc import Sequence

from fairway.domain.tenancy.profile import HOME
from fairway.join.policy_parts import CREATES, DELETES, METADATA, NO_TENANT, TENANTS, UPDATES, Validation, sealed
from fairway.propagator.held_room import LONGEST_S
from fairway.workloads.member_copy import EVICT_AT, HOLD_LABEL, JOB_LABEL, PLACEHOLDER_LABEL
from fairway.workloads.seal import SEAL

# A pod that waits behind a gate may be changed in more ways than one that runs: these are the others.
_FROZEN = [
    "containers",
    "initContainers",
    "ephemeralContainers",
    "tolerations",
    "nodeSelector",
    "affinity",
    "activeDeadlineSeconds",
    "terminationGracePeriodSeconds",
    "nodeName",
    "serviceAccountName",
    "priorityClassName",
    "schedulerName",
    "volumes",
    "resources",
    "topologySpreadConstraints",
]

# What a status says besides nominatedNodeName.
_TOLD = [
    "phase",
    "conditions",
    "message",
    "reason",
    "hostIP",
    "hostIPs",
    "podIP",
    "podIPs",
    "startTime",
    "qosClass",
    "initContainerStatuses",
    "containerStatuses",
    "ephemeralContainerStatuses",
    "resourceClaimStatuses",
    "resize",
    "observedGeneration",
]

# What a placeholder runs is its image, and nothing beside it.
_PLAIN = [
    "command",
    "args",
    "env",
    "envFrom",
    "volumeMounts",
    "volumeDevices",
    "lifecycle",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "ports",
]

# Of a job's pod that annotation changes, and nothing else.
_TOLD_OF_ITS_END = (
    f"'{JOB_LABEL}' in variables.before && variables.labels == variables.before && object.spec == oldObject.spec && "
    f"object.?status == oldObject.?status && variables.notes.all(k, k == '{EVICT_AT}' || "
    "variables.notesBefore[?k].orValue('') == variables.notes[k]) && "
    "variables.notesBefore.all(k, k in variables.notes)"
)


def pods(image: str) -> list[Validation]:
    return [
        (
            f"{CREATES} || ({_placeholder(image)}) || "
            f"({_job('labels', 'notes')} && object.metadata.?ownerReferences.orValue([]).all(o, "
            "o.kind == 'Pod' && o.apiVersion == 'v1' && !o.?controller.orValue(false)))",
            "'Fairway makes no pods but those of its jobs, and placeholders without a will of their own'",
        ),
        (
            f"{DELETES} || (request.namespace == '{HOME}' && '{PLACEHOLDER_LABEL}' in variables.before) || "
            f"({_job('before', 'notesBefore')} && !oldObject.metadata.?ownerReferences.orValue([]).exists(o, "
            f"o.?controller.orValue(false))) || ({TENANTS} && '{JOB_LABEL}' in variables.before && "
            "has(oldObject.metadata.deletionTimestamp))",
            "'Fairway deletes no pods but those of its jobs, and placeholders'",
        ),
        (f"{UPDATES} || ({TENANTS})", NO_TENANT),
        (
            f"{UPDATES} || ('{HOLD_LABEL}' in variables.before && '{JOB_LABEL}' in variables.before) || "
            f"'{SEAL}' in variables.notesBefore || ({_TOLD_OF_ITS_END})",
            "'not a pod for which Fairway holds room, nor one that it applied'",
        ),
        (
            f"{UPDATES} || object.spec == oldObject.spec || "
            f"(has(oldObject.spec.schedulingGates) && {_same('spec', _FROZEN)})",
            "'of a pod\\'s spec Fairway takes scheduling gates away, and changes nothing else'",
        ),
        (
            f"{UPDATES} || object.?status == oldObject.?status || "
            f"(!has(oldObject.spec.nodeName) && {_same('status', _TOLD)})",
            "'of a pod\\'s status Fairway says nominatedNodeName, and nothing else'",
        ),
        *METADATA,
    ]


def _job(labels: str, notes: str) -> str:
    """A pod that is a job itself."""
    return f"{TENANTS} && {sealed(JOB_LABEL, labels, notes)}"


def _placeholder(image: str) -> str:
    return " && ".join(
        (
            f"request.namespace == '{HOME}'",
            f"variables.labels[?'{PLACEHOLDER_LABEL}'].orValue('') == 'true'",
            f"'{JOB_LABEL}' in variables.labels",
            "object.spec.?automountServiceAccountToken.orValue(true) == false",
            "object.spec.?serviceAccountName.orValue('default') == 'default'",
            f"object.spec.?activeDeadlineSeconds.orValue({LONGEST_S + 1}) <= {LONGEST_S}",
            "object.spec.?priorityClassName.orValue('').startsWith('fairway-hold-')",
            *(f"!object.spec.?{one}.orValue(false)" for one in ("hostNetwork", "hostPID", "hostIPC")),
            *(
                f"size(object.spec.?{one}.orValue([])) == 0"
                for one in ("volumes", "initContainers", "ephemeralContainers")
            ),
            "object.spec.?securityContext.?runAsNonRoot.orValue(false)",
            "!has(object.spec.nodeName)",
            "size(object.spec.containers) == 1",
            # Without a command an image runs what it was made for.
            f"object.spec.containers[0].image == '{image}'",
            *(f"!has(object.spec.containers[0].{one})" for one in _PLAIN),
            "!object.spec.containers[0].?securityContext.?privileged.orValue(false)",
            "object.spec.containers[0].?securityContext.?allowPrivilegeEscalation.orValue(true) == false",
        )
    )


def _same(part: str, fields: Sequence[str]) -> str:
    return " && ".join(f"object.{part}.?{one} == oldObject.{part}.?{one}" for one in fields)
