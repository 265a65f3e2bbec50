"""The pods of a gang as they are found one by one, as on the hub, and the one manifest that they make: that of the pod
whose name comes first, with the others in it. Pure.
"""

from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Any

import msgspec
from msgspec import Struct, structs

from fairway.wire.reasons import Code, Reason
from fairway.wire.spec import Template
from fairway.workloads.gangs.limits import CODE, MOST_PODS
from fairway.workloads.gangs.marks import gang_key, named
from fairway.workloads.gangs.pod_groups import MARKS, POD_GROUP, content
from fairway.workloads.gangs.pods import FLEET_GATE, GANG, check
from fairway.workloads.reading.fields import Field, Problems
from fairway.workloads.reading.parse import LARGEST_TEXT
from fairway.workloads.references import Find, Json, Reference, Referenced, WrittenOut, digest_of, not_there

POD = "Pod.v1"
_encode = msgspec.json.Encoder(order="deterministic").encode


class FoundPod(Struct, frozen=True):
    """`gang` is the one that it says that it is of; `manifest` is as its owner wrote it, as JSON."""

    gang: Reference
    name: str
    uid: str
    version: str
    digest: str
    manifest: bytes

    @property
    def template(self) -> Template:
        return Template(POD, self.gang.namespace, self.name, self.uid, self.version, self.digest)


class FoundGang(Referenced, frozen=True, dict=True):
    """`pods` are in the order of their names; `group` is the spec of the PodGroup that all of them name, as JSON."""

    pods: tuple[FoundPod, ...] = ()
    group: bytes = b""

    @property
    def templates(self) -> tuple[Template, ...]:
        return tuple(one.template for one in self.pods)

    def led_by(self, manifest: Json) -> bool:
        """Whether that is the pod for which the job stands. What a file says has no uid."""
        meta = manifest["metadata"]
        return (self.pods[0].uid, self.pods[0].name) == (str(meta.get("uid") or ""), str(meta.get("name") or ""))

    def has(self, uid: str) -> bool:
        """Whether it tells of that pod: of too many it tells of all together."""
        return len(self.pods) > MOST_PODS or any(one.uid == uid for one in self.pods)

    @cached_property
    def wrong(self) -> tuple[Reason, ...]:
        """Why these pods are not one whole gang that may start. Each of them asks."""
        if len(self.pods) > MOST_PODS:
            text = f"more than {MOST_PODS} pods say that they are of this gang"
            return (Reason(CODE, text, "metadata", "delete those that are too many"),)
        if sum(len(one.manifest) for one in self.pods) > LARGEST_TEXT:
            text = f"the pods of the gang have more than {LARGEST_TEXT} bytes together"
            return (Reason(Code.TOO_LARGE, text, "metadata", "keep data in a ConfigMap or a volume"),)
        problems = Problems()
        leader, *others = (msgspec.json.decode(one.manifest) for one in self.pods)
        check(Field(self._whole(leader, others), problems))
        for one in (leader, *others) if not problems else ():
            _note_gates(Field(one, problems))
        return tuple(problems.reasons)

    def _whole(self, leader: Json, others: list[Json]) -> Json:
        parts: Json = {GANG: others} if others else {}
        if self.group and (reference := group_of(leader)) is not None:
            parts[POD_GROUP] = content(reference.kind, msgspec.json.decode(self.group))
        return {**leader, **parts}

    def written(self, leader: Json) -> Json:
        """The leader's manifest with what is beside it."""
        return self._whole(leader, [msgspec.json.decode(one.manifest) for one in self.pods[1:]])


def group_of(manifest: Json) -> Reference | None:
    """The PodGroup that a pod names as its gang's, if it does."""
    metadata = Field(manifest, Problems())["metadata"]
    field = named(metadata)
    name = metadata.at(*field).value if field in MARKS and field is not None else None
    namespace = metadata["namespace"].value
    if field is None or not isinstance(name, str):
        return None
    return Reference(MARKS[field], namespace if isinstance(namespace, str) else "default", name)


@lru_cache(maxsize=64)
def _with_group(gang: FoundGang, group: bytes) -> FoundGang:
    """Each of its pods asks for the same."""
    return structs.replace(gang, group=group)


def whole_gang(manifest: Json, find: Find) -> FoundGang | None:
    """The gang of a pod, with the PodGroup that it names if that is found; None of a pod that is of none, or has the
    others in it already."""
    reference = gang_of(manifest) if isinstance(manifest.get("metadata"), dict) else None
    if reference is None or manifest.get(GANG) is not None or manifest.get(POD_GROUP) is not None:
        return None
    found = find(reference)
    if not isinstance(found, FoundGang) or not found.has(str(manifest["metadata"].get("uid") or "")):
        found = found_gang(reference, (found_pod(reference, manifest, manifest),))
    group = group_of(manifest)
    there = find(group) if group is not None else None
    return _with_group(found, there.spec) if there is not None else found


def gang_of(manifest: Json) -> Reference | None:
    """By its mark. The name of a gang may be a quarter of a megabyte of text."""
    key = gang_key(manifest)
    if not key:
        return None
    namespace = manifest["metadata"].get("namespace")
    return Reference(POD, namespace if isinstance(namespace, str) else "", digest_of(key.encode(errors="replace")))


def found_pod(gang: Reference, manifest: Json, written: Json) -> FoundPod:
    """`written` is the same as its owner wrote it."""
    meta: dict[str, Any] = manifest["metadata"]
    text = _encode(written)
    name, uid, version = (str(meta.get(key) or "") for key in ("name", "uid", "resourceVersion"))
    return FoundPod(gang, name, uid, version, digest_of(text), text)


def found_gang(gang: Reference, pods: Iterable[FoundPod]) -> FoundGang:
    """One pod more than there may be is as good as all of them."""
    kept = tuple(sorted(pods, key=lambda one: (one.name, one.uid))[: MOST_PODS + 1])
    digest = digest_of(b" ".join(f"{one.uid} {one.digest}".encode() for one in kept))
    return FoundGang(gang, "", "", digest, b"", kept)


def written_out(manifest: Json, find: Find) -> WrittenOut:
    """As `Kind.written_out`. All pods of a gang that is not whole wait for the same reason."""
    found = whole_gang(manifest, find)
    if found is None:
        return WrittenOut(manifest)
    group = group_of(manifest)
    used = (found.reference, group) if group is not None else (found.reference,)
    if group is not None and find(group) is None:
        problems = Problems()
        metadata = Field(manifest, problems)["metadata"]
        not_there(metadata.at(*(named(metadata) or ())), group)
        return WrittenOut(manifest, used, tuple(problems.reasons))
    if found.wrong:
        return WrittenOut(manifest, used, found.wrong)
    if not found.led_by(manifest):
        return WrittenOut(manifest, used, (goes_with(found.pods[0].name),))
    return WrittenOut(found.written(manifest), used)


def goes_with(leader: str) -> Reason:
    return Reason(CODE, f"it goes with pod {leader} of its gang, which has the job of both", "metadata")


def _note_gates(pod: Field) -> None:
    for gate in pod["spec"]["schedulingGates"].items():
        if gate["name"].value != FLEET_GATE:
            text = f"pod {pod['metadata']['name'].value} of the gang has the gate {gate['name'].value}"
            gate.wrong(text, "take it away: a gang starts with all of its pods", CODE)
