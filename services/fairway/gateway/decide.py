"""What is said for a submission and for a cancellation: messages with ids derived from who asked for what. Pure."""

from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Raw, Struct

from fairway.domain.decision import Say
from fairway.domain.names import job_id
from fairway.domain.tell import message_id
from fairway.wire import jobs as wire
from fairway.wire import subjects

# Client ids under this prefix belong to objects of the hub.
HUB_CLIENT = "hub:"
_encode = msgspec.json.Encoder(order="deterministic").encode


class Asked(Struct, frozen=True):
    """One job, and the policies that came along with it."""

    manifest: dict[str, Any]
    policies: tuple[dict[str, Any], ...] = ()
    client: str = ""


class Submission(Struct, frozen=True):
    """`digest` is the one that admission works out for the same bytes; `key` is the client's row in the store."""

    job: str
    tenant: str
    key: str
    digest: str
    say: Say


def submission(asked: Asked, source: str, now: int, hub: wire.HubRef | None = None, again: bool = False) -> Submission:
    """The same client with the same body gives the same message id, so that saying it again is saying it once.
    `again`: what the hub's object was before has been refused."""
    namespace, name = names_of(asked.manifest)
    manifest = Raw(_encode(asked.manifest))
    policies = tuple(Raw(_encode(policy)) for policy in asked.policies)
    digest = sha256(bytes(manifest) + b"".join(map(bytes, policies))).hexdigest()
    job = job_id(namespace, asked.client, name)
    message = wire.Submitted(
        job=job, tenant=namespace, at=now, manifest=manifest, policies=policies, client=asked.client, source=source,
        hub=hub,
    )  # fmt: skip
    # An object of the hub is submitted once for its uid, however its policies change meanwhile.
    parts = (asked.client,) if hub and not again else (asked.client, digest)
    say = Say(message_id("submitted", namespace, *parts), subjects.job(message.verb, namespace), message)
    return Submission(job, namespace, f"{namespace}/{asked.client}", digest, say)


def cancellation(job: str, tenant: str, who: str, now: int) -> Say:
    """Cancelling twice is cancelling once; a later try has another id, in case the first came before the job."""
    message = wire.Cancel(job=job, tenant=tenant, at=now, who=who)
    return Say(message_id("cancel", job, who, now // 1_000), subjects.job(message.verb, tenant), message)


def names_of(manifest: dict[str, Any]) -> tuple[str, str]:
    """Namespace and name as they are written, for a message that may yet be refused."""
    meta = manifest.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    return str(meta.get("namespace") or "default"), str(meta.get("name") or "")


def outgoing_kind(say: Say) -> str:
    """The CloudEvents type of a message."""
    return ".".join(say.subject.split(".")[:3])
