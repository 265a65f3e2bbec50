"""Labels and annotations that a member's scheduler, or an operator there, obeys or goes by.

With `scheduling.koordinator.sh/reservation-ignored` a pod takes room that is held for others, and with
`device-allocated` devices that the scheduler gave to nobody. So of their names only those pass that are known to be
harmless: what names quota leaves and queues is looked at elsewhere (named_objects.py).
"""

from typing import Any

from fairway.domain.quota.tree import QUOTA_LABELS
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.batch_marks import BEST_EFFORT, CLASS_LABEL, KOORD_BATCH, QOS_LABEL
from fairway.workloads.reading.fields import shown
from fairway.workloads.reading.preemptible import PREEMPTIBLE_LABELS

# What an AppWrapper's controller counts as its pods, and deletes with them, and whose it says that one is.
_WRAPPER = "workload.codeflare.dev"
# Ends of the part before the slash: of Koordinator and of Volcano with all that is below them.
_DOMAINS = ("koordinator.sh", "volcano.sh")
# kube-scheduler's own, of the time before priorities.
_ALPHA = "scheduler.alpha.kubernetes.io"
_GANG = "gang.scheduling.koordinator.sh/"
_HARMLESS = frozenset(
    (
        *QUOTA_LABELS,
        # A member's Koordinator keeps pods that it does not evict within their quota's min.
        *PREEMPTIBLE_LABELS,
        "scheduling.volcano.sh/queue-name",
        "volcano.sh/queue-name",
        *(f"{_GANG}{name}" for name in ("min-available", "mode", "name", "total-number")),
        *(f"{_WRAPPER}/{name}" for name in ("user", "userid")),
        *(f"volcano.sh/{name}" for name in ("job-type", "numa-topology-policy", "preemptable", "task-spec")),
    )
)
# Koordinator's classes of service, of which SYSTEM is for what the node itself runs on; and of its classes of priority
# the one that gives way to others.
_CLASSES = {QOS_LABEL: ("", "LSE", "LSR", "LS", BEST_EFFORT), CLASS_LABEL: (KOORD_BATCH,)}


def obeyed(key: str) -> bool:
    """Whether a label or annotation of this name is one that has to be known."""
    domain = key.partition("/")[0]
    return domain.endswith(_DOMAINS) or domain in (_ALPHA, _WRAPPER)


def quiet_marks(labels: Any) -> bool:
    """Whether these are labels of which none is obeyed."""
    return labels is None or (type(labels) is dict and not any("/" in key and obeyed(key) for key in labels))


def check_marks(view: PodView, ruling: Ruling) -> None:
    """Labels or annotations."""
    for key, value in view.pairs():
        if obeyed(key):
            check_mark(key, value, ruling)


def check_mark(key: str, value: PodView, ruling: Ruling) -> None:
    if value.value in _CLASSES.get(key, ()):
        return
    if key not in _HARMLESS and obeyed(key):
        what = f"{key}: {shown(value.value)}" if key in _CLASSES else key
        ruling.trusted(value, f"{what} is obeyed by schedulers of clusters and takes what is others'")
