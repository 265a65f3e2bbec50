"""Queue objects of scheduling.x-k8s.io/v1alpha1, and the annotation by which a job names its queue.

The policy is the label `kube-queue/queue-policy` (ack-kube-queue) or spec.queuePolicy (the first kube-queue):
`Priority` or its old name `Round`, `Block`, and `FIFO`, which is Block with the jobs in order of time alone.
`Intelligent` (blocking above a threshold) is refused: neither of the two is what its owner asked for.
"""

from collections.abc import Iterator
from typing import Any

from fairway.domain.queue_policy import QueuePolicy, QueueSpec
from fairway.domain.quota.tree import ALLOW_NAMESPACES
from fairway.workloads.reading.fields import Field, read_root, shown
from fairway.workloads.reading.names import check_annotations, read_listed, read_name

API_VERSION = "scheduling.x-k8s.io/v1alpha1"
KIND = "Queue"
POLICY_LABEL = "kube-queue/queue-policy"
LEAF_ANNOTATION = "kube-queue/quota-fullname"
QUEUE_ANNOTATIONS = ("kube-queue/queue-name", "koord-queue/queue-name")

POLICIES = {
    "": (QueuePolicy.PRIORITY, False),
    "Priority": (QueuePolicy.PRIORITY, False),
    "Round": (QueuePolicy.PRIORITY, False),
    "Block": (QueuePolicy.BLOCK, False),
    "FIFO": (QueuePolicy.BLOCK, True),
}


def read_queue(manifest: dict[str, Any]) -> QueueSpec:
    """A Queue object. Raises Refused with every reason found."""
    root = read_root(manifest, API_VERSION, KIND)
    metadata = root["metadata"]
    spec = root["spec"]
    check_annotations(metadata["annotations"], frozenset({ALLOW_NAMESPACES}))
    policy, by_time = _policy(metadata["labels"][POLICY_LABEL], spec["queuePolicy"])
    queue = QueueSpec(
        name=read_name(metadata["name"]),
        policy=policy,
        priority=spec["priority"].whole(0, -(2**31)),
        leaf=metadata["annotations"][LEAF_ANNOTATION].text(),
        by_time=by_time,
        priority_class="" if spec["priority"].given else spec["priorityClassName"].text(),
        namespace=metadata["namespace"].text(),
        allows=read_listed(metadata["annotations"][ALLOW_NAMESPACES]),
    )
    root.problems.stop()
    return queue


def without_effect(spec: Field) -> Iterator[tuple[Field, str]]:
    """A class beside a priority of the queue's own."""
    if spec["priority"].given and spec["priorityClassName"].given:
        yield spec["priorityClassName"], "the queue has a priority of its own in spec.priority"


def _policy(label: Field, field: Field) -> tuple[QueuePolicy, bool]:
    for place in (label, field):
        if place.text() not in POLICIES:
            place.wrong(f"is {shown(place.value)}", "use Priority (skip what does not fit) or Block (the head waits)")
    return POLICIES.get((label if label.given else field).text(), (QueuePolicy.PRIORITY, False))


def queue_of(manifest: dict[str, Any]) -> str:
    """The queue a job names by annotation; empty when its leaf's own queue is meant."""
    annotations = (manifest.get("metadata") or {}).get("annotations") or {}
    return next((str(annotations[name]) for name in QUEUE_ANNOTATIONS if annotations.get(name)), "")
