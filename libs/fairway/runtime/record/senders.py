"""Whose job a message speaks of: what was said in another's place, or of another's job, is not believed. Pure.

Who may publish on a subject speaks for the tenant, or the cluster, that it names, and for nobody else; what a message
says of itself proves nothing.
"""

from msgspec import DecodeError

from fairway.domain.decision import Heard
from fairway.domain.job import Job
from fairway.domain.text.decoding import decoder
from fairway.runtime.ports import Delivery
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.envelope import JobMessage
from fairway.wire.fleet import Freed, Report, Stranded
from fairway.wire.preemption.evictions import Evict, Relieve
from fairway.wire.reasons import Code, Reason

_decode = decoder(wire.Message)
_REMEDY = "see who may publish there"


def place_of(message: JobMessage) -> str:
    """The subject that a message on a job must have come on."""
    return subjects.job(message.verb, message.tenant)


def place_of_cluster(message: Report | Freed | Stranded) -> str:
    """The subject that a message on a cluster must have come on."""
    return subjects.cluster(message.verb, message.cluster)


def place_of_relief(message: Relieve | Evict) -> str:
    """The subject that a message on evictions must have come on."""
    return subjects.relief(message.verb)


def in_place(subject: str, message: JobMessage) -> bool:
    return subject == place_of(message)


def message_of(one: Delivery) -> JobMessage | None:
    """What was said of a job; None for what does not decode, and for what was said in another's place."""
    try:
        message: JobMessage = _decode(one.data)
    except DecodeError:
        return None
    return message if in_place(one.subject, message) else None


def wrong_place(subject: str, place: str) -> Reason:
    text = f"said on {subject}, and belongs on {place}: somebody speaks for another"
    return Reason(Code.WRONG_SUBJECT, text, remedy=_REMEDY)


def foreign(jobs: dict[str, Job], heard: Heard[object]) -> Reason | None:
    """Why a message is not heard: the job that it speaks of, as it is known, is another tenant's. What was not said on
    the bus is what the service itself has seen: whose an object in a member is, the watcher asks."""
    message = heard.message
    if not heard.subject or not isinstance(message, JobMessage):
        return None
    job = jobs.get(message.job)
    if job is None or job.tenant == message.tenant:
        return None
    text = f"said for tenant {message.tenant}, of job {job.id}, which is not its own"
    return Reason(Code.WRONG_SUBJECT, text, remedy=_REMEDY)
