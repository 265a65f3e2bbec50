"""Which leaf pays for a job, and in which queue it waits. Pure."""

from msgspec import Struct

from fairway.domain.batch_resources import on_batch
from fairway.domain.job import Job
from fairway.domain.quota.charge import request
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.tenancy.entitlement import payers
from fairway.domain.tenancy.profile import Tenancy
from fairway.wire.reasons import Reason

# Without a tree there is one queue for all, and nothing is limited.
DEFAULT_QUEUE = "default"


class Assignment(Struct, frozen=True):
    """`leaf` are the paths of the nodes from the root to the leaf."""

    queue: str
    leaf: tuple[str, ...] = ()


def assigned(tree: QuotaNode | None, mine: Tenancy, job: Job) -> Assignment | Reason:
    """As the job's specification says; or why no leaf pays for it, or never could."""
    assert job.spec is not None, "an admitted job has a spec"
    if tree is None:
        return Assignment(job.spec.queue or DEFAULT_QUEUE)
    work = job.spec.workload
    path, refusal = payers(tree, mine, job.spec.labels, request(work))
    if refusal is not None and work.batch_first:  # it may have what it never gets of the one, of the other
        path, also = payers(tree, mine, job.spec.labels, request(on_batch(work)))
        refusal = refusal if also is not None else None
    if refusal is not None:
        return refusal
    return Assignment(job.spec.queue or path[-1].name, tuple(node.path for node in path))
