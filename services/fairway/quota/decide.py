"""The leaf that pays for the job, the queue it waits in; refused at once if its maximum can never hold it."""

from typing import Protocol

from fairway.domain.decision import NOTHING, Decision, Heard
from fairway.domain.job import Job, State
from fairway.domain.quota import request
from fairway.domain.quota_tree import QuotaNode, ever_fits, leaf_of
from fairway.domain.tell import Jobs, Teller, current
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason

SERVICE = "quota"
# Without a tree there is one queue for all, and nothing is limited.
DEFAULT_QUEUE = "default"


class View(Jobs, Protocol):
    """`tree` is the last good ElasticQuotaTree, or None."""

    @property
    def tree(self) -> QuotaNode | None: ...


def decide(view: View, heard: Heard, now: int) -> Decision:
    job = current(view, heard, State.ADMITTED)
    if job is None or job.spec is None:
        return NOTHING
    teller = Teller(view, SERVICE, heard, now)
    path, refusal = _path(view.tree, job)
    if refusal is not None:
        teller.say(wire.Rejected, reasons=(refusal,), kind=job.spec.workload.kind, name=job.spec.workload.name)
        return Decision((teller.step(),))
    leaf = tuple(node.path for node in path)
    queue = job.spec.queue or (path[-1].name if path else DEFAULT_QUEUE)
    return Decision((teller.say(wire.Queue, queue=queue, leaf=leaf, enqueued_at=job.submitted_at).step(),))


def _path(tree: QuotaNode | None, job: Job) -> tuple[tuple[QuotaNode, ...], Reason | None]:
    if tree is None or job.spec is None:
        return (), None
    work = job.spec.workload
    path = leaf_of(tree, work.namespace, job.spec.labels)
    if path is None:
        text = f"namespace {work.namespace} belongs to no leaf of the ElasticQuotaTree"
        remedy = "add it to a leaf's `namespaces`, or set the label quota.scheduling.koordinator.sh/name"
        return (), Reason(Code.UNKNOWN_QUOTA, text, "metadata.namespace", remedy)
    return tuple(path), ever_fits(path, request(job))
