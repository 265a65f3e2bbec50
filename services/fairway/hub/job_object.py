"""An object of the hub that is a job's: what is known of it, and what is still to be done with it."""

from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct, field

from fairway.domain.held_object import HeldObject
from fairway.domain.names import job_id
from fairway.domain.submission import HUB_CLIENT
from fairway.hub.telling.pending_update import PendingUpdate, ToldUpdate
from fairway.wire.reasons import Reason
from fairway.wire.spec import HubRef, Template
from fairway.workloads.hub.objects import HubObject, cleaned
from fairway.workloads.hub_status import StatusWord
from fairway.workloads.kinds.registry import KINDS

Json = dict[str, Any]
_encode = msgspec.json.Encoder(order="deterministic").encode
# kube-queue's: it suspends the job that is to wait in a queue, and its owner does not.
_QUEUED_BY_SUSPENDING = "scheduling.x-k8s.io/suspend"


class WantedStatus(Struct):
    """What the object is to show: a member's status as it was `seen`, or a word of the record on an attempt that is
    over (`fails`: and with it the job) or on a job that is `queued`. `ends`: nothing comes after it. `version` is the
    resourceVersion of the member's object."""

    attempt: int
    seen: Json | None = None
    word: StatusWord | None = None
    fails: bool = False
    ends: bool = False
    version: str = ""
    queued: bool = False


class ObjectStatus(Struct):
    """The status of the object as JSON; of which job its end is that it shows. `wanted` is still to be shown, and
    `due` when (ms); `tries` how often it was not taken. Attempts before `attempt` are over, of which `version` was
    shown last."""

    status: bytes = b""
    ends: str = ""
    wanted: WantedStatus | None = None
    due: int = 0
    tries: int = 0
    attempt: int = 0
    version: str = ""


class OwnersWish(Struct):
    """The `digest` of the manifest as it was seen last, written out, and whether that is `suspended`; what of it
    Fairway knows: `said` is the digest of the manifest that was handed on last (empty: not known), `asked` that of the
    same with its policies, as the answer to it names it; `refusal` is why that is not taken over. Of one that was
    handed on although it was suspended (up to 0.2.0 that held nobody) it is remembered that it was `let_go`. While its
    tenant may submit no more bytes it is looked at `later` (ms)."""

    digest: str = ""
    suspended: bool = False
    said: str = ""
    asked: str = ""
    refusal: Reason | None = None
    answered: bool = False
    let_go: bool = False
    later: int = 0


class JobObject(Struct):
    """`one` has its manifest until it is handed on. `job` is the id of the job that stands for it; until it is
    `submitted` of the one that will; `unread`: that one's row is to be read first. `since` is when it was first seen
    (ms), `place` that of what was seen last. `refused` is the digest of the submission that was refused. `leader` is
    the uid of another pod of its gang, whose `job` it is."""

    one: HubObject
    job: str
    since: int
    place: int = 0
    submitted: bool = False
    unread: bool = False
    refused: str = ""
    leader: str = ""
    held: HeldObject | None = None
    wish: OwnersWish = field(default_factory=OwnersWish)
    shown: ObjectStatus = field(default_factory=ObjectStatus)
    pending: PendingUpdate = field(default_factory=PendingUpdate)
    told: ToldUpdate = field(default_factory=ToldUpdate)


def client_of(one: HubObject) -> str:
    """The key of its client's row."""
    return f"{one.namespace}/{HUB_CLIENT}{one.uid}"


def job_of(one: HubObject) -> str:
    """The id of the first job that stands for an object; admission derives the same."""
    return job_id(one.namespace, f"{HUB_CLIENT}{one.uid}", one.name)


def named(one: HubObject) -> HubObject:
    """Only the name is kept of what was handed on: a hundred thousand manifests would be a gigabyte."""
    return HubObject(one.kind, one.namespace, one.name, one.uid, {})


def wish_of(one: HubObject) -> str:
    """A digest of what the object says beside whether it is suspended: the same for the same wish."""
    manifest = cleaned(one.manifest)
    path = KINDS[one.kind].suspend_path
    return sha256(_encode(_without(manifest, path) if path else manifest)).hexdigest()


def ref_of(one: HubObject, templates: tuple[Template, ...]) -> HubRef:
    """With the `templates` that were copied into what is submitted for it."""
    return HubRef(one.uid, KINDS[one.kind].plural, templates, wish_of(one) if one.refers else "")


def _without(manifest: Json, path: tuple[str, ...]) -> Json:
    """A copy without what is there, as deep as it has to be."""
    first, *rest = path
    inside = manifest.get(first)
    if not rest:
        return {key: value for key, value in manifest.items() if key != first}
    return {**manifest, first: _without(inside, tuple(rest))} if isinstance(inside, dict) else manifest


def suspended(one: HubObject) -> bool:
    """Whether its owner holds it."""
    notes = (one.manifest.get("metadata") or {}).get("annotations") or {}
    if isinstance(notes, dict) and notes.get(_QUEUED_BY_SUSPENDING) == "true":
        return False
    return KINDS[one.kind].suspended(one.manifest)
