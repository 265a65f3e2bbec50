"""Rooms in the members: made before a job is applied, all or none; given back when its attempt is over."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping

import msgspec
import structlog

from fairway.domain import decision
from fairway.domain.job import State
from fairway.domain.tenancy.member_namespace import LEVEL_LABEL
from fairway.domain.tenancy.profile import RESTRICTED
from fairway.domain.text.decoding import decoder
from fairway.propagator import needed_objects
from fairway.propagator.calls import Made
from fairway.propagator.held_room import NAMESPACE, PLACES, Room, manifests, priority_class
from fairway.propagator.member_room import AttemptRoom, MemberRoom
from fairway.propagator.needed_objects import ensure
from fairway.propagator.view import SERVICE
from fairway.runtime.cluster_port import Change, Cluster, ClusterRefused
from fairway.runtime.ports import Clock, Store, StoreWiped, Unreachable, Wanted
from fairway.runtime.service import LocalMessages
from fairway.wire.capacity import PLACEHOLDERS, ClusterInfo

log = structlog.get_logger()
# One look at what is being made; the message comes again for the next one. Schedulers bind within milliseconds.
_LOOK_S = 0.2
_LIST_S = 2.0
# How often the fleet's clusters, and the jobs whose rooms are seen, are looked at (s).
_SWEEP_S = 5.0
Image = Callable[[str], str]
_ALIVE = (State.RESERVED, State.DISPATCHED, State.RUNNING)
_info = msgspec.json.Decoder(ClusterInfo).decode


class JobProgress(msgspec.Struct):
    """Of a job's row only this is asked."""

    state: State
    attempt: int


job_progress = decoder(JobProgress)


class Rooms:
    """`clusters` may grow while it runs; `store` is its own client; `image` is what placeholders
    run in the cluster of that name."""

    def __init__(self, clusters: Mapping[str, Cluster], store: Store, clock: Clock, image: Image) -> None:
        self._clusters = clusters
        self._store = store
        self._clock = clock
        self._image = image
        self._members: dict[str, MemberRoom] = {}
        self._group: asyncio.TaskGroup | None = None
        self._classes: set[tuple[str, str]] = set()
        self._progress: dict[tuple[str, str], tuple[int, int]] = {}
        self._ways: dict[str, tuple[str, ...]] = {}
        self._version = 0

    async def run(self, _: LocalMessages) -> None:
        """Until cancelled: follows the members that can hold room, and gives back what is held for nobody."""
        async with asyncio.TaskGroup() as self._group:
            while True:
                try:
                    await self._look()
                except (StoreWiped, Unreachable, ClusterRefused) as error:
                    self._version = 0
                    log.info("waiting", service="rooms", cause=str(error) or "the working set is being rebuilt")
                await self._clock.sleep(_SWEEP_S)

    async def make(self, name: str, room: Room) -> Made:
        """One look at the room of an attempt, what is missing of it made first. Raises what the cluster answers."""
        member = self._member(name)
        member.follow(room.way)
        await member.followed(room.kind, _LIST_S)
        total = len(room.names)
        known = member.attempts.get(room.key)
        if known is not None and any(namespace == room.namespace for namespace, _ in known.pods):
            return Made(total, total)  # applied before, and its pods are taking their rooms
        await self._prepare(member.cluster, room)
        await self._create(member, room)
        why = await self._why(member, room) if await member.wait(room.key, total, _LOOK_S) < total else ""
        ready = member.ready(room.key)
        return Made(ready, total, self._idle(name, room, ready, total), why if ready < total else "")

    async def release(self, name: str, room: Room) -> None:
        self._progress.pop((name, room.key), None)
        await self._member(name).release(room.way, room.job, room.attempt)

    def _member(self, name: str) -> MemberRoom:
        known = self._members.get(name)
        if known is not None and known.cluster is self._clusters.get(name):
            return known
        if self._group is None or name not in self._clusters:
            raise Unreachable(f"the rooms of {name} are not followed yet")
        if known is not None:
            known.end()
        self._members[name] = MemberRoom(self._clusters[name], self._group)
        return self._members[name]

    async def _prepare(self, cluster: Cluster, room: Room) -> None:
        """The class of placeholders of this priority, once."""
        manifest = priority_class(room.priority)
        key = (cluster.name, manifest["metadata"]["name"])
        if room.way != PLACEHOLDERS or key in self._classes:
            return
        await ensure(cluster, needed_objects.PRIORITY_CLASS, manifest)
        self._classes.add(key)

    async def _create(self, member: MemberRoom, room: Room) -> None:
        try:
            await member.make(room, manifests(room, self._image(member.cluster.name)))
        except ClusterRefused as error:
            if room.way != PLACEHOLDERS:
                raise
            if error.code == "NotFound":
                labels = {LEVEL_LABEL: RESTRICTED}
                await ensure(member.cluster, "Namespace.v1", {"metadata": {"name": NAMESPACE, "labels": labels}})
                raise Unreachable(f"namespace {NAMESPACE} was missing in {member.cluster.name}") from None
            if "serviceaccount" in error.text or "PriorityClass" in error.text:
                self._classes.clear()
                raise Unreachable(f"{member.cluster.name} is not ready for placeholders yet: {error.text}") from None
            raise

    def _idle(self, name: str, room: Room, ready: int, total: int) -> int:
        """Milliseconds since more of the room was held than before."""
        now = self._clock.now()
        key = (name, room.key)
        before, since = self._progress.get(key, (-1, now))
        if ready > before:
            since = now
        self._progress[key] = (ready, since)
        if ready == total:
            del self._progress[key]
        return now - since

    async def _why(self, member: MemberRoom, room: Room) -> str:
        """What the member's scheduler says of the first room that is not held; empty while it says nothing. It may be
        held by now, and the watch be behind: it was cut, say."""
        held = {place.name for place in member.places(room.key).values() if place.ready}
        name = next((one for one in room.names if one not in held), "")
        where = (PLACES[room.way], name)
        known = where in member.places(room.key)
        found = await member.cluster.get(room.kind, *where)
        if found is None or (known and where not in member.places(room.key)):  # it went meanwhile
            return ""
        member.hear(Change(room.kind, PLACES[room.way], name, manifest=found))
        conditions = (found.get("status") or {}).get("conditions") or ()
        said = [one.get("message", "") for one in conditions if one.get("status") == "False"]
        return next((text for text in said if text), "")

    async def _look(self) -> None:
        await self._read_clusters()
        for name in list(self._members):
            if name not in self._clusters:
                self._members.pop(name).end()
        for name, ways in self._ways.items():
            for way in ways if name in self._clusters else ():
                self._member(name).follow(way)
        for name, member in self._members.items():
            for attempt in await self._over(member):
                log.info("room of an attempt that is over", service=SERVICE, cluster=name, **attempt.spoken_of)
                with contextlib.suppress(Unreachable, ClusterRefused):
                    await member.release(attempt.way, attempt.job, attempt.number)

    async def _read_clusters(self) -> None:
        if not await self._store.open():
            raise StoreWiped
        found = await self._store.read(Wanted(since=self._version, follow=(decision.CLUSTERS,)))
        self._version = found.version
        for _, name, row in found.changes:
            self._ways[name] = _info(row.data).holds if row else ()

    async def _over(self, member: MemberRoom) -> list[AttemptRoom]:
        """Attempts that hold room and are over. A job that is not known here may be another fleet's."""
        holding = [one for one in member.attempts.values() if one.places]
        if not holding:
            return []
        found = await self._store.read(Wanted(rows={decision.JOBS: sorted({one.job for one in holding})}))
        rows = {key: job_progress(row.data) for (_, key), row in found.rows.items()}
        return [one for one in holding if one.job in rows and not _alive(rows[one.job], one.number)]


def _alive(row: JobProgress, attempt: int) -> bool:
    return row.attempt == attempt and row.state in _ALIVE
