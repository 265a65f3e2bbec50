"""podSpecPatch: a patch of the whole pod, as text. What it may do without more rights is what sizes a pod.

Argo fills in parameters before it reads the text, so that a value may hold more fields than one sees here; and it
takes the names of fields in any case. So everything is refused that is not known to be harmless, as it stands.
"""

from fairway.wire.reasons import Refused
from fairway.workloads.door import parse_documents
from fairway.workloads.fields import Field, Problems
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.view import View

_LISTS = ("containers", "initContainers")
_POD = frozenset(
    ("containers", "initContainers", "nodeSelector", "activeDeadlineSeconds", "terminationGracePeriodSeconds")
)
_CONTAINER = frozenset(("name", "resources", "imagePullPolicy", "workingDir", "terminationMessagePolicy"))


def check_patch(patch: Field, ruling: Ruling) -> None:
    if not patch.text():
        return
    view = View(patch)
    if "{{" in patch.text():
        ruling.unseen(view, "is a patch of the pod that is known only at run time")
        return
    if beyond := _beyond(patch.text()):
        ruling.unseen(view, f"patches {beyond} of the pod; known here are resources of containers and nodeSelector")


def _beyond(text: str) -> str:
    """The first field that is not among those that are known; empty when there is none."""
    try:
        documents = parse_documents(text)
    except Refused:
        return "what cannot be read"
    for document in documents:
        root = Field(document, Problems())
        for key, field in root.pairs():
            if key not in _POD:
                return key[:80]
            if key not in _LISTS:
                continue
            for container in field.items():
                strange = [one for one in container.mapping() if one not in _CONTAINER]
                if strange or field.problems:
                    return f"{key}.{strange[0][:80]}" if strange else key
        if root.problems:
            return "what cannot be read"
    return ""
