"""What must be so on the hub when no fault was for long: every object is a job's or held, and shows what is so of it.

It reads objects and rows by its own small idea of them; only whom a policy selects it asks of Fairway's readers.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from fairway.domain import decision
from fairway.domain.held_object import HeldObject
from fairway.domain.job import Job, State
from fairway.domain.text.decoding import decoder
from fairway.lab.kubesim.api.store import StoredObject
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.hub.cluster import BINDING, SimulatedHub, WantedObject, leaving, uid_of
from fairway.lab.simulation.hub.schedules import owner_of
from fairway.lab.simulation.invariants.at_the_end import Found, rows
from fairway.lab.simulation.invariants.hub_settings import SettingsOnHub, unlike
from fairway.lab.simulation.invariants.hub_statuses import FAILED, SUCCEEDED, WAITS, shown
from fairway.lab.simulation.invariants.hub_templates import as_owner_wrote, copied, refers, template_of
from fairway.lab.simulation.members.controllers import kind_of
from fairway.lab.simulation.people.hub_jobs import is_held
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code

Json = dict[str, Any]
_held = decoder(HeldObject)
_message = decoder(wire.Message)
# What an end looks like on the hub.
_ENDS = {
    State.SUCCEEDED: SUCCEEDED,
    State.FAILED: FAILED,
    State.REJECTED: FAILED,
    State.CANCELLED: FAILED,
}
_WAITING = (State.ADMITTED, State.QUEUED, State.RETURNING)
_PLACED = (State.PLACED, State.RESERVED, State.DISPATCHED, State.RUNNING, State.SUCCEEDED, State.FAILED)
_APPLIED = (State.DISPATCHED, State.RUNNING, State.SUCCEEDED, State.FAILED)


class HubEnd:
    """What is there, found once."""

    def __init__(self, fleet: SimulatedFleet, hub: SimulatedHub) -> None:
        self.fleet = fleet
        self.hub = hub
        self.settings = SettingsOnHub(hub)
        self.jobs: dict[str, list[Job]] = {}
        for job in rows(fleet).values():
            if job.hub_uid:
                self.jobs.setdefault(job.hub_uid, []).append(job)
        self.held: Mapping[str, HeldObject] = {
            uid: _held(row.data) for uid, row in sorted(fleet.store.rows.get(decision.HELD, {}).items())
        }
        self.bindings = {one.obj["metadata"]["ownerReferences"][0]["uid"]: one for one in hub.every(BINDING)}

    def wrong(self) -> Found:
        """The rule, the job or the object's name, and a sentence."""
        present = set[str]()
        for found in self.hub.objects():
            if not leaving(found):
                present.add(uid_of(found))
                yield from self._object(found)
        yield from self._gone(present)
        yield from unlike(self.fleet, self.settings)

    def _object(self, found: StoredObject) -> Found:
        uid = uid_of(found)
        name = f"{found.key.namespace}/{found.key.name}"
        jobs = self.jobs.get(uid, [])
        counts = [job for job in jobs if job.state is not State.REJECTED] or jobs[-1:]
        if len(counts) > 1:
            yield "hub twice", name, f"jobs {[job.id for job in counts]} stand for one object"
        held = self.held.get(uid)
        if counts and held is not None and not counts[-1].ended:
            yield "hub held", counts[-1].id, f"{name} is a job's and held: {held.why.text}"
        if counts:
            yield from self._of_job(found, counts[-1])
        elif held is not None:
            yield from self._of_held(found, held)
        elif not self._nobodys(found):
            yield "hub lost", name, f"{uid} is neither a job's nor held"

    def _nobodys(self, found: StoredObject) -> bool:
        """Not Fairway's: another object's child, at its end when it was first seen, or none that a policy selects where
        no job may be."""
        owners = found.obj["metadata"].get("ownerReferences") or ()
        owned = any(one.get("controller") for one in owners) and not owner_of(found)[0]
        ended = shown(kind_of(found), found.obj.get("status")) in (SUCCEEDED, FAILED)
        foreign = self.settings.reserved(found) and not self.settings.selected(found)
        return owned or foreign or (ended and self.hub.wanted[uid_of(found)].by_hand)

    def _of_held(self, found: StoredObject, held: HeldObject) -> Found:
        if (held.namespace, held.name) != (found.key.namespace, found.key.name):
            yield "hub held", "", f"{held} is about another object than {found.key}"
        if text := self._holds_no_more(found, held):
            yield "hub held", f"{found.key.namespace}/{found.key.name}", f"it is held ({held.why.text}), but {text}"
        status = shown(kind_of(found), found.obj.get("status"))
        if status != WAITS and not self.hub.wanted[uid_of(found)].by_hand:
            yield "hub status", held.id, f"it is held and shows that it {status}"
        yield from self._bound(found, held.why.code.value, (True, False, False), "", held.job)

    def _holds_no_more(self, found: StoredObject, held: HeldObject) -> str:
        """Why the reason of a held object does not hold; empty when it does."""
        code = held.why.code
        if code is Code.NO_POLICY:
            return "a policy selects it" if self.settings.selected(found) else ""
        if code in (Code.UNKNOWN_QUEUE, Code.UNKNOWN_PRIORITY_CLASS):
            return "" if self.settings.missing(found) else "what it names is there"
        if code is Code.UNKNOWN_TEMPLATE:
            return "" if template_of(self.hub, found) is None else "its template is there"
        if code is Code.SUSPENDED:
            return "" if is_held(found.obj.get("spec")) else "its owner does not suspend it"
        if code is Code.DUPLICATE:
            holder = rows(self.fleet).get(held.holder)
            return "" if holder is not None and not holder.ended else f"{held.holder} has ended, or never was"
        return ""

    def _of_job(self, found: StoredObject, job: Job) -> Found:
        wanted = self.hub.wanted[uid_of(found)]
        status = shown(kind_of(found), found.obj.get("status"))
        due = _ENDS.get(job.state, WAITS)
        if job.state in _APPLIED[:2]:
            due = status if status not in (SUCCEEDED, FAILED) else due
        if status != due and not wanted.by_hand:
            yield "hub status", job.id, f"it is {job.state.value}, and its object shows that it {status}"
        suspends = is_held(found.obj.get("spec"))
        if not job.ended and suspends != job.held:
            yield "hub suspend", job.id, f"its object says {suspends} of whether it is suspended, its row {job.held}"
        if job.held and not job.ended and job.state not in _WAITING:
            yield "hub suspend", job.id, f"it is held and {job.state.value}"
        yield from self._wished(found, job, wanted)
        placed = job.state in _PLACED and bool(job.cluster)
        applied = job.state in _APPLIED and bool(job.cluster)
        code = job.why.code.value if job.why and not placed and job.state is not State.DEQUEUED else ""
        cluster = job.cluster if placed else ""
        yield from self._bound(found, code, (job.state in _WAITING, placed, applied), cluster, job.id)

    def _bound(self, found: StoredObject, code: str, truth: tuple[bool, ...], cluster: str, job: str) -> Found:
        """Its ResourceBinding says this."""
        binding = self.bindings.get(uid_of(found))
        if binding is None:
            yield "hub binding", job, f"{found.key.name} has none"
            return
        listed = {one["type"]: one for one in binding.obj["status"]["conditions"]}
        names = ("Queuing", "Scheduled", "FullyApplied")
        said = tuple(listed[name]["status"] == "True" for name in names)
        if said != truth:
            yield "hub binding", job, f"{names} are {said} in it, and {truth} in truth"
        if code and listed["Scheduled"]["reason"] != code:
            yield "hub binding", job, f"it gives the reason {listed['Scheduled']['reason']}, and the row {code}"
        there = [one["name"] for one in binding.obj["spec"]["clusters"]]
        if there != [cluster] * bool(cluster):
            yield "hub binding", job, f"it says that the job is in {there}, and it is in {cluster or 'none'}"

    def _wished(self, found: StoredObject, job: Job, wanted: WantedObject) -> Found:
        """What its owner wrote last is what the job is, or it is said why not. A cancelled job owes no answer."""
        if job.spec is None or job.state is State.CANCELLED or (job.ended and self._too_late(wanted, job)):
            return
        place = job.spec.manifest.sequence
        record = next((one for one in self.fleet.bus.stored("JOBS") if one.sequence == place), None)
        if record is None:
            return  # it was removed: the job ended long ago
        told = _message(record.data)
        assert isinstance(told, wire.Submitted | wire.Revise), "a manifest lies with what brought it"
        if self._is_so(msgspec.json.decode(told.manifest), found, job):
            return
        binding = self.bindings.get(uid_of(found))
        listed = binding.obj["status"]["conditions"] if binding else ()
        if not any(one["type"] == "UpToDate" and one["status"] == "False" and one["reason"] for one in listed):
            yield "hub wish", job.id, f"it is {job.state.value}, not what its object says, and nothing says why"

    def _is_so(self, told: Json, found: StoredObject, job: Job) -> bool:
        """A template that has changed counts as long as the job waits, and one that is gone does not."""
        said = _wish(told)
        wish = _wish(found.obj)
        if not refers(found):
            return said == wish
        lib = template_of(self.hub, found) if job.state is State.QUEUED else None
        if lib is not None and copied(told["spec"]) != lib:
            return False
        return {**said, "spec": as_owner_wrote(said["spec"])} == {**wish, "spec": as_owner_wrote(wish["spec"])}

    def _too_late(self, wanted: WantedObject, job: Job) -> bool:
        """Whether it was changed when the job was over or nearly so, or nobody could see it in time. The time in which
        the member of the job did not answer does not count."""
        away = any(began < job.since and over > wanted.edited for began, over in self.hub.away_since)
        member = self.fleet.members.get(job.attempts[-1].cluster) if job.attempts else None
        spans = member.away_since if member is not None else ()
        mute = sum(max(0, min(over, job.since) - max(began, wanted.edited)) for began, over in spans)
        return away or wanted.edited > job.since - mute - self.fleet.faults.profile.grace.cancel

    def _gone(self, present: set[str]) -> Found:
        for uid in sorted(self.held.keys() - present):
            yield "hub held", "", f"{self.held[uid].name} is held, and is not there any more"
        for uid in sorted(self.bindings.keys() - present):
            yield "hub binding", "", f"{self.bindings[uid].key.name} belongs to an object that is gone"
        for uid, jobs in sorted(self.jobs.items()):
            if uid not in present:
                yield from self._left(uid, jobs)

    def _left(self, uid: str, jobs: list[Job]) -> Iterator[tuple[str, str, str]]:
        """Of a job that had ended by itself before anybody saw that its object was deleted: that is not found out.
        Where hubs are killed again and again, nobody may look as long as there are faults."""
        faults = self.fleet.faults.profile
        looked = not faults.kills
        for job in jobs:
            if not job.ended:
                yield "hub deleted", job.id, f"its object was deleted, and it is {job.state.value}"
            unseen = not looked and job.since < self.fleet.faults.cleared_at + faults.grace.cancel
            for member in () if unseen else self.fleet.members.values():
                if any(member.whose(one)[0] == job.id for one in member.ours()):
                    yield "hub deleted", job.id, f"its object was deleted, and something of it is in {member.name}"


def _wish(manifest: Json) -> Json:
    """Without whether it is suspended: that is asked for otherwise."""
    spec = dict(manifest.get("spec") or {})
    spec.pop("suspend", None)
    if isinstance(policy := spec.get("runPolicy"), dict):
        rest = {key: value for key, value in policy.items() if key != "suspend"}
        spec = {**spec, "runPolicy": rest} if rest else {key: one for key, one in spec.items() if key != "runPolicy"}
    meta = manifest["metadata"]
    return {"spec": spec, **{name: meta.get(name) or {} for name in ("labels", "annotations")}}
