"""Whose a quota leaf or a queue is: which namespaces' jobs may name it. What a label or an annotation of a job claims
counts only as far as the leaf, the Queue or a TenantProfile says so. Pure."""

from collections.abc import Mapping

from fairway.domain.queue_policy import QueueSpec
from fairway.domain.quota.tree import (
    ALLOW_NAMESPACES,
    QUOTA_LABELS,
    QuotaNode,
    QuotaPath,
    attributes,
    ever_fits,
    leaf_named,
    leaf_of,
    listed,
)
from fairway.domain.resources import Resources
from fairway.domain.tenancy.profile import Tenancy
from fairway.wire.reasons import Code, Reason


def charged_leaf(tree: QuotaNode, mine: Tenancy, labels: Mapping[str, str]) -> QuotaPath | Reason:
    """The nodes root..leaf that a job of this namespace is charged to, or why it is charged to none. Every label that
    names a leaf has to name one that is open to the namespace; the first decides."""
    named = [(label, labels[label]) for label in QUOTA_LABELS if labels.get(label)]
    for label, name in named:
        if refusal := leaf_refused(tree, mine, name, f"metadata.labels['{label}']"):
            return refusal
    path = leaf_of(tree, mine.namespace, labels)
    if path is None:
        text = f"namespace {mine.namespace} belongs to no leaf of the ElasticQuotaTree"
        return Reason(Code.UNKNOWN_QUOTA, text, "metadata.namespace", "add it to a leaf's `namespaces`")
    return path


def payers(
    tree: QuotaNode, mine: Tenancy, labels: Mapping[str, str], asks: Resources
) -> tuple[QuotaPath, Reason | None]:
    """The nodes root..leaf that pay for a job, or why none does, or why they never can."""
    path = charged_leaf(tree, mine, labels)
    return ((), path) if isinstance(path, Reason) else (path, ever_fits(path, asks))


def leaf_refused(tree: QuotaNode | None, mine: Tenancy, name: str, field: str) -> Reason | None:
    """Why a job may not name this leaf; None: it may."""
    path = leaf_named(tree, name) if tree else None
    if path is None:
        text = f"there is no leaf {name[:80]} in the ElasticQuotaTree"
        return Reason(Code.UNKNOWN_QUOTA, text, field, "name a leaf that it has, or leave the label out")
    if leaf_admits(path, mine):
        return None
    text = f"quota leaf {path[-1].name} is not open to namespace {mine.namespace}"
    remedy = (
        f"leave the label out, or have {mine.namespace} added to the leaf's attribute {ALLOW_NAMESPACES}, or the leaf "
        "to spec.quotaLeaves of a TenantProfile"
    )
    return Reason(Code.NOT_YOUR_QUOTA, text, field, remedy)


def leaf_admits(path: QuotaPath, mine: Tenancy) -> bool:
    """Whether jobs of the namespace may be charged to this leaf."""
    leaf = path[-1]
    if mine.namespace in leaf.namespaces or not mine.quota_leaves.isdisjoint((leaf.name, leaf.path)):
        return True
    return mine.namespace in listed(attributes(path).get(ALLOW_NAMESPACES, ""))


def queue_admits(queue: QueueSpec, mine: Tenancy, tree: QuotaNode | None) -> bool:
    """Whether jobs of the namespace may name this queue. A Queue stands for the leaf that it names, else for the one of
    its own name; who may use that leaf may wait there."""
    if mine.namespace in (queue.namespace, *queue.allows) or queue.name in mine.queues:
        return True
    path = leaf_named(tree, queue.leaf or queue.name) if tree else None
    return path is not None and leaf_admits(path, mine)


def queue_refused(queue: QueueSpec, mine: Tenancy, tree: QuotaNode | None, field: str) -> Reason | None:
    """Why a job may not name this queue; None: it may."""
    if queue_admits(queue, mine, tree):
        return None
    text = f"Queue {queue.name} is not open to namespace {mine.namespace}"
    remedy = (
        f"leave it out, or have {mine.namespace} added to the Queue's annotation {ALLOW_NAMESPACES}, or the Queue to "
        "spec.queues of a TenantProfile"
    )
    return Reason(Code.NOT_YOUR_QUOTA, text, field, remedy)
