"""The Pod Security Standard `restricted` as Kubernetes 1.34 has it: what a pod has to say besides `baseline`.

User namespaces relax nothing (the feature UserNamespacesPodSecurityStandards is off by default)."""

from fairway.workloads.pod_security.baseline import PROFILES
from fairway.workloads.pod_security.pod import Pod, containers
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import shown

_VOLUMES = (
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
)


def check(pod: Pod, ruling: Ruling) -> None:
    context = pod.spec["securityContext"]
    windows = pod.spec["os"]["name"].value == "windows"
    for volume in pod.spec["volumes"].items():
        _volume(volume, ruling)
    _not_root(context, ruling)
    for container in containers(pod):
        own = container["securityContext"]
        _not_root(own, ruling)
        if not own["runAsNonRoot"].given and context["runAsNonRoot"].value is not True:
            ruling.strict(own["runAsNonRoot"], "is missing here and for the whole pod, and has to be true")
        if windows:
            continue  # which has neither; the API server refuses them there
        if own["allowPrivilegeEscalation"].value is not False:
            ruling.strict(own["allowPrivilegeEscalation"], "has to be false")
        if not own["seccompProfile"].given and context["seccompProfile"]["type"].value not in PROFILES:
            ruling.strict(own["seccompProfile"], f"has to be {' or '.join(PROFILES)}, here or for the whole pod")
        _capabilities(own["capabilities"], ruling)


def _not_root(context: PodView, ruling: Ruling) -> None:
    if context["runAsNonRoot"].given and context["runAsNonRoot"].value is not True:
        ruling.strict(context["runAsNonRoot"], "has to be true")
    if context["runAsUser"].value == 0:
        ruling.strict(context["runAsUser"], "is root")


def _capabilities(view: PodView, ruling: Ruling) -> None:
    if all(one.value != "ALL" for one in view["drop"].items()):
        ruling.strict(view["drop"], "has to hold ALL")
    for capability in view["add"].items():
        if capability.value != "NET_BIND_SERVICE":
            ruling.strict(capability, f"adds {shown(capability.value)}; only NET_BIND_SERVICE may be")


def _volume(volume: PodView, ruling: Ruling) -> None:
    if any(volume[kind].given for kind in _VOLUMES):
        return
    kinds = [key for key, value in volume.pairs() if key != "name" and value.given]
    kind = kinds[0] if kinds else "emptyDir"
    ruling.strict(volume[kind], f"is a volume of another kind than {', '.join(_VOLUMES)}")
