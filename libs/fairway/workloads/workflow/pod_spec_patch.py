"""podSpecPatch: a patch of the whole pod, as text. What it may do without more rights is what sizes a pod.

Argo fills in parameters before it reads the text, so that a value may hold more fields than one sees here; and it
takes the names of fields in any case. So everything is refused that is not known to be harmless, as it stands. It is
one mapping to Argo, whatever its keys: a text that looks like a List is merged into the pod as it is.
"""

from collections.abc import Iterable

from fairway.wire.reasons import Refused
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import Field
from fairway.workloads.reading.parse import parse_mapping

LISTS = ("containers", "initContainers")
_POD = frozenset(
    ("containers", "initContainers", "nodeSelector", "activeDeadlineSeconds", "terminationGracePeriodSeconds")
)
_CONTAINER = frozenset(("name", "resources", "imagePullPolicy", "workingDir", "terminationMessagePolicy"))
# Of a container's resources; `claims` would take devices that nobody counts.
_RESOURCES = frozenset(("limits", "requests"))


def check_patch(patch: Field, ruling: Ruling) -> None:
    if not patch.text():
        return
    view = PodView(patch)
    if "{{" in patch.text():
        ruling.unseen(view, "is a patch of the pod that is known only at run time")
    elif beyond := _beyond(patch):
        ruling.unseen(view, f"patches {beyond} of the pod; known here are resources of containers and nodeSelector")


def patched(patches: Iterable[Field]) -> dict[tuple[str, str], list[Field]]:
    """What literal patches say of the resources of containers, by (list, name), in the order in which they count."""
    found: dict[tuple[str, str], list[Field]] = {}
    for patch in patches:
        if (root := _read(patch)) is None:
            continue
        for key in LISTS:
            for container in root[key].items():
                if container["resources"].given:
                    found.setdefault((key, container["name"].text()), []).append(container["resources"])
    return found


def _read(patch: Field) -> Field | None:
    """The mapping that a patch is; None where it is none, or known only at run time, which `check_patch` refuses."""
    text = patch.value
    if not isinstance(text, str) or not text or "{{" in text:
        return None
    try:
        return Field(parse_mapping(text), patch.problems, patch.up, patch.key)
    except Refused:
        return None


def _beyond(patch: Field) -> str:
    """The first field that is not among those that are known; empty when there is none."""
    root = _read(patch)
    if root is None:
        return "what cannot be read as one mapping"
    for key, field in root.pairs():
        if key not in _POD:
            return key[:80]
        for container in field.items() if key in LISTS else ():
            if strange := _strange(container):
                return f"{key}.{strange[:80]}"
    return ""


def _strange(container: Field) -> str:
    for key, field in container.pairs():
        if key not in _CONTAINER:
            return key
        if key == "resources" and (more := [one for one in field.mapping() if one not in _RESOURCES]):
            return f"resources.{more[0]}"
    return ""
