"""From a submitted message to a job's specification, or to all the reasons why not. Pure."""

from typing import Any

import msgspec
from msgspec import Raw, Struct

from fairway.admission.named_settings import NamedSettings, placement_of, policy_of, priority_terms, queue_named
from fairway.domain.names import job_id
from fairway.domain.policy_terms import terms
from fairway.domain.submission import BUS, HUB, client_problem, digest_of
from fairway.domain.tenancy.profile import reserved, reserved_reason
from fairway.wire import jobs as wire
from fairway.wire.policy import Policy
from fairway.wire.reasons import Code, Reason, Refused
from fairway.workloads.companions.named import named
from fairway.workloads.kinds.registry import KINDS, read
from fairway.workloads.reading.named_objects import NamedObjects, claims
from fairway.workloads.reading.parse import DEEPEST, LARGEST_TEXT, json_value, too_deep
from fairway.workloads.reading.preemptible import evict_notice_of, evictable_of
from fairway.workloads.settings.policy_limits import MOST_ALONG, MOST_BYTES
from fairway.workloads.settings.policy_room import in_room_of
from fairway.workloads.typed.manifests import TypedManifest, read_typed


class Understood(Struct, frozen=True):
    """`job` is the id whatever else is true; `spec` is None when the manifest is refused for `reasons`. `manifest` is
    there for what may change an object in place."""

    job: str
    tenant: str
    client: str
    digest: str
    kind: str = ""
    name: str = ""
    spec: wire.JobSpec | None = None
    reasons: tuple[Reason, ...] = ()
    api_version: str = ""
    manifest: dict[str, Any] = {}


class _Read(Struct, frozen=True):
    """What a manifest is; or why it is refused unread. `typed` is what the typed reader says of it, if it takes it."""

    manifest: dict[str, Any]
    refusal: Reason | None = None
    typed: TypedManifest | None = None


class _Meta(Struct, frozen=True):
    name: str = ""


class _Names(Struct, frozen=True):
    """What says of an object which it is."""

    api_version: str = msgspec.field(default="", name="apiVersion")
    kind: str = ""
    metadata: _Meta = _Meta()


def understand(message: wire.Manifested, cause: str, sequence: int, settings: NamedSettings) -> Understood:
    """`cause` stands in for a client id that was not given; `sequence` is where the manifest is kept."""
    digest = digest_of(message)
    found = _read(message, settings)
    manifest = found.manifest
    meta = manifest.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    name = str(meta.get("name") or "")
    wrong = client_problem(message.client, "client") if message.source == BUS else None
    client = cause if wrong or not message.client else message.client
    # The tenant's, for whom the door vouches, whatever namespace the manifest names: else what is refused for that
    # would take the id of another's job to be.
    head = Understood(
        job_id(message.tenant, client, name),
        message.tenant,
        f"{message.tenant}/{client}",
        digest,
        kind=str(manifest.get("kind") or ""),
        name=name,
        api_version=str(manifest.get("apiVersion") or ""),
        manifest=manifest if isinstance(message, wire.Revise) else {},
    )
    if isinstance(message, wire.Submitted) and message.refused:
        return msgspec.structs.replace(head, reasons=message.refused)
    if refusal := found.refusal or wrong:
        return msgspec.structs.replace(head, reasons=(refusal,))
    try:
        ref = wire.ManifestRef(sequence, digest, _size(message.manifest))
        spec = _spec(message, found, ref, settings)
    except Refused as error:
        return msgspec.structs.replace(head, reasons=error.reasons)
    return msgspec.structs.replace(head, spec=msgspec.structs.replace(spec, client=head.client))


def _read(message: wire.Manifested, settings: NamedSettings) -> _Read:
    """Of one that is quiet there is no more than what says which object it is."""
    typed = None
    if isinstance(message, wire.Submitted) and not (message.source == HUB and too_deep(bytes(message.manifest))):
        typed = read_typed(message.manifest, settings.tenancy(message.tenant))
    if typed is not None and typed.quiet and message.source != BUS:
        return _Read(typed.head, typed=typed)
    return _Read(*_decoded(message), typed)


def _decoded(message: wire.Manifested) -> tuple[dict[str, Any], Reason | None]:
    size = _size(message.manifest)
    if size > LARGEST_TEXT:
        text = f"the manifest has {size} bytes; {LARGEST_TEXT} is the most"
        return _names_in(message), Reason(
            Code.TOO_LARGE, text, remedy="move data out of it, into a ConfigMap or an image"
        )
    try:
        return _object(message.manifest, "manifest", message.source), None
    except Refused as error:
        return _names_in(message), error.reasons[0]


def _size(raw: Raw) -> int:
    return memoryview(raw).nbytes


def _names_in(message: wire.Manifested) -> dict[str, Any]:
    """Which object of the hub it is that is refused unread: its job has the name by which the hub knows it."""
    if message.source != HUB:
        return {}
    try:
        found = msgspec.json.decode(message.manifest, type=_Names)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return {"apiVersion": found.api_version, "kind": found.kind, "metadata": {"name": found.metadata.name}}


def _object(raw: Raw, field: str, source: str) -> dict[str, Any]:
    """The JSON object that a message carries; Refused for anything else, and for nesting no parser should follow. What
    came on the bus may be as its tenant wrote it, and is read as strictly as the other doors read; what came from the
    hub was JSON there, and may only be too deep."""
    try:
        strict = source == BUS and bytes(raw).lstrip()[:1] == b"{"
        found = json_value(bytes(raw)) if strict else msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        text = f"the {field} does not decode: {error or 'it is nested too deeply'}"
        raise Refused(Reason(Code.INVALID, text, field, "send one Kubernetes object as JSON")) from None
    if not isinstance(found, dict):
        raise Refused(Reason(Code.INVALID, f"the {field} is not an object", field, "send one Kubernetes object"))
    if source == HUB and too_deep(bytes(raw)):
        raise Refused(Reason(Code.INVALID, f"the {field} is nested deeper than {DEEPEST} levels", field, "flatten it"))
    return found


def _spec(message: wire.Manifested, found: _Read, ref: wire.ManifestRef, settings: NamedSettings) -> wire.JobSpec:
    manifest = found.manifest
    workload = found.typed.workload if found.typed else read(manifest, may=settings.tenancy, size=ref.size)
    if message.tenant != workload.namespace:
        text = f"submitted for {message.tenant}, but the object is in namespace {workload.namespace}"
        raise Refused(Reason(Code.INVALID, text, "metadata.namespace", "submit it for the namespace it is in"))
    if reserved(workload.namespace, settings.reserved):
        raise Refused(reserved_reason(workload.namespace))
    mine = settings.tenancy(workload.namespace)
    along = (_object(raw, "policies", message.source) for raw in _along(message))
    policy = policy_of(along, manifest, settings, message.hub is not None)
    decided = terms(policy, workload.namespace) | placement_of(policy, settings, mine)
    meta = manifest["metadata"]
    workload = in_room_of(policy.room, workload, manifest)
    quiet = found.typed is not None and found.typed.quiet
    said = b"" if quiet else bytes(message.manifest)
    claimed = NamedObjects() if quiet else claims(manifest, said)
    return wire.JobSpec(
        workload=workload,
        **priority_terms(workload, claimed, settings, mine),
        **decided,
        queue=queue_named(manifest, claimed, settings, mine),
        labels=meta.get("labels") or {},
        evictable=evictable_of(manifest),
        evict_notice=evict_notice_of(manifest),
        manifest=ref,
        hub=message.hub,
        who=message.who,
        follows=message.hub is not None or _of_the_hub(policy, settings),
        pod_security=mine.level,
        tokens=mine.tokens,
        companions=bool((not quiet and named(manifest, KINDS[workload.key], said)) or decided["policy_companions"]),
    )


def _along(message: wire.Manifested) -> tuple[Raw, ...]:
    """The policies that came along. Those of the hub were looked at there."""
    size = sum(map(_size, message.policies))
    if message.hub is None and (len(message.policies) > MOST_ALONG or size > MOST_BYTES):
        text = f"{len(message.policies)} with {size} bytes; {MOST_ALONG} with {MOST_BYTES} bytes (256 KiB) are the most"
        remedy = "leave out those that do not select this job, or apply them to the hub"
        raise Refused(Reason(Code.TOO_LARGE, text, "policies", remedy))
    return message.policies


def _of_the_hub(policy: Policy, settings: NamedSettings) -> bool:
    """Not one that came along with the job."""
    return settings.policies.index.get((policy.kind, policy.namespace, policy.name)) is policy
