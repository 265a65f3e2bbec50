"""Queues of Volcano: what of them counts, and the field by which a Volcano Job names one."""

from typing import Any

import pytest

from fairway.domain.queue_policy import QueueSpec
from fairway.workloads.kinds.registry import KINDS, read
from fairway.workloads.reading.fields import Field, Problems
from fairway.workloads.settings.volcano_queues import read_volcano_queue
from tests.cases.good_jobs import volcano_job
from tests.spec.workloads.builders import batch_job, refusal
from tests.spec.workloads.settings.cases import queue, volcano_queue

QUEUES = [
    (volcano_queue({}), QueueSpec("batch", allows=("batch",))),
    (
        volcano_queue({"weight": 4, "capability": {"cpu": 8}, "reclaimable": True, "priority": -5}),
        QueueSpec("batch", priority=-5, allows=("batch",)),
    ),
    (
        volcano_queue({}, annotations={"fairway.io/allow-namespaces": "a,b", "kube-queue/quota-fullname": "root/x"}),
        QueueSpec("batch", leaf="root/x", allows=("a", "b")),
    ),
]
BAD_QUEUES: list[tuple[dict[str, Any], str]] = [
    (volcano_queue({"priority": "5"}), "spec.priority"),
    (volcano_queue({"priority": 2**31}), "spec.priority"),
    (volcano_queue({}, name="A"), "metadata.name"),
    (
        volcano_queue({}, annotations={"fairway.io/allow-namespaces": "*"}),
        "metadata.annotations['fairway.io/allow-namespaces']",
    ),
    (volcano_queue({}, annotations={"fairway.io/allow": "a"}), "metadata.annotations['fairway.io/allow']"),
    ({**volcano_queue({}), "spec": 5}, "spec"),
    (queue({}), "kind"),
]


@pytest.mark.parametrize(("manifest", "want"), QUEUES)
def test_a_queue_is_read(manifest: dict[str, Any], want: QueueSpec) -> None:
    assert read_volcano_queue(manifest) == want


@pytest.mark.parametrize(("manifest", "field"), BAD_QUEUES)
def test_a_queue_is_refused(manifest: dict[str, Any], field: str) -> None:
    assert field in refusal(lambda: read_volcano_queue(manifest))


def named(queue: Any) -> dict[str, Any]:
    job = volcano_job()
    return {**job, "spec": {**job["spec"], "queue": queue}}


@pytest.mark.parametrize(
    ("manifest", "want"),
    [
        pytest.param(named("research"), "research", id="its queue"),
        pytest.param(named("default"), "", id="the queue that Volcano gives everybody"),
        pytest.param(named(""), "", id="an empty name"),
        pytest.param(volcano_job(), "", id="no queue"),
        pytest.param({**batch_job(), "spec": {"queue": "research"}}, "", id="a kind without such a field"),
    ],
)
def test_a_job_is_in(manifest: dict[str, Any], want: str) -> None:
    kind = KINDS[f"{manifest['kind']}.{manifest['apiVersion']}"]
    assert kind.queue(Field(manifest, Problems())) == want


@pytest.mark.parametrize("queue", [5, ["a"], "A", "a/b", "x" * 64, "../default"])
def test_a_name_that_no_queue_can_have_is_refused(queue: Any) -> None:
    assert "spec.queue" in refusal(lambda: read(named(queue)))
