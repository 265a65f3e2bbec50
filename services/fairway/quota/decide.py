"""The leaf that pays for the job, the queue it waits in; refused at once if its maximum can never hold it."""

from typing import Protocol

from fairway.domain.decision import NOTHING, Decision, Heard
from fairway.domain.events import JobRows, Teller, current
from fairway.domain.job import State
from fairway.domain.quota.assignment import assigned
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.tenancy.profile import Tenancy
from fairway.wire import jobs as wire
from fairway.wire.reasons import Reason

SERVICE = "quota"


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
    work = job.spec.workload
    found = assigned(view.tree, view.tenancy(work.namespace), job)
    if isinstance(found, Reason):
        return Decision((teller.say(wire.Rejected, reasons=(found,), kind=work.kind, name=work.name).step(),))
    return Decision((teller.say(wire.Queue, queue=found.queue, leaf=found.leaf, enqueued_at=job.submitted_at).step(),))
