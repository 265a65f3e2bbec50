"""What is said for a submission and for a cancellation: messages with ids derived from who asked for what. Pure."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Raw, Struct

from fairway.domain.decision import Say
from fairway.domain.names import job_id
from fairway.domain.tell import message_id
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.reasons import Code, Reason, Refused
from fairway.workloads.policies import is_policy

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


def submission(asked: Asked, source: str, now: int, hub: wire.HubRef | None = None) -> Submission:
    """The same client with the same body gives the same message id, so that saying it again is saying it once."""
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
    parts = (asked.client,) if hub else (asked.client, digest)
    say = Say(message_id("submitted", namespace, *parts), subjects.job(message.verb, namespace), message)
    return Submission(job, namespace, f"{namespace}/{asked.client}", digest, say)


def cancellation(job: str, tenant: str, who: str, now: int) -> Say:
    """Cancelling twice is cancelling once; a later try has another id, in case the first came before the job."""
    message = wire.Cancel(job=job, tenant=tenant, at=now, who=who)
    return Say(message_id("cancel", job, who, now // 1_000), subjects.job(message.verb, tenant), message)


def one_job(documents: Sequence[dict[str, Any]], client: str) -> Asked:
    """The one job among `documents`, the rest being policies. Raises Refused."""
    policies = tuple(one for one in documents if is_policy(one))
    jobs = [one for one in documents if not is_policy(one)]
    if len(jobs) == 1:
        return Asked(jobs[0], policies, client)
    kinds = ", ".join(str(one.get("kind", "?"))[:60] for one in jobs[:5]) or "none"
    text = f"the body holds {len(jobs)} objects that are no policies ({kinds}), not one job"
    raise Refused(Reason(Code.INVALID, text, remedy="send one job in each request, with its policies beside it"))


def from_envelope(body: dict[str, Any], client: str) -> Asked:
    """`{"manifest": {...}, "policies": [...], "client": "..."}`. Raises Refused with the field."""
    unknown = sorted(set(body) - {"manifest", "policies", "client"})
    if unknown:
        raise Refused(Reason(Code.INVALID, "is not known", str(unknown[0])[:80], "use manifest, policies and client"))
    manifest, policies = body.get("manifest"), body.get("policies") or []
    if not isinstance(manifest, dict):
        raise Refused(Reason(Code.INVALID, "is missing or not an object", "manifest", "put the job's manifest here"))
    if not isinstance(policies, list) or not all(isinstance(one, dict) for one in policies):
        raise Refused(Reason(Code.INVALID, "is not a list of objects", "policies", "put PropagationPolicies here"))
    wrong = next((index for index, one in enumerate(policies) if not is_policy(one)), None)
    if wrong is not None:
        kind = str(policies[wrong].get("kind", "?"))[:60]
        raise Refused(Reason(Code.INVALID, f"{kind} is not a policy", f"policies[{wrong}]", "leave it out"))
    given = body.get("client") or ""
    if not isinstance(given, str):
        raise Refused(Reason(Code.INVALID, "is not a string", "client", "put it in quotes"))
    return Asked(manifest, tuple(policies), client or given)


def names_of(manifest: dict[str, Any]) -> tuple[str, str]:
    """Namespace and name as they are written, for a message that may yet be refused."""
    meta = manifest.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    return str(meta.get("namespace") or "default"), str(meta.get("name") or "")


def check_client(client: str) -> None:
    """Raises Refused when a client id is too long, not printable, or one of the hub's."""
    if len(client) > 128 or not client.isprintable():
        text = f"has {len(client)} characters, or some that cannot be printed"
        raise Refused(Reason(Code.INVALID, text, "Idempotency-Key", "use at most 128 printable characters"))
    if client.startswith(HUB_CLIENT):
        text = f"starts with {HUB_CLIENT}, which is for objects of the hub"
        raise Refused(Reason(Code.INVALID, text, "Idempotency-Key", "choose another prefix"))


def outgoing_kind(say: Say) -> str:
    """The CloudEvents type of a message."""
    return ".".join(say.subject.split(".")[:3])


def reasons_of(errors: Iterable[Reason]) -> list[dict[str, str]]:
    """As the answers show them: code, field, text, remedy, all of them present."""
    return [{"code": one.code.value, "field": one.field, "text": one.text, "remedy": one.remedy} for one in errors]
