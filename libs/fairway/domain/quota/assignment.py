"""Which leaf pays for a job, and in which queue it waits. Pure."""

from collections.abc import Mapping

from msgspec import Struct

from fairway.domain.batch_resources import on_batch
from fairway.domain.job import Job
from fairway.domain.quota.charge import request
from fairway.domain.quota.lending import never_lent
from fairway.domain.quota.tree import QuotaNode, QuotaPath, ever_guaranteed
from fairway.domain.resources import Resources
from fairway.domain.tenancy.entitlement import payers
from fairway.domain.tenancy.profile import Tenancy
from fairway.wire.reasons import Reason
from fairway.wire.workload import Workload

# Without a tree there is one queue for all, and nothing is limited.
DEFAULT_QUEUE = "default"


class Assignment(Struct, frozen=True):
    """`leaf` are the paths of the nodes from the root to the leaf."""

    queue: str
    leaf: tuple[str, ...] = ()


def payers_of(
    tree: QuotaNode, mine: Tenancy, labels: Mapping[str, str], work: Workload, evictable: bool = True
) -> tuple[QuotaPath, Reason | None]:
    """The nodes root..leaf that pay for a job, or why none does, or why they never can: on neither, of one that may
    have batch resources or cpu and memory. One that is not `evictable` needs their min."""
    path, refusal = _payers(tree, mine, labels, request(work), evictable)
    if refusal is not None and work.batch_first:
        path, also = _payers(tree, mine, labels, request(on_batch(work)), evictable)
        refusal = refusal if also is not None else None
    return path, refusal


def _payers(
    tree: QuotaNode, mine: Tenancy, labels: Mapping[str, str], asks: Resources, evictable: bool
) -> tuple[QuotaPath, Reason | None]:
    path, refusal = payers(tree, mine, labels, asks)
    if refusal is None:
        refusal = never_lent(path, asks) or (None if evictable else ever_guaranteed(path, asks))
    return path, refusal


def assigned(tree: QuotaNode | None, mine: Tenancy, job: Job) -> Assignment | Reason:
    """As the job's specification says; or why no leaf pays for it, or never could."""
    assert job.spec is not None, "an admitted job has a spec"
    if tree is None:
        return Assignment(job.spec.queue or DEFAULT_QUEUE)
    path, refusal = payers_of(tree, mine, job.spec.labels, job.spec.workload, job.spec.evictable)
    if refusal is not None:
        return refusal
    return Assignment(job.spec.queue or path[-1].name, tuple(node.path for node in path))
