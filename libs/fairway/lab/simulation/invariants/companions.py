"""What jobs name and what went along with them: there as long as their objects are, and known to nobody else."""

from collections.abc import Iterator

from fairway.lab.kubesim.api.store import StoredObject, owners
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.members.controllers import attempt_of
from fairway.lab.simulation.members.member import SimulatedMember
from fairway.lab.simulation.people.hub_companions import CANARY, REFS, templates
from fairway.wire.subjects import STREAMS
from fairway.workloads.companions.named import KINDS, Named
from fairway.workloads.companions.sent import COMPANION_LABEL

Found = Iterator[tuple[str, str, str]]


def companions_left(fleet: SimulatedFleet) -> Found:
    for member in fleet.members.values():
        yield from _in_member(member)
    yield from _told(fleet)


def _in_member(member: SimulatedMember) -> Found:
    """An anchor for each attempt that names any, and for no other; what they own, and nothing besides."""
    sent = [one for kind in KINDS for one in member.every(kind) if _label(one)]
    anchors = {attempt_of(one.obj): str(one.obj["metadata"]["uid"]) for one in sent if _label(one) == "anchor"}
    there = {member.whose(one): one for one in member.ours()}
    for job, attempt in sorted(anchors.keys() - there.keys()):
        yield "companion", job, f"the anchor of attempt {attempt} is left in {member.name}"
    for (job, attempt), found in sorted(there.items()):
        for named in _named(found):
            one = member.stored(named.kind, found.key.namespace, named.name)
            if one is None or anchors.get((job, attempt)) not in owners(one.obj):
                yield "companion", job, f"attempt {attempt} is in {member.name} without {named}"
    owned = set(anchors.values())
    for one in sent:
        if _label(one) != "anchor" and not owned & set(owners(one.obj)):
            yield "companion", "", f"{one.key} is left in {member.name}"


def _told(fleet: SimulatedFleet) -> Found:
    """No byte of a Secret is in any stream or in the store, as it is or in base64."""
    for stream in (one.name for one in STREAMS):
        if any(CANARY.is_in(one.data) for one in fleet.bus.stored(stream)):
            yield "secret", "", f"what a Secret holds is in stream {stream}"
    for table, held in sorted(fleet.store.rows.items()):
        if any(CANARY.is_in(row.data) for row in held.values()):
            yield "secret", "", f"what a Secret holds is in table {table}"


def _named(found: StoredObject) -> list[Named]:
    """By this simulation's own small idea of what its people write."""
    containers = (one["spec"]["containers"][0] for one in templates(found.obj)[:1])
    sources = (source for one in containers for source in one.get("envFrom") or ())
    return [Named(kind, source[ref]["name"]) for source in sources for kind, ref in REFS.items() if ref in source]


def _label(found: StoredObject) -> str:
    return str((found.obj["metadata"].get("labels") or {}).get(COMPANION_LABEL, ""))
