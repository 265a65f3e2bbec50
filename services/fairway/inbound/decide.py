"""What a tenant said on its own subject, as a door says it; or why it is not taken."""

from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Raw

from fairway.domain.decision import Decision, Heard, Say, Step
from fairway.domain.events import JobRows, message_id
from fairway.domain.names import job_id
from fairway.domain.submission import BUS, as_said, cancellation, names_of, raw, request_of
from fairway.inbound.put_off import MOST, Key, PutOff
from fairway.wire import inbound, subjects
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.fleet import DeadLetter
from fairway.wire.reasons import Code, Reason, Refused
from fairway.workloads.reading.parse import DEEPEST, LARGEST_TEXT, json_value, too_deep

SERVICE = "inbound"
# A cancellation may overtake the admission of its job: it is looked at again after this long (ms), each time after
# twice as long, and given up after eight and a half minutes. Anybody can name jobs that there are not, so the looks
# are few.
_WAIT_MS = 500
_TRIES = 11
_SHOWN = 80
# What Kubernetes takes as a name has no more characters.
_LONGEST_NAME = 253
# Stands for what is nested deeper than any door takes: too deep as well, so that admission refuses it for that, and its
# tenant can read why, but of no depth that ends the stack of a reader of the record.
_TOO_DEEP = Raw(b'{"":' * (DEEPEST + 1) + b"0" + b"}" * (DEEPEST + 1))


class Known(JobRows, Protocol):
    """Jobs by name, which cancellations wait for theirs, and which submissions are beyond the bytes of their tenant."""

    @property
    def waiting(self) -> PutOff: ...
    @property
    def beyond(self) -> Mapping[Key, Reason]: ...


def decide(view: Known, heard: Heard[inbound.Message], now: int) -> Decision:
    """The same message leads to the same words, under the same ids, however often it is heard."""
    tenant, verb = subjects.spoken(heard.subject)
    message = heard.message
    if verb != message.verb:
        text = f"a message of type {message.verb} was said on {heard.subject}"
        return _refused(heard, now, Reason(Code.WRONG_SUBJECT, text, remedy="say each on the subject of its name"))
    if heard.size > LARGEST_TEXT:
        text = f"the message has {heard.size} bytes; {LARGEST_TEXT} (1 MiB) is the most"
        remedy = "move data out of the manifest, into a ConfigMap or an image"
        return _refused(heard, now, Reason(Code.TOO_LARGE, text, remedy=remedy))
    if isinstance(message, inbound.CancelRequest):
        return _cancel(view, heard, message.job, tenant, now)
    return _submit(heard, message, view.beyond.get(key_of(heard)), now)


def key_of(heard: Heard[object]) -> Key:
    return heard.sequence, heard.id


def _submit(heard: Heard[object], request: inbound.SubmitRequest, beyond: Reason | None, now: int) -> Decision:
    token, _ = subjects.spoken(heard.subject)
    parts = tuple(map(_followed, (request.manifest, *request.policies)))
    read = [one for part in parts if (one := _object(part)) is not None]
    if len(read) == len(parts):
        parts = tuple(map(raw, read))
    elif not all(map(_text, parts)):
        return _refused(heard, now, Reason(Code.INVALID, "the message is not UTF-8 text", "manifest", "send JSON"))
    # What cannot be read goes as it came: admission refuses it with every reason, and the tenant can read of it.
    namespace, name = names_of(read[0]) if len(read) == len(parts) else ("", "")
    tenant = _tenant(token, namespace)
    if not tenant:
        text = f"the tenant of {heard.subject} is not that of the manifest, {namespace[:_SHOWN]!r}"
        remedy = "say it on the subject of its namespace: fairway.in.<namespace>.submit"
        return _refused(heard, now, Reason(Code.WRONG_SUBJECT, text, "metadata.namespace", remedy))
    client = request.client or f"bus:{message_id(_own_id(heard))}"
    message = wire.Submitted(
        job=job_id(tenant, client, name),
        tenant=tenant,
        at=_at(heard, now),
        manifest=raw(_named(read[0] if read else {})) if beyond else parts[0],
        policies=() if beyond else parts[1:],
        client=client,
        source=BUS,
        who=Actor(tenant, BUS, request_of(heard.id)),
        refused=(beyond,) if beyond else (),
    )
    return _said(as_said(message).say)


def _named(manifest: dict[str, Any]) -> dict[str, Any]:
    """Which job it would have been, and no more of it."""
    meta = manifest.get("metadata")
    parts = (manifest, ("apiVersion", "kind")), (meta if isinstance(meta, dict) else {}, ("name", "namespace"))
    head, names = ({key: str(of[key])[:_LONGEST_NAME] for key in keys if key in of} for of, keys in parts)
    return {**head, "metadata": names}


def _cancel(view: Known, heard: Heard[object], name: str, token: str, now: int) -> Decision:
    """Of another tenant's job no more is said than of one that nobody knows."""
    job = view.jobs.get(name)
    if job is None and name and heard.delivered < _TRIES:
        if view.waiting.room(token, key_of(heard), now):
            return Decision(again_in=_WAIT_MS * 2 ** (heard.delivered - 1))
        text = f"{MOST} cancellations of this tenant wait for jobs that are not known; {name[:_SHOWN]!r} is not, either"
        remedy = "cancel a job after its events name it"
        return _refused(heard, now, Reason(Code.TOO_FAST, text, "job", remedy))
    if job is None or subjects.token(job.tenant) != token:
        text = f"no job {name[:_SHOWN]!r} of the tenant that speaks on {heard.subject} is known"
        remedy = "name a job by its id, as its events have it"
        return _refused(heard, now, Reason(Code.FORBIDDEN, text, "job", remedy))
    who = Actor(job.tenant, BUS, request_of(heard.id))
    return _said(cancellation(name, job.tenant, who, _at(heard, now)))


def _tenant(token: str, namespace: str) -> str:
    """Whose subject it is. A token that is no name is the hash of one, which only whoever says it right can know."""
    if subjects.token(token) == token:
        return token
    return namespace if subjects.token(namespace) == token else ""


def _own_id(heard: Heard[object]) -> str:
    """The id that the sender chose, or the place of the message: told from that of a stream that was made anew."""
    placed = heard.id == f"{subjects.IN}-{heard.sequence}"
    return f"{heard.id}-{heard.stored_at}" if placed else heard.id


def _followed(part: Raw) -> Raw:
    """The part, if all who read the record can follow it."""
    return _TOO_DEEP if too_deep(bytes(part)) else part


def _object(part: Raw) -> dict[str, Any] | None:
    """What a part says, if it is an object that every reader reads alike."""
    data = bytes(part)
    try:
        found = json_value(data) if data.lstrip()[:1] == b"{" else None
    except Refused:
        return None
    return found if isinstance(found, dict) else None


def _text(part: Raw) -> bool:
    try:
        return bool(bytes(part).decode())
    except UnicodeDecodeError:
        return False


def _at(heard: Heard[object], now: int) -> int:
    """When it was said, by the clock of the bus: the same whenever it is heard."""
    return heard.stored_at or now


def _refused(heard: Heard[object], now: int, why: Reason) -> Decision:
    """One dead letter, without the bytes: those stay in the stream for as long as anything does there."""
    token, _ = subjects.spoken(heard.subject)
    letter = DeadLetter(
        at=_at(heard, now),
        service=SERVICE,
        subject=heard.subject,
        id=request_of(heard.id),
        stream=subjects.IN,
        sequence=heard.sequence,
        why=why,
        who=Actor(token, BUS, request_of(heard.id)),
    )
    name = message_id("refused", heard.id, heard.sequence, heard.subject)
    return _said(Say(name, subjects.dead_letter(SERVICE), letter))


def _said(say: Say) -> Decision:
    return Decision((Step(events=(say,)),))
