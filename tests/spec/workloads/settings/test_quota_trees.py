"""Queues and quota trees: a tree is judged as a whole, and every reason names its node."""

from typing import Any

import pytest

from fairway.domain.queue_policy import QueueSpec
from fairway.domain.quota.tree import QuotaNode, ever_fits, leaf_of
from fairway.wire.reasons import Code, Refused
from fairway.workloads.settings.queues import queue_of, read_queue
from fairway.workloads.settings.quota_trees import read_quota_tree
from tests.spec.workloads.builders import batch_job, refusal
from tests.spec.workloads.settings.cases import BAD_QUEUES, BAD_TREES, ORGANISATION, QUEUES, node, tree


def test_a_tree_is_read_with_paths_and_without_limits_that_are_none() -> None:
    root = read_quota_tree(ORGANISATION)
    assert root.max == {"cpu": 40_000, "kube-queue/max-jobs": 100}
    vision = root.children[0].children[0]
    assert vision == QuotaNode(
        name="vision",
        path="root/research/vision",
        min={"cpu": 10_000},
        max={"cpu": 30_000},
        namespaces=("team-vision",),
        attributes={"cost": "a"},
    )


@pytest.mark.parametrize(
    ("namespace", "labels", "want"),
    [
        ("team-audio", {}, "root/research/speech"),
        ("team-x", {}, None),
        ("team-data", {"quota.scheduling.koordinator.sh/name": "vision"}, "root/research/vision"),
        ("team-x", {"quota.scheduling.alibabacloud.com/name": "root/data"}, "root/data"),
        ("team-data", {"quota.scheduling.koordinator.sh/name": "research"}, None),
        ("team-data", {"quota.scheduling.koordinator.sh/name": "nobody"}, None),
    ],
)
def test_a_job_belongs_to(namespace: str, labels: dict[str, str], want: str | None) -> None:
    path = leaf_of(read_quota_tree(ORGANISATION), namespace, labels)
    assert (path[-1].path if path else None) == want
    assert path is None or path[0].path == "root"


@pytest.mark.parametrize(
    ("namespace", "request_", "want"),
    [
        ("team-vision", {"cpu": 30_000, "memory": 2**60}, None),
        ("team-vision", {"cpu": 30_001}, "asks for 30.001 cpu, but the max of quota root/research/vision is 30"),
        ("team-data", {"cpu": 40_000}, None),
        ("team-data", {"cpu": 41_000}, "asks for 41 cpu, but the max of quota root is 40"),
    ],
)
def test_a_request_ever_fits(namespace: str, request_: dict[str, int], want: str | None) -> None:
    path = leaf_of(read_quota_tree(ORGANISATION), namespace, {})
    assert path
    reason = ever_fits(path, request_)
    assert (reason.text if reason else None) == want
    assert reason is None or (reason.code == Code.EXCEEDS_MAX_QUOTA and reason.remedy)


def test_a_quota_of_no_jobs_fits_none() -> None:
    root = read_quota_tree(tree(node("a", namespaces=["a"]), max={"kube-queue/max-jobs": 0}))
    reason = ever_fits(leaf_of(root, "a", {}) or (), {})
    assert reason and "kube-queue/max-jobs" in reason.text


@pytest.mark.parametrize(("manifest", "path", "says"), BAD_TREES)
def test_a_bad_tree_is_refused_with_the_path_of_the_bad_node(manifest: dict[str, Any], path: str, says: str) -> None:
    reasons = refusal(lambda: read_quota_tree(manifest))
    assert any(text.startswith(f"quota {path}: ") and says in text for text in reasons.values())


def test_numbers_of_a_tree_are_checked_where_they_stand() -> None:
    reasons = refusal(lambda: read_quota_tree(tree(node("a", max={"cpu": "-1"}))))
    assert "negative" in reasons["spec.root.children[0].max.cpu"]


@pytest.mark.parametrize("given", ["0", "-5", "many", "1.5", "9999999999", "10000000000000", ""])
def test_a_limit_that_is_no_number_is_refused_where_it_stands(given: str) -> None:
    limited = node("a", attributes={"fairway.io/max-pending": given})
    reasons = refusal(lambda: read_quota_tree(tree(limited)))
    assert "not a number from 1" in reasons["spec.root.children[0].attributes['fairway.io/max-pending']"]


def test_a_tree_nested_beyond_reason_is_refused() -> None:
    inner = node("n0")
    for level in range(1, 60):
        inner = node(f"n{level}", children=[inner])
    assert "nested deeper" in " ".join(refusal(lambda: read_quota_tree(tree(inner))).values())


@pytest.mark.parametrize(("manifest", "want"), QUEUES)
def test_a_queue_is_read(manifest: dict[str, Any], want: QueueSpec) -> None:
    assert read_queue(manifest) == want


@pytest.mark.parametrize(("manifest", "field"), BAD_QUEUES)
def test_a_queue_is_refused(manifest: dict[str, Any], field: str) -> None:
    assert field in refusal(lambda: read_queue(manifest))


def test_a_job_names_its_queue_by_annotation() -> None:
    assert queue_of(batch_job()) == ""
    assert queue_of(batch_job(annotations={"kube-queue/queue-name": "batch"})) == "batch"
    assert queue_of(batch_job(annotations={"koord-queue/queue-name": "batch"})) == "batch"


def test_a_refused_tree_is_an_error_that_names_the_place() -> None:
    with pytest.raises(Refused, match=r"spec\.root\.children\[0\]"):
        read_quota_tree(tree(node("a", 10, 20)))
