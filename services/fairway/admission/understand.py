"""From a submitted message to a job's specification, or to all the reasons why not. Pure."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Protocol

import msgspec
from msgspec import Raw, Struct

from fairway.domain.names import job_id
from fairway.domain.queues import QueueSpec
from fairway.domain.tenancy import Tenancy
from fairway.domain.terms import terms
from fairway.wire import jobs as wire
from fairway.wire.policy import Policy
from fairway.wire.reasons import Code, Reason, Refused
from fairway.wire.workload import Workload
from fairway.workloads.door import LARGEST_TEXT
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

    def tenancy(self, namespace: str) -> Tenancy: ...


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
    manifest, refusal = _decoded(message.manifest)
    meta = manifest.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    namespace, name = str(meta.get("namespace") or "default"), str(meta.get("name") or "")
    client = message.client or cause
    head = Understood(
        job_id(namespace, client, name), message.tenant, f"{namespace}/{client}", digest,
        kind=str(manifest.get("kind") or ""), name=name, api_version=str(manifest.get("apiVersion") or ""),
    )  # fmt: skip
    if refusal is not None:
        return msgspec.structs.replace(head, reasons=(refusal,))
    try:
        ref = wire.ManifestRef(sequence, digest, len(bytes(message.manifest)))
        spec = _spec(message, manifest, ref, settings)
    except Refused as error:
        return msgspec.structs.replace(head, reasons=error.reasons)
    return msgspec.structs.replace(head, spec=msgspec.structs.replace(spec, client=head.client))


def _decoded(raw: Raw) -> tuple[dict[str, Any], Reason | None]:
    size = len(bytes(raw))
    if size > LARGEST_TEXT:
        text = f"the manifest has {size} bytes; {LARGEST_TEXT} is the most"
        return {}, Reason(Code.TOO_LARGE, text, remedy="move data out of it, into a ConfigMap or an image")
    try:
        return _object(raw, "manifest"), None
    except Refused as error:
        return {}, error.reasons[0]


def _object(raw: Raw, field: str) -> dict[str, Any]:
    """The JSON object that a message carries; Refused for anything else, and for nesting no parser should follow."""
    try:
        found = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        text = f"the {field} does not decode: {error or 'it is nested too deeply'}"
        raise Refused(Reason(Code.INVALID, text, field, "send one Kubernetes object as JSON")) from None
    if not isinstance(found, dict):
        raise Refused(Reason(Code.INVALID, f"the {field} is not an object", field, "send one Kubernetes object"))
    return found


def _spec(message: wire.Submitted, manifest: dict[str, Any], ref: wire.ManifestRef, settings: Settings) -> wire.JobSpec:
    workload = read(manifest, may=settings.tenancy)
    if message.tenant != workload.namespace:
        text = f"submitted for {message.tenant}, but the object is in namespace {workload.namespace}"
        raise Refused(Reason(Code.INVALID, text, "metadata.namespace", "submit it for the namespace it is in"))
    policy = _policy(message, manifest, settings)
    _known_clusters(policy, settings.clusters)
    meta, may = manifest["metadata"], settings.tenancy(workload.namespace)
    return wire.JobSpec(
        workload=workload, priority=_priority(workload, settings), **terms(policy),
        queue=_queue(manifest, settings.queues), labels=meta.get("labels") or {}, manifest=ref,
        hub=message.hub, follows=message.hub is not None or _of_the_hub(policy, settings),
        pod_security=may.level, tokens=may.tokens,
    )  # fmt: skip


def _policy(message: wire.Submitted, manifest: dict[str, Any], settings: Settings) -> Policy:
    """The policies that came along take the place of the hub's of the same name; one of all must select the job."""
    policies = settings.policies.near(manifest)
    for raw in message.policies:
        policy = read_policy(_object(raw, "policies"))
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
