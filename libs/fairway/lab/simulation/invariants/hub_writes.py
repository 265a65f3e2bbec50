"""What must always hold of the hub: what is said of its objects, and every write of Fairway's as it is made."""

import asyncio
from collections.abc import Callable

import msgspec
from msgspec import Struct

from fairway.domain.events import message_id
from fairway.domain.job import State
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.text.decoding import decoder
from fairway.lab.kubesim.api.store import Event, StoredObject
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.hub.cluster import BINDING, EVENT, SimulatedHub, said, uid_of
from fairway.lab.simulation.hub.schedules import owner_of
from fairway.lab.simulation.invariants.at_the_end import Found, rows
from fairway.lab.simulation.invariants.hub_end import HubEnd
from fairway.lab.simulation.invariants.hub_settings import SettingsOnHub, unlike
from fairway.lab.simulation.invariants.hub_statuses import OVER, shown
from fairway.lab.simulation.members.controllers import kind_of
from fairway.lab.simulation.members.pods import EVERY
from fairway.lab.simulation.process import SimulatedProcess
from fairway.lab.simulation.virtual_time import T0
from fairway.runtime.ports import Delivery
from fairway.wire import fleet as fleet_wire
from fairway.wire import jobs as wire
from fairway.wire.subjects import CONFIG, JOBS
from fairway.workloads.settings.quota_trees import read_quota_tree

_message = decoder(wire.Message)
_heard = decoder(fleet_wire.Message)
_SERVICE = "hub"
_LOOK_S = 0.5
_WRITES = frozenset({"Event", "ResourceBinding"})
# A lease that was lost with the store is trusted for as long as it would have lasted, at a slow pace (s).
_SURE_S = 60.0
# So long (ms) after the last fault a job may still be found to be held, and be taken out of its member.
_QUIET_MS = 300_000


class _Lives(Struct):
    """Of one object: its jobs in the order in which they were admitted, those of them that were refused, and whether
    the end of any was said."""

    admitted: list[str] = []
    refused: set[str] = set()
    ended: bool = False


class HubChecks:
    """`breach` is told the rule, the job or the object, and a sentence; `tree_changed` of a quota tree in force."""

    def __init__(
        self,
        fleet: SimulatedFleet,
        hub: SimulatedHub,
        breach: Callable[[str, str, str], None],
        tree_changed: Callable[[QuotaNode], None],
    ) -> None:
        self._fleet = fleet
        self._hub = hub
        self._breach = breach
        self._tree_changed = tree_changed
        self._lives: dict[str, _Lives] = {}
        self._uids: dict[str, str] = {}
        self._quiet_since = 0
        for kind in (*EVERY, EVENT, BINDING):
            hub.api.store.listen(hub.resource(kind).storage, self._seen)

    async def in_force(self) -> None:
        """Returns when the settings of the hub have been said: what comes before them knows no quota tree."""
        while any(unlike(self._fleet, SettingsOnHub(self._hub))):
            await asyncio.sleep(_LOOK_S)

    # The record.

    def stored(self, stream: str, delivery: Delivery) -> None:
        if stream == CONFIG and isinstance(said_now := _heard(delivery.data), fleet_wire.Configured):
            self._configured(said_now)
        if stream != JOBS:
            return
        message = _message(delivery.data)
        match message:
            case wire.Admitted() if message.spec.hub is not None:
                self._admitted(message.spec.hub.uid, message.job)
            case wire.Rejected():
                self._rejected(message)
            case wire.Succeeded() | wire.Cancelled():
                self._ends(message.job)
            case wire.Failed() | wire.Lost() if message.final:
                self._ends(message.job)

    def _configured(self, message: fleet_wire.Configured) -> None:
        manifest = msgspec.json.decode(message.manifest)
        if message.kind == "ElasticQuotaTree" and manifest is not None:
            self._tree_changed(read_quota_tree(manifest))

    def _admitted(self, uid: str, job: str) -> None:
        lives = self._of(uid, job)
        if job in lives.admitted:
            return
        if others := [one for one in lives.admitted if one not in lives.refused]:
            self._breach("hub twice", job, f"it is admitted for {uid}, of which {others} are there")
        lives.admitted.append(job)
        lives.ended = False

    def _rejected(self, message: wire.Rejected) -> None:
        uid = message.hub.uid if message.hub is not None else self._uids.get(message.job, "")
        if uid:
            lives = self._of(uid, message.job)
            lives.refused.add(message.job)
            lives.ended = True

    def _of(self, uid: str, job: str) -> _Lives:
        self._uids[job] = uid
        return self._lives.setdefault(uid, _Lives())

    def _ends(self, job: str) -> None:
        if (uid := self._uids.get(job)) is not None:
            self._lives[uid].ended = True

    # The hub.

    def _seen(self, event: Event) -> None:
        """Only what Fairway writes."""
        process = self._hub.writer.process
        if process is None:
            return
        self._owns(process)
        kind = kind_of(event.new)
        if event.type != "MODIFIED" and owner_of(event.new)[0]:
            return  # a run of a schedule
        if kind not in EVERY or event.old is None:
            if event.type == "ADDED" and event.new.obj["kind"] not in _WRITES:
                self._breach("hub write", "", f"{process.name} makes a {kind} {event.new.key}")
            return
        name = f"{event.new.key.namespace}/{event.new.key.name}"
        if event.type == "DELETED" or said(event.old.obj) != said(event.new.obj):
            self._breach("hub write", name, f"{process.name} changes what is its owner's")
        self._status(kind, name, event)

    def _status(self, kind: str, name: str, event: Event) -> None:
        """An end is shown when it was said, or is about to be (its row says so), and is not taken back."""
        assert event.old is not None, "asked of changes"
        uid = uid_of(event.new)
        before, after = (shown(kind, one.obj.get("status")) for one in (event.old, event.new))
        lives = self._lives.get(uid, _Lives())
        if after in OVER and before not in OVER and not (lives.ended or self._has_ended(uid)):
            self._breach("hub status", name, f"its object shows that it {after}, and nobody has said so")
        by_hand = self._hub.wanted[uid].by_hand
        if before in OVER and after != before and not by_hand and not lives.refused:
            self._breach("hub status", name, f"its object showed that it {before}, and then that it {after}")

    def _has_ended(self, uid: str) -> bool:
        return any(job.ended for job in rows(self._fleet).values() if job.hub_uid == uid)

    def _owns(self, process: SimulatedProcess) -> None:
        """Who has not got the lease any more sets out to write nothing, however long it stood still."""
        owner, since = self._fleet.store.books.leases.get(_SERVICE, ("", 0))
        if owner.rpartition("-")[0].rpartition("-")[0] == process.name:
            return
        if self._hub.writer.asked > (since - T0) / 1000 + _SURE_S:
            self._breach("hub owner", "", f"{process.name} writes, and {owner} has the lease since {since - T0} ms")

    def _again(self, one: StoredObject, cause: wire.JobMessage) -> tuple[object, ...]:
        """Who changes or holds a job twice is answered twice; an attempt whose room was taken meanwhile is placed once
        more, and one that claims twice is nominated twice; and a service that begins anew, as it does in trouble, does
        not know which reasons to wait it has told."""
        trouble = self._fleet.faults.profile.wipes and isinstance(cause, wire.Blocked | wire.Queue | wire.Unclaimed)
        often = isinstance(cause, wire.Amended | wire.Unchanged | wire.Held | wire.Placed | wire.Nominated)
        return (one.key.name,) if trouble or often else ()

    # Everything.

    def look(self) -> None:
        """No two live jobs of one object; and what is held does not run once all is quiet."""
        live: dict[str, str] = {}
        now = self._fleet.clock.now()
        if self._fleet.faults.clears and not self._quiet_since:
            self._quiet_since = now
        quiet = self._quiet_since and now > self._quiet_since + _QUIET_MS
        for name, job in rows(self._fleet).items():
            if job.hub_uid and not job.ended:
                other = live.setdefault(job.hub_uid, name)
                if other != name:
                    self._breach("hub twice", name, f"it lives beside {other}, for one object")
            if quiet and job.held and job.state in (State.DISPATCHED, State.RUNNING):
                self._breach("hub suspend", name, f"it is held and {job.state.value}")

    def settled(self) -> bool:
        return not any(HubEnd(self._fleet, self._hub).wrong())

    def end(self) -> Found:
        yield from HubEnd(self._fleet, self._hub).wrong()
        yield from self._told_twice()

    def _told_twice(self) -> Found:
        """Of one attempt each thing is told once."""
        causes = {message_id("note", one.id): _message(one.data) for one in self._fleet.bus.stored(JOBS)}
        told: dict[tuple[object, ...], str] = {}
        for one in self._hub.every(EVENT):
            cause = causes.get(one.key.name.rpartition(".")[2])
            if not isinstance(cause, wire.JobMessage):
                continue
            key = (cause.job, cause.attempt, one.obj["reason"], *self._again(one, cause))
            if key in told:
                yield "hub events", cause.job, f"of attempt {cause.attempt} {one.obj['reason']} is told twice"
            told[key] = one.key.name
