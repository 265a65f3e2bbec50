"""How a service says what became of a job: events with derived ids, folded into the job, in one guarded step."""

from hashlib import blake2b
from typing import Any, Protocol

import msgspec

from fairway.domain import decision
from fairway.domain.decision import Add, Heard, Put, Say, Step, Write
from fairway.domain.fold import fold
from fairway.domain.job import Job
from fairway.domain.quota.charge import Share, owed_key
from fairway.domain.tenancy.submission_limits import pending
from fairway.wire import subjects
from fairway.wire.jobs import JobMessage


class JobRows(Protocol):
    """The part of a view that knows jobs: as they are now, and at which revision the store has them. `stored` has
    those of which a message knows more than the store (rebuilt while it was on its way), as the store has them."""

    jobs: dict[str, Job]
    revs: dict[str, int]
    stored: dict[str, Job | None]


def message_id(*parts: object) -> str:
    """An id that anybody derives again from the same parts: 120 bits, letters and digits."""
    return _digest("\x1f".join(map(str, parts)))


def claim_id(job: str, attempt: int, number: int) -> str:
    """As evictions name a job's claim: it tells claims apart, and does not name the job."""
    return f"claim-{message_id(job, attempt, number)[:8]}"


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=15).hexdigest()


def another_id(job: str, cause: str, digest: str) -> str:
    """The id of a job when its own is taken by one that was refused: by what was said, and the digest of it."""
    return f"{job[:50]}-{message_id(cause, digest)[:6]}"


def name_key(namespace: str, kind: str, name: str) -> str:
    """The key under which a live job's object name is taken; no part of it can hold a slash."""
    return f"{namespace}/{kind}/{name}"


class Teller:
    """Says events of one job in answer to one message. `step` gives what they change: the job's row, its quota."""

    def __init__(self, view: JobRows, service: str, heard: Heard[object], now: int, job: str | Job) -> None:
        """`job` is given by its id, or as it is known when the view has no row of it."""
        known = job if isinstance(job, Job) else None
        self.id = known.id if known else str(job)
        self.job: Job | None = view.jobs.get(self.id, known)
        self._before = self.job
        self._stored = view.stored.get(self.id, self.job)
        self._rev = view.revs.get(self.id, known.rev if known else 0)
        self._service = service
        self._heard = heard
        self._now = now
        self._events: list[Say] = []

    def say(self, event: type[JobMessage], /, **fields: Any) -> "Teller":
        """Adds an event; the attempt is the job's own unless `attempt` is given."""
        job = self.job
        head: dict[str, Any] = {"job": self.id, "at": self._now, "cause": self._heard.id, "rev": 1}
        if job is not None:
            head["tenant"] = job.tenant
            head["attempt"] = job.attempt
            head["rev"] = job.rev + 1
        message = event(**head | fields)
        self.job = job = fold(job, message)
        # The rev is part of the id: one message can lead to several events of a job at different times (its other
        # steps were refused, or it was put off), and none of them must be taken for a repetition of the first.
        name = _digest(f"{self._service}\x1f{self._heard.id}\x1f{self.id}\x1f{job.rev}")
        self._events.append(Say(name, subjects.job(event.verb, message.tenant), message))
        return self

    def step(self, *more: Write) -> Step:
        """The step that makes it so. `more` are writes that go along, such as a charge with its limit."""
        assert self.job is not None, "say something before taking the step"
        writes: list[Write] = [Put(decision.JOBS, self.id, row_of(self.job), rev=self.job.rev, expect=self._rev), *more]
        writes += [Put(decision.PLACED, self.id, one.message) for one in self._events if one.message.verb == "placed"]
        writes += counted(self._stored, self.job)
        if self._before is not None:
            writes += owed(self._before, self.job)
            writes += made_up(self._stored, self._before)
            if self._before.cluster and (self.job.ended or not self.job.cluster):
                writes.append(Put(decision.PLACED, self.id, None))
        if not self.job.ended and self._stored is None:
            writes.append(Put(decision.LIVE, self.id, ""))
        if self.job.ended and not (self._stored and self._stored.ended):
            writes += farewell(self.job)
        return Step(writes=tuple(writes), events=tuple(self._events))


def aside(service: str, heard: Heard[object], message: JobMessage) -> Step:
    """Says this in answer to a message, and changes nothing of the job."""
    name = message_id(service, heard.id, message.job, message.verb)
    return Step(events=(Say(id=name, subject=subjects.job(message.verb, message.tenant), message=message),))


def row_of(job: Job) -> Job:
    """The job as its row has it. The record of the placement grows with the fleet and only `why` asks for it: it has a
    row of its own, so that the stages to come do not carry it along."""
    return msgspec.structs.replace(job, placed=None) if job.placed is not None else job


def owed(before: Job, after: Job) -> list[Write]:
    """The share of `before`, when `after` is no longer charged: usage is what charged jobs have, and what is owed."""
    if not before.charged or after.charged or not before.path:
        return []
    return [Put(decision.OWED, owed_key(after.id, after.entered), Share(before.path, before.charge))]


def counted(before: Job | None, after: Job) -> list[Write]:
    """Keeps count of the pending jobs of each tenant."""
    change = pending(after) - (before is not None and pending(before))
    return [Add(decision.PENDING, after.tenant, change)] if change else []


def made_up(stored: Job | None, before: Job) -> list[Write]:
    """What the store lacks of a job whose row is behind its messages: the charge, and what admission wrote."""
    writes: list[Write] = []
    charged = bool(stored and stored.charged)
    if before.charged and not charged:
        writes += Share(before.path, before.charge).adds()
    if stored is not None and charged and not before.charged:  # heard of, so that nothing is owed
        writes += Share(stored.path, stored.charge).adds(-1)
    if stored is None and before.spec is not None:
        work = before.spec.workload
        writes.append(Put(decision.NAMES, name_key(work.namespace, work.kind, work.name), before.id))
        if before.spec.client and before.submitted_as:
            known = (before.id, before.submitted_as.sha256)
            writes.append(Put(decision.CLIENTS, before.spec.client, known))
    return writes


def farewell(job: Job) -> list[Write]:
    """A job that ends is no longer live, and its name is free again: for another job, so only once. Of one that was
    refused so is its client's id, where that cannot take another one: its row then has no digest."""
    if job.spec is None:
        return []
    work = job.spec.workload
    key = name_key(work.namespace, work.kind, work.name)
    again = [Put(decision.CLIENTS, job.spec.client, (job.id, ""))] if job.asked_anew else []
    return [Put(decision.LIVE, job.id, None), Put(decision.NAMES, key, None), *again]


def current(view: JobRows, message: JobMessage, *states: str) -> Job | None:
    """The job a message speaks of, if the message is still news: the job is in one of `states`, entered no later
    than by this message, and of the same attempt. None: a late or repeated message, to be passed over."""
    job = view.jobs.get(message.job)
    if job is None or job.state not in states or job.attempt != message.attempt or job.entered > message.rev:
        return None
    return job
