"""Builders of whole records, good and broken, for the auditor's tests."""

from collections.abc import Sequence

import msgspec

from fairway.audit.attempts import Spoken
from fairway.audit.auditor import Checker, Findings
from fairway.domain.quota.tree import QuotaNode
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.capacity import Slot
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import GPU, Life, S, back, dequeued, failing, running, spec, submitted

NODES = {name: {node: {GPU: 16, "pods": 110} for node in ("n1", "n2")} for name in ("c1", "c2")}
TREE = QuotaNode("root", "root", children=(QuotaNode("a", "root/a", max={GPU: 40}),))
ROOM = Reason(Code.NO_CLUSTER_EVER, "no cluster is that large")
DONE = "8 of 8 ended well"


def heard(*lives: Life) -> list[Spoken]:
    """The messages of these lives in the order of their times, as the stream would have them."""
    said = [(message.at, life.name, number, message) for life in lives for number, message in life.said]
    record: list[Spoken] = []
    for sequence, (_, name, number, plain) in enumerate(sorted(said, key=lambda one: one[:3]), 1):
        message = plain
        if isinstance(plain, wire.Admitted | wire.Rejected) and plain.rev == 1:
            message = msgspec.structs.replace(plain, cause=f"{name}.1")
        elif isinstance(plain, wire.Submitted):
            message = msgspec.structs.replace(plain, client=name)
        subject = subjects.job(message.verb, message.tenant)
        record.append(Spoken(sequence, f"{name}.{number}", subject, message))
    return record


def audit(record: Sequence[Spoken]) -> Findings:
    checker = Checker(NODES, TREE)
    for spoken in record:
        checker.hear(spoken)
    return checker.findings()


def succeeded(life: Life, cluster: str = "c1") -> Life:
    return life.then(wire.Succeeded, cluster=cluster, text=DONE)


def again(life: Life, cluster: str = "c1") -> Life:
    """The next attempt up to its reservation, once nothing is left of the one before."""
    life.then(wire.Removed, cluster=cluster, attempt=life.now.attempt - 1)
    return reserve(life, cluster)


def reserve(life: Life, cluster: str = "c1", pods: int = 2) -> Life:
    slots = (Slot("Worker", "n1", pods), Slot("Worker", "n2", 2))
    life.then(wire.Dequeued, path=("root", "root/a"), charge={GPU: 32})
    life.then(wire.Placed, cluster=cluster, slots=slots)
    return life.then(wire.Reserved, cluster=cluster, slots=slots, expires_at=life.at + 60 * S)


def dispatched(life: Life, cluster: str = "c1") -> Life:
    return life.then(wire.Dispatched, cluster=cluster, uid="u-10")


def named(life: Life, name: str) -> Life:
    """The same life under another name, a millisecond later at every step."""
    other = Life(name)
    for number, message in life.said:
        job = name if message.job else ""
        other.said.append((number, msgspec.structs.replace(message, job=job, at=message.at + 1)))
    return other


def changed(record: list[Spoken], verb: str, **fields: object) -> list[Spoken]:
    """The record with the last message of this verb said differently."""
    last = max(index for index, spoken in enumerate(record) if spoken.message.verb == verb)
    message = msgspec.structs.replace(record[last].message, **fields)
    spoken = msgspec.structs.replace(record[last], message=message, subject=subjects.job(verb, message.tenant))
    return [*record[:last], spoken, *record[last + 1 :]]


def without(record: list[Spoken], verb: str) -> list[Spoken]:
    return [spoken for spoken in record if spoken.message.verb != verb]


def more(record: list[Spoken], kind: type[wire.JobMessage], **fields: object) -> list[Spoken]:
    """The record with one more message on the job of its last one."""
    last = record[-1].message
    head = {"job": last.job, "tenant": last.tenant, "attempt": last.attempt, "rev": last.rev + 1, "at": last.at + S}
    message = kind(**{**head, **fields})
    return [*record, Spoken(record[-1].sequence + 1, "extra", subjects.job(kind.verb, message.tenant), message)]


def good() -> list[Spoken]:
    return heard(succeeded(dispatched(again(failing(running()))).then(wire.Running, cluster="c1")))


def waiting_for_ever() -> Life:
    return back(dequeued(), Code.NO_CLUSTER_EVER, ROOM.text)


def cancelled() -> Life:
    life = running().then(wire.Recall, cluster="c1", why=Reason(Code.CANCELLED, "asked"))
    return life.then(wire.Removed, cluster="c1").then(wire.Cancelled)


def answered_twice() -> list[Spoken]:
    record = heard(submitted())
    first = more(record, wire.Admitted, job="a", spec=spec(), cause="llm-1.1")
    return [*first, *more(record, wire.Rejected, job="b", rev=1, reasons=(ROOM,), cause="llm-1.1")[1:]]


def on_subject_of(tenant: str, record: list[Spoken]) -> list[Spoken]:
    return [msgspec.structs.replace(one, subject=subjects.job(one.message.verb, tenant)) for one in record]


def later(life: Life) -> Life:
    moved = named(life, "later")
    moved.said = [(number, msgspec.structs.replace(one, at=one.at + 3_600 * S)) for number, one in moved.said]
    return moved


def twice(record: list[Spoken]) -> list[Spoken]:
    return [*record, msgspec.structs.replace(record[0], sequence=99, id="said again")]
