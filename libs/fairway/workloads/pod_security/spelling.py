"""Fields that are written in another case than Kubernetes writes them.

An API server drops them where it knows a kind's fields. Of a Workflow it keeps everything, and Argo's controller reads
the object with a decoder that minds no case once a parameter is a number (workflow/util FromUnstructuredObj):
`HostNetwork` would be looked at nowhere and count all the same.
"""

from collections.abc import Iterator

from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import Field

# All that is looked at, and the ways to it.
_NAMES = (
    *("add", "annotations", "appArmorProfile", "arguments", "artifactGC", "artifacts", "capabilities", "container"),
    *("automountServiceAccountToken", "allowPrivilegeEscalation", "containerSet", "containers", "dag", "data", "drop"),
    *("effect", "env", "envFrom", "ephemeralContainers", "executor", "hooks", "host", "hostIPC", "hostNetwork"),
    *("hostPID", "hostPath", "hostPort", "hostProcess", "hostUsers", "httpGet", "initContainers", "inline", "inputs"),
    *("key", "labels", "lifecycle", "livenessProbe", "metadata", "nodeName", "onExit", "operator", "os", "outputs"),
    *("plugin", "podMetadata", "podPriorityClassName", "podSpecPatch", "ports", "postStart", "preStop", "privileged"),
    *("priorityClassName", "procMount", "projected", "readinessProbe", "resource", "role", "runAsNonRoot", "runAsUser"),
    *("runtimeClassName", "schedulerName", "script", "seLinuxOptions", "seccompProfile", "secret", "secretKeyRef"),
    *("secretName", "secretRef", "securityContext", "serviceAccount", "serviceAccountName", "serviceAccountToken"),
    *("sidecars", "sources", "spec", "startupProbe", "steps", "sysctls", "tasks", "tcpSocket", "template"),
    *("claims", "limits", "requests", "resourceClaims", "resources", "synchronization", "templateDefaults"),
    *("templateRef", "templates", "tolerations", "type", "user", "valueFrom", "volumes"),
    *("windowsOptions", "workflowTemplateRef"),
)
_BY_FOLD = {name.casefold(): name for name in _NAMES}
# Below these anybody may choose any name.
_FREE = frozenset(
    (
        "annotations",
        "data",
        "default",
        "labels",
        "limits",
        "matchLabels",
        "nodeSelector",
        "plugin",
        "requests",
        "value",
        "withItems",
    )
)


def check_spelling(spec: Field, ruling: Ruling) -> None:
    for field, name in _misspelt(spec):
        ruling.never(PodView(field), *read_as(name))


def read_as(name: str) -> tuple[str, str]:
    """What is wrong with a field in another case than `name`, and what to do."""
    return f"is read as {name} by the operator, though it is another name", f"write {name}"


def _misspelt(spec: Field) -> Iterator[tuple[Field, str]]:
    below = [spec]
    while below:
        here = below.pop()
        if isinstance(here.value, list):
            below += here.items()
        elif isinstance(here.value, dict):
            for key, field in here.pairs():
                name = _BY_FOLD.get(key.casefold(), key)
                if name != key:
                    yield field, name
                elif key not in _FREE and isinstance(field.value, dict | list):
                    below.append(field)
