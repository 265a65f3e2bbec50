"""From a submitted message to a job's specification, or to all the reasons why not. Pure."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Protocol

import msgspec
from msgspec import Raw, Struct

from fairway.domain.names import job_id
from fairway.domain.queues import QueueSpec
from fairway.domain.submission import BUS, client_problem
from fairway.domain.terms import terms
from fairway.wire import jobs as wire
from fairway.wire.policy import Policy
from fairway.wire.reasons import Code, Reason, Refused
from fairway.wire.workload import Workload
from fairway.workloads.door import LARGEST_TEXT, json_value
from fairway.workloads.policies import read_policy, select
from fairway.workloads.policy_book import PolicyBook
from fairway.workloads.queues import QUEUE_ANNOTATIONS, queue_of
from fairway.workloads.registry import read


class Settings(Protocol):
    """What the hub says, as far as admission needs it."""

    policies: PolicyBook
    classes: dict[str, int]
    default_class: str
    queues: dict[str, QueueSpec]
    clusters: dict[str, dict[str, str]]


class Understood(Struct, frozen=True):
    """`job` is the id whatever else is true; `spec` is None when the manifest is refused for `reasons`."""

    job: str
    tenant: str
    client: str
    digest: str
    kind: str = ""
    name: str = ""
    spec: wire.JobSpec | None = None
    reasons: tuple[Reason, ...] = ()
    api_version: str = ""


def understand(message: wire.Submitted, cause: str, sequence: int, settings: Settings) -> Understood:
    """`cause` stands in for a client id that was not given; `sequence` is where the manifest is kept."""
    digest = sha256(bytes(message.manifest) + b"".join(map(bytes, message.policies))).hexdigest()
    manifest, refusal = _decoded(message)
    meta = manifest.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    name = str(meta.get("name") or "")
    wrong = client_problem(message.client, "client") if message.source == BUS else None
    client = cause if wrong or not message.client else message.client
    # The tenant's, for whom the door vouches, whatever namespace the manifest names: else what is refused for that
    # would take the id of another's job to be.
    head = Understood(
        job_id(message.tenant, client, name), message.tenant, f"{message.tenant}/{client}", digest,
        kind=str(manifest.get("kind") or ""), name=name, api_version=str(manifest.get("apiVersion") or ""),
    )  # fmt: skip
    if refusal := refusal or wrong:
        return msgspec.structs.replace(head, reasons=(refusal,))
    try:
        ref = wire.ManifestRef(sequence, digest, len(bytes(message.manifest)))
        spec = _spec(message, manifest, ref, settings)
    except Refused as error:
        return msgspec.structs.replace(head, reasons=error.reasons)
    return msgspec.structs.replace(head, spec=msgspec.structs.replace(spec, client=head.client))


def _decoded(message: wire.Submitted) -> tuple[dict[str, Any], Reason | None]:
    size = len(bytes(message.manifest))
    if size > LARGEST_TEXT:
        text = f"the manifest has {size} bytes; {LARGEST_TEXT} is the most"
        return {}, Reason(Code.TOO_LARGE, text, remedy="move data out of it, into a ConfigMap or an image")
    try:
        return _object(message.manifest, "manifest", message.source), None
    except Refused as error:
        return {}, error.reasons[0]


def _object(raw: Raw, field: str, source: str) -> dict[str, Any]:
    """The JSON object that a message carries; Refused for anything else, and for nesting no parser should follow. What
    came on the bus may be as its tenant wrote it, and is read as strictly as the other doors read."""
    try:
        strict = source == BUS and bytes(raw).lstrip()[:1] == b"{"
        found = json_value(bytes(raw)) if strict else msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        text = f"the {field} does not decode: {error or 'it is nested too deeply'}"
        raise Refused(Reason(Code.INVALID, text, field, "send one Kubernetes object as JSON")) from None
    if not isinstance(found, dict):
        raise Refused(Reason(Code.INVALID, f"the {field} is not an object", field, "send one Kubernetes object"))
    return found


def _spec(message: wire.Submitted, manifest: dict[str, Any], ref: wire.ManifestRef, settings: Settings) -> wire.JobSpec:
    workload = read(manifest)
    if message.tenant != workload.namespace:
        text = f"submitted for {message.tenant}, but the object is in namespace {workload.namespace}"
        raise Refused(Reason(Code.INVALID, text, "metadata.namespace", "submit it for the namespace it is in"))
    policy = _policy(message, manifest, settings)
    _known_clusters(policy, settings.clusters)
    meta = manifest["metadata"]
    return wire.JobSpec(
        workload=workload, priority=_priority(workload, settings), **terms(policy),
        queue=_queue(manifest, settings.queues), labels=meta.get("labels") or {}, manifest=ref,
        hub=message.hub, who=message.who, follows=message.hub is not None or _of_the_hub(policy, settings),
    )  # fmt: skip


def _policy(message: wire.Submitted, manifest: dict[str, Any], settings: Settings) -> Policy:
    """The policies that came along take the place of the hub's of the same name; one of all must select the job."""
    policies = settings.policies.near(manifest)
    for raw in message.policies:
        policy = read_policy(_object(raw, "policies", message.source))
        policies[policy.kind, policy.namespace, policy.name] = policy
    found = select(policies.values(), manifest)
    if isinstance(found, Refused):
        raise found
    return found


def _of_the_hub(policy: Policy, settings: Settings) -> bool:
    """Not one that came along with the job."""
    return settings.policies.get((policy.kind, policy.namespace, policy.name)) is policy


def _known_clusters(policy: Policy, clusters: Iterable[str]) -> None:
    known = sorted(clusters)
    names = {name for affinity in policy.placement.affinities for name in affinity.cluster_names}
    unknown = sorted(names.difference(known))
    if unknown:
        text = f"{policy.title} names {', '.join(unknown)}; the fleet has {', '.join(known) or 'no clusters yet'}"
        raise Refused(
            Reason(Code.UNKNOWN_CLUSTER, text, "spec.placement.clusterAffinity.clusterNames", "name clusters it has")
        )


def _priority(workload: Workload, settings: Settings) -> int:
    """The value of the class that the pod template names; of the hub's default class when it names none, else 0."""
    name = workload.priority_class or settings.default_class
    if not name:
        return 0
    if name not in settings.classes:
        known = ", ".join(sorted(settings.classes)) or "none"
        text = f"there is no PriorityClass {name}; the hub has {known}"
        raise Refused(Reason(Code.UNKNOWN_PRIORITY_CLASS, text, "priorityClassName", "create it on the hub"))
    return settings.classes[name]


def _queue(manifest: dict[str, Any], queues: Mapping[str, QueueSpec]) -> str:
    name = queue_of(manifest)
    if name and name not in queues:
        text = f"there is no Queue {name}; the hub has {', '.join(sorted(queues)) or 'none'}"
        field = f"metadata.annotations[{QUEUE_ANNOTATIONS[0]}]"
        raise Refused(Reason(Code.UNKNOWN_QUEUE, text, field, "create the Queue, or leave the annotation out"))
    return name
