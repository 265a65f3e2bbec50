"""What a door says for a submission, for a change to a job and for its cancellation: messages with ids derived from who
asked for what. Pure."""

from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Raw, Struct

from fairway.domain.decision import Say
from fairway.domain.events import message_id
from fairway.domain.job import Job
from fairway.domain.names import job_id
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason

# Client ids under this prefix belong to objects of the hub.
HUB_CLIENT = "hub:"
# The door of tenants on the bus, as a source; admission counts what comes through it.
BUS = "bus"
# Whose objects come as another API stored them, as a source.
HUB = "hub"
_LONGEST_CLIENT = 128
_encode = msgspec.json.Encoder(order="deterministic").encode


class Asked(Struct, frozen=True):
    """One job, and the policies that came along with it."""

    manifest: dict[str, Any]
    policies: tuple[dict[str, Any], ...] = ()
    client: str = ""


class Submission(Struct, frozen=True):
    """`digest` is the one that admission works out for the same bytes; `key` is the client's row in the store; `size`
    is what counts for its tenant's bytes."""

    job: str
    tenant: str
    key: str
    digest: str
    say: Say

    @property
    def size(self) -> int:
        assert isinstance(self.say.message, wire.Manifested), "that is what a submission says"
        return size_of(self.say.message)


def submission(asked: Asked, who: Actor, now: int, hub: wire.HubRef | None = None, again: bool = False) -> Submission:
    """The same client with the same body gives the same message id, so that saying it again is saying it once.
    `again`: what the hub's object was before has been refused."""
    namespace, name = names_of(asked.manifest)
    message = wire.Submitted(
        job=job_id(namespace, asked.client, name),
        tenant=namespace,
        at=now,
        manifest=raw(asked.manifest),
        policies=tuple(map(raw, asked.policies)),
        client=asked.client,
        source=who.via,
        hub=hub,
        who=who,
    )
    return as_said(message, again)


def as_said(message: wire.Submitted, again: bool = False) -> Submission:
    """A message with the id that the same client gives it whenever it says the same."""
    digest = digest_of(message)
    # An object of the hub is submitted once for its uid, however its policies change meanwhile.
    parts = (message.client,) if message.hub and not again else (message.client, digest)
    name = message_id("submitted", message.tenant, *parts)
    say = Say(name, subjects.job(message.verb, message.tenant), message)
    return Submission(message.job, message.tenant, f"{message.tenant}/{message.client}", digest, say)


def size_of(message: wire.Manifested) -> int:
    """What its tenant is charged for it, in bytes: the manifest and the policies that came along."""
    return len(bytes(message.manifest)) + sum(len(bytes(one)) for one in message.policies)


def digest_of(message: wire.Manifested) -> str:
    """Of the manifest and the policies that came along."""
    made = sha256(message.manifest)
    for one in message.policies:
        made.update(one)
    return made.hexdigest()


def revision(job: Job, asked: Asked, who: Actor, now: int, hub: wire.HubRef | None = None) -> Submission:
    """Asks for another manifest of a job that is there. The same wish is said once until the job has changed: what was
    not taken over then is asked for again when it may be."""
    message = wire.Revise(
        job=job.id,
        tenant=job.tenant,
        at=now,
        manifest=raw(asked.manifest),
        policies=tuple(map(raw, asked.policies)),
        client=asked.client,
        source=who.via,
        hub=hub,
        who=who,
    )
    digest = digest_of(message)
    name = message_id("revise", job.id, job.tenant, job.rev, digest)
    say = Say(name, subjects.job(message.verb, job.tenant), message)
    return Submission(job.id, job.tenant, f"{job.tenant}/{asked.client}", digest, say)


def holding(job: Job, held: bool, who: Actor, now: int) -> Say:
    """Asks to keep the job from running, or to let it go again; once until the job has changed."""
    message = wire.HoldJob(job=job.id, tenant=job.tenant, at=now, held=held, who=who)
    name = message_id("hold", job.id, job.tenant, job.rev, held)
    return Say(name, subjects.job(message.verb, job.tenant), message)


def cancellation(job: str, tenant: str, who: Actor, now: int) -> Say:
    """Cancelling twice is cancelling once; a later try has another id, in case the first came before the job."""
    message = wire.Cancel(job=job, tenant=tenant, at=now, who=who)
    name = message_id("cancel", job, tenant, who.via, who.user, now // 1_000)
    return Say(name, subjects.job(message.verb, tenant), message)


def request_of(message: str) -> str:
    """The id of a message as the id of a request: whoever sent it chose it, so a long or odd one is shortened."""
    return message if len(message) <= _LONGEST_CLIENT and message.isprintable() else message_id(message)


def raw(part: dict[str, Any]) -> Raw:
    """As every door writes it, so that all find the same digest."""
    return Raw(_encode(part))


def names_of(manifest: dict[str, Any]) -> tuple[str, str]:
    """Namespace and name as they are written, for a message that may yet be refused."""
    meta = manifest.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    return str(meta.get("namespace") or "default"), str(meta.get("name") or "")


def client_problem(client: str, field: str) -> Reason | None:
    """Why a client id is not taken that came in this field: too long, not printable, or one of the hub's."""
    if len(client) > _LONGEST_CLIENT or not client.isprintable():
        text = f"has {len(client)} characters, or some that cannot be printed"
        return Reason(Code.INVALID, text, field, f"use at most {_LONGEST_CLIENT} printable characters")
    if client.startswith(HUB_CLIENT):
        text = f"starts with {HUB_CLIENT}, which is for objects of the hub"
        return Reason(Code.INVALID, text, field, "choose another prefix")
    return None
