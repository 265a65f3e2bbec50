"""Queue objects of Volcano (scheduling.volcano.sh/v1beta1), which belong to a whole cluster. Of their fields the
priority counts; who may name one is said by annotations, as of other Queues."""

from typing import Any

from fairway.domain.queue_policy import QueueSpec
from fairway.domain.quota.tree import ALLOW_NAMESPACES
from fairway.workloads.reading.fields import read_root
from fairway.workloads.reading.names import check_annotations, read_listed, read_name
from fairway.workloads.settings import queues

API_VERSION = "scheduling.volcano.sh/v1beta1"
KIND = f"{queues.KIND}.{API_VERSION}"


def read_volcano_queue(manifest: dict[str, Any]) -> QueueSpec:
    """Raises Refused with every reason found. One that lists no namespaces is open to that of its own name, as a queue
    of a member is."""
    root = read_root(manifest, API_VERSION, queues.KIND)
    annotations = root["metadata"]["annotations"]
    check_annotations(annotations, frozenset({ALLOW_NAMESPACES}))
    name = read_name(root["metadata"]["name"])
    queue = QueueSpec(
        name,
        priority=root["spec"]["priority"].whole(0, -(2**31)),
        leaf=annotations[queues.LEAF_ANNOTATION].text(),
        allows=read_listed(annotations[ALLOW_NAMESPACES]) or (name,),
    )
    root.problems.stop()
    return queue
