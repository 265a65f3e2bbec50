"""The leaf that pays for the job, the queue it waits in; refused at once if its maximum can never hold it."""

from typing import Protocol

from fairway.domain.decision import NOTHING, Decision, Heard
from fairway.domain.events import JobRows, Teller, current
from fairway.domain.job import Job, State
from fairway.domain.quota.charge import request
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.tenancy.entitlement import payers
from fairway.domain.tenancy.profile import Tenancy
from fairway.wire import jobs as wire
from fairway.wire.reasons import Reason

SERVICE = "quota"
# Without a tree there is one queue for all, and nothing is limited.
DEFAULT_QUEUE = "default"


class View(JobRows, Protocol):
    """`tree` is the last good ElasticQuotaTree, or None."""

    @property
    def tree(self) -> QuotaNode | None: ...
    def tenancy(self, namespace: str) -> Tenancy: ...


def decide(view: View, heard: Heard[wire.Admitted], now: int) -> Decision:
    job = current(view, heard.message, State.ADMITTED)
    if job is None or job.spec is None:
        return NOTHING
    teller = Teller(view, SERVICE, heard, now, job.id)
    path, refusal = _path(view, job)
    if refusal is not None:
        teller.say(wire.Rejected, reasons=(refusal,), kind=job.spec.workload.kind, name=job.spec.workload.name)
        return Decision((teller.step(),))
    leaf = tuple(node.path for node in path)
    queue = job.spec.queue or (path[-1].name if path else DEFAULT_QUEUE)
    return Decision((teller.say(wire.Queue, queue=queue, leaf=leaf, enqueued_at=job.submitted_at).step(),))


def _path(view: View, job: Job) -> tuple[tuple[QuotaNode, ...], Reason | None]:
    if view.tree is None or job.spec is None:
        return (), None
    return payers(view.tree, view.tenancy(job.spec.workload.namespace), job.spec.labels, request(job))
