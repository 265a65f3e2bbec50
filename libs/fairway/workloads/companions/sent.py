"""What a companion is in a member: its content as the hub has it, with Fairway's marks, and nothing else of it. Pure.

It is owned by the anchor of each attempt that needs it: a small ConfigMap, made before everything else and owned by the
attempt's object once that is there. So nothing is left of a companion when the last attempt is gone, whoever dies in
between, and the garbage collector of the member does it.
"""

import hmac
from hashlib import sha256
from typing import Any

import msgspec

from fairway.wire.reasons import Code, Reason
from fairway.wire.spec import Companion
from fairway.workloads.companions.named import ACCOUNT, CLAIM, CONFIG_MAP, SECRET, Named
from fairway.workloads.member_copy import MANAGED_LABEL, attempt_labels
from fairway.workloads.seal import SEAL, Spot, mark, marked

Json = dict[str, Any]

COMPANION_LABEL = "fairway.io/companion"
ANCHOR_PREFIX = "fairway-"
# Whoever has one may speak with an API server: of the hub it would be of no use in the member, and one that is made
# there would be filled with a token of the member's.
TOKENS = ("kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token")
# By which Argo takes a ConfigMap for one that it may read. No other label goes along: in a member a label may mean
# something to whoever collects objects of all namespaces.
KEPT_LABELS = ("workflows.argoproj.io/configmap-type",)
_CONTENT = {
    CONFIG_MAP: ("data", "binaryData", "immutable"),
    SECRET: ("type", "data", "immutable"),
    ACCOUNT: ("imagePullSecrets",),
    CLAIM: ("spec",),
}
_encode = msgspec.json.Encoder(order="deterministic").encode


def content(kind: str, found: Json) -> Json:
    """What of the hub's object goes along."""
    kept = {name: found[name] for name in _CONTENT[kind] if found.get(name) is not None}
    if kind == ACCOUNT:
        kept["automountServiceAccountToken"] = False
    if kind == CLAIM:
        # The volume that it has on the hub is the hub's.
        kept["spec"] = {name: value for name, value in kept.get("spec", {}).items() if name != "volumeName"}
    return kept


def digest(key: bytes, kind: str, kept: Json) -> str:
    """Of a Secret only who has the fleet's key can work it out: a short password would be guessed from a plain one."""
    said = _encode([kind, kept])
    return hmac.new(key, said, sha256).hexdigest() if kind == SECRET else sha256(said).hexdigest()


def told(key: bytes, kind: str, found: Json, why: str = "") -> Companion:
    """What the record says of it: which object of the hub it was, and a digest of its content."""
    meta = found["metadata"]
    of = digest(key, kind, content(kind, found))
    version = str(meta.get("resourceVersion") or "")
    return Companion(kind.partition(".")[0], meta["name"], str(meta.get("uid") or ""), version, of, why)


def never(found: Json, one: Named) -> Reason | None:
    """Why this object of the hub goes nowhere."""
    if one.kind != SECRET or found.get("type") not in TOKENS:
        return None
    text = f"the job names {one}, which holds a token of the hub's API ({found['type']})"
    return Reason(Code.COMPANION_REFUSED, text, remedy="have its pods use a token of their own cluster, or none")


def anchor(key: bytes, cluster: str, namespace: str, attempt: tuple[str, int]) -> Json:
    job, number = attempt
    spot = Spot(cluster, CONFIG_MAP, namespace, anchor_name(job, number))
    labels = {**attempt_labels(job, number), COMPANION_LABEL: "anchor"}
    meta = {"name": spot.name, "namespace": namespace, "labels": labels}
    return {"metadata": {**meta, "annotations": {SEAL: mark(key, spot)}}}


def anchor_name(job: str, number: int) -> str:
    return f"{ANCHOR_PREFIX}{job}-{number}"


def part(key: bytes, spot: Spot, attempt: tuple[str, int], content: Json, owner: Json) -> Json:
    """What an attempt's object is not whole without, to be applied in the member at `spot`: it carries the labels of
    the attempt, as it is of no other."""
    labels = {**attempt_labels(*attempt), COMPANION_LABEL: "part"}
    meta = {"name": spot.name, "namespace": spot.namespace, "labels": labels, "ownerReferences": [owner]}
    return {"metadata": {**meta, "annotations": {SEAL: mark(key, spot)}}, **content}


def owned_by(kind: str, name: str, uid: str) -> Json:
    """An entry of ownerReferences."""
    plain, _, version = kind.partition(".")
    return {"apiVersion": version, "kind": plain, "name": name, "uid": uid}


def companion(key: bytes, spot: Spot, found: Json, owner: Json) -> Json:
    """To be created in the member at `spot`."""
    labels = found["metadata"].get("labels") or {}
    kept = {name: labels[name] for name in KEPT_LABELS if name in labels and spot.kind == CONFIG_MAP}
    meta = {
        "name": spot.name,
        "namespace": spot.namespace,
        "labels": {**kept, MANAGED_LABEL: "true", COMPANION_LABEL: "true"},
        "annotations": {SEAL: mark(key, spot)},
        "ownerReferences": [owner],
    }
    return {"metadata": meta, **content(spot.kind, found)}


def ours(key: bytes, spot: Spot, there: Json) -> bool:
    """Whether Fairway put it there, whatever became of its labels."""
    return marked(key, spot, there)


def fixed(kind: str, there: Json, wanted: Json) -> bool:
    """Whether what is there can only be replaced by another object: it is immutable, or a Secret of another type."""
    differs = content(kind, there) != content(kind, wanted)
    if kind == CLAIM or not differs:
        return False
    return bool(there.get("immutable")) or there.get("type") != wanted.get("type")


def replaced(kind: str, there: Json, wanted: Json) -> Json:
    """The merge patch that makes of ours what counts now, its owners added; only for the very object that was looked
    at. A claim stays as it is: its volume is there."""
    meta = there["metadata"]
    owners = owners_of(there, wanted)
    patch: Json = {
        "metadata": {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"], "ownerReferences": owners}
    }
    if kind == CLAIM:
        return patch
    was = content(kind, there)
    now = content(kind, wanted)
    for name in {**was, **now}:
        patch[name] = _instead(was.get(name), now.get(name))
    return patch


def owners_of(there: Json, wanted: Json) -> list[Json]:
    """Those that it has, and then those that it is to have."""
    every = (*(there["metadata"].get("ownerReferences") or ()), *wanted["metadata"]["ownerReferences"])
    return list({one["uid"]: one for one in every}.values())


def _instead(was: Any, now: Any) -> Any:
    """Keys that are there no more go with null."""
    if isinstance(was, dict) and isinstance(now, dict):
        return {**dict.fromkeys(was), **now}
    return now
