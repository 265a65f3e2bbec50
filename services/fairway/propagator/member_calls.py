"""What the propagator does outside: holds room, applies, changes in place, deletes, and makes way where an ended job
left an object of that name."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from msgspec import structs

from fairway.domain import decision
from fairway.domain.decision import Call, Outcome
from fairway.domain.job import ENDED
from fairway.domain.names import HUB_UID
from fairway.domain.text.digits import is_whole
from fairway.propagator import calls
from fairway.propagator.calls import Adjusted, Adjustment, Copy, Made
from fairway.propagator.companions.member_companions import Companions
from fairway.propagator.gangs.apply import apply_gang
from fairway.propagator.needed_objects import NeededObjects
from fairway.propagator.removal.own_object import OwnObjects
from fairway.propagator.rooms import Rooms, job_progress
from fairway.propagator.unanswered import Unanswered
from fairway.runtime.cluster_port import Applied, Cluster, ClusterRefused
from fairway.runtime.ports import StoreWiped, Unreachable, Wanted, World
from fairway.runtime.record.manifests import manifest_of
from fairway.wire import jobs as wire
from fairway.workloads.companions.sent import anchor_name
from fairway.workloads.gangs.pods import followers, pod_set_names
from fairway.workloads.kinds.in_place import steps
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.member_copy import (
    ATTEMPT_LABEL,
    JOB_LABEL,
    POD_SET_LABEL,
    Terms,
    attempt_labels,
    member_copy,
)
from fairway.workloads.reading.fields import Field, Problems
from fairway.workloads.seal import of_attempt, sealed, spot_of

Json = dict[str, Any]
# One look at a deletion; the message comes again for the next one.
_DELETE_WAIT_S = 5.0
# With none at all a pod would be gone from the API while what it runs may go on.
_LEAST_GRACE_S = 1


class MemberCalls:
    """`clusters` may grow while it runs; the world's `store` is its own client. With `key`, the fleet's, everything is
    sealed that is applied. `hub` is where the companions of jobs are."""

    def __init__(
        self,
        world: World,
        clusters: Mapping[str, Cluster],
        key: bytes,
        rooms: Rooms | None = None,
        hub: Cluster | None = None,
    ) -> None:
        self._bus = world.bus
        self._store = world.store
        self._clusters = clusters
        self._rooms = rooms
        self._key = key
        self._needed = NeededObjects(world.clock)
        self._companions = Companions(hub, key)
        self._unanswered = Unanswered(world.clock)
        self._own = OwnObjects(key)

    async def __call__(self, call: Call) -> Outcome:
        """Unknown outcomes have no code: they are tried again, which is harmless for both calls."""
        cluster = self._clusters.get(call.cluster)
        if cluster is None:
            return Outcome(call, False, "", f"{call.cluster} is no member of this fleet now")
        try:
            done = await self._do(cluster, call)
        except ClusterRefused as error:
            if call.verb in (calls.NOTICE, calls.DELETE):
                self._unanswered.by(call.cluster, call.job, str(error))
            return Outcome(call, False, error.code, error.text)
        except Unreachable as error:
            self._unanswered.by(call.cluster, call.job, str(error))
            return Outcome(call, False, "", str(error))
        return Outcome(call, True, body=done)

    async def _do(self, cluster: Cluster, call: Call) -> Applied | Adjusted | Made | Json | bool | None:
        if call.verb == calls.ADJUST:
            return await self._adjust(cluster, call)
        if call.verb == calls.NOTICE:
            return await self._own.give_notice(cluster, call)
        copy: Copy = call.body
        match call.verb:
            case calls.HOLD if copy.room is not None:
                return await self._held_by().make(call.cluster, copy.room)
            case calls.RELEASE if copy.room is not None:
                await self._held_by().release(call.cluster, copy.room)
                return True
            case calls.APPLY:
                return await self._apply(cluster, call)
        return await self._delete(cluster, call)

    def _held_by(self) -> Rooms:
        if self._rooms is None:
            raise Unreachable("this propagator holds no room in members")
        return self._rooms

    async def _apply(self, cluster: Cluster, call: Call) -> Applied:
        copy: Copy = call.body
        manifest = await self._manifest(copy, copy.manifest)
        member = _copy(call, copy, manifest)
        if copy.hub_uid:
            member["metadata"].setdefault("annotations", {})[HUB_UID] = copy.hub_uid
        member = sealed(self._key, spot_of(call.cluster, copy.kind, member), (call.job, call.attempt), member)
        name = anchor_name(call.job, call.attempt)
        member, parts = KINDS[copy.kind].in_member(member, name)
        queue = KINDS[copy.kind].queue(Field(manifest, Problems()))
        await self._needed.priority_class(cluster, copy.priority_class, copy.priority)
        await self._needed.queue(cluster, queue)
        along = await self._companions.send(cluster, call, manifest, parts)
        try:
            done = await self._put(cluster, call, member, manifest)
        except ClusterRefused as error:
            if parts and f'"{name}" not found' in error.text:
                # Its operator looks at what it has heard of, which may be a moment behind.
                raise Unreachable(f"{cluster.name} does not see yet what was just made there: {error.text}") from error
            if queue and queue in error.text and self._needed.may_be_new(cluster, queue):
                raise Unreachable(f"{cluster.name} may not have opened queue {queue} yet: {error.text}") from error
            raise
        await self._companions.bind(cluster, call, along, done.uid)
        return structs.replace(done, companions=along.told)

    async def _put(self, cluster: Cluster, call: Call, member: Json, manifest: Json) -> Applied:
        """The attempt's object; of a gang of pods all of them."""
        others = followers(manifest)
        if not others:
            return await self._put_one(cluster, call, member)
        pods = [member]
        for one in others:
            pod = _copy(call, call.body, one)
            spot = spot_of(call.cluster, call.body.kind, pod)
            pod = sealed(self._key, spot, (call.job, call.attempt), pod)
            pods.append(KINDS[call.body.kind].in_member(pod, anchor_name(call.job, call.attempt))[0])
        names = pod_set_names(manifest)
        for pod in pods:
            pod["metadata"]["labels"][POD_SET_LABEL] = names[pod["metadata"]["name"]]
        return await apply_gang(cluster, pods, partial(self._put_one, cluster, call))

    async def _put_one(self, cluster: Cluster, call: Call, member: Json) -> Applied:
        copy: Copy = structs.replace(call.body, name=member["metadata"]["name"])
        try:
            return await cluster.apply(copy.kind, member, copy.level)
        except ClusterRefused as error:
            if error.code != "NameConflict" or not await self._make_way(cluster, copy, call.job):
                raise
        return await cluster.apply(copy.kind, member, copy.level)

    async def _manifest(self, copy: Copy, ref: wire.ManifestRef) -> Json:
        """Of the record."""
        manifest = await manifest_of(self._bus, ref)
        if manifest is None:
            raise ClusterRefused("ManifestGone", f"message {ref.sequence} of the record is no longer there")
        if (manifest["metadata"].get("namespace") or "default") != copy.namespace:
            text = f"the manifest at {ref.sequence} of the record is not of namespace {copy.namespace}"
            raise ClusterRefused("WrongManifest", text)
        return manifest

    async def _adjust(self, cluster: Cluster, call: Call) -> Adjusted:
        """Only where the two manifests differ, and only of the attempt's own object."""
        asked: Adjustment = call.body
        copy = asked.copy
        before = _copy(call, copy, await self._manifest(copy, copy.manifest))
        after = _copy(call, copy, await self._manifest(copy, asked.after))
        found = await cluster.get(copy.kind, copy.namespace, copy.name)
        if found is None or not self._own.is_its(call.cluster, copy, found, (call.job, call.attempt)):
            raise ClusterRefused("NotFound", f"the object of attempt {call.attempt} is not there")
        try:
            body = steps(found, before, after)
        except ValueError as error:
            raise ClusterRefused("Invalid", str(error)) from None
        if body and await cluster.patch(copy.kind, copy.namespace, copy.name, body) is None:
            raise ClusterRefused("NotFound", f"the object of attempt {call.attempt} is not there any more")
        return Adjusted(copy.manifest, asked.after)

    async def _make_way(self, cluster: Cluster, copy: Copy, job: str) -> bool:
        """Removes the object of that name if an ended job of ours left it: it stayed there to be looked at. False when
        it is anybody else's."""
        found = await cluster.get(copy.kind, copy.namespace, copy.name)
        labels: dict[str, Any] = ((found or {}).get("metadata") or {}).get("labels") or {}
        other = labels.get(JOB_LABEL, "")
        number = str(labels.get(ATTEMPT_LABEL, ""))
        if found is None or not other or other == job or not is_whole(number):
            return False
        if not of_attempt(self._key, (cluster.name, copy.kind), found, (other, int(number))):
            return False  # it only says that it is ours
        if not await self._ended(other):
            return False
        marks = {JOB_LABEL: other, ATTEMPT_LABEL: number}
        # A pod of a gang goes with its leader.
        owners = found["metadata"].get("ownerReferences") or [{"name": copy.name}]
        if not await cluster.delete(copy.kind, copy.namespace, owners[0]["name"], marks, _DELETE_WAIT_S):
            raise Unreachable(f"what job {other} left in {cluster.name} is still being removed")
        return True

    async def _ended(self, job: str) -> bool:
        """Whether this fleet knows the job, and it has ended."""
        try:
            if not await self._store.open():
                raise StoreWiped
            found = await self._store.read(Wanted(rows={decision.JOBS: [job]}))
        except StoreWiped:
            raise Unreachable("the working set is being rebuilt") from None
        row = found.rows.get((decision.JOBS, job))
        return row is not None and job_progress(row.data).state in ENDED

    async def _delete(self, cluster: Cluster, call: Call) -> bool:
        """Its pods are waited for, and the object itself is deleted only if it is the attempt's: whoever else made one
        of that name, with whatever labels, keeps it."""
        copy: Copy = call.body
        labels = attempt_labels(call.job, call.attempt)
        found = await cluster.get(copy.kind, copy.namespace, copy.name)
        mine = found is None or self._own.is_its(call.cluster, copy, found, (call.job, call.attempt))
        name = copy.name if mine else ""
        most_s = max(_LEAST_GRACE_S, copy.grace // 1000)
        wait_s = min(_DELETE_WAIT_S, most_s) if copy.grace else _DELETE_WAIT_S
        gone = await cluster.delete(copy.kind, copy.namespace, name, labels, wait_s)
        if copy.room is not None:
            await self._held_by().release(call.cluster, copy.room)
        if gone:
            await self._companions.forget(cluster, call)
        elif copy.grace:
            await cluster.shorten(copy.namespace, labels, most_s)
        return not await self._own.still_there(cluster, call) and gone


def _copy(call: Call, copy: Copy, manifest: Json) -> Json:
    """What a manifest is in a member, for that attempt."""
    terms = Terms(copy.room.way if copy.room else "", copy.tokens, copy.batch)
    return member_copy(manifest, call.job, call.attempt, terms=terms)
