"""The rooms held in one member: followed by watches, handed over as the pods for them come, given back."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any

import structlog
from msgspec import Struct

from fairway.propagator.handover import Clear, HeldPlace, JobPod, Take, attempt_of, next_steps, seen
from fairway.propagator.held_room import KINDS, PLACES, POD, ROOM_LABEL, Room
from fairway.propagator.needed_objects import ensure
from fairway.propagator.view import SERVICE
from fairway.runtime.cluster_port import Change, Cluster, ClusterRefused
from fairway.runtime.ports import Unreachable
from fairway.workloads.member_copy import ATTEMPT_LABEL, GATE, HOLD_LABEL, JOB_LABEL

log = structlog.get_logger()
# So many calls at once for one attempt; a large gang would take every connection of the cluster.
_AT_ONCE = 16
_RETRY_S = 0.5


class AttemptRoom(Struct):
    """What is seen of one attempt: what holds its rooms, and its pods, by namespace and name."""

    job: str
    number: int
    way: str
    places: dict[tuple[str, str], HeldPlace] = {}
    pods: dict[tuple[str, str], JobPod] = {}
    version: int = 0

    @property
    def spoken_of(self) -> dict[str, str | int]:
        """For the log. Its tenant is where its pods are, once one was seen."""
        tenant = next((namespace for namespace, _ in self.pods), "")
        return {"job": self.job, "attempt": self.number, "tenant": tenant}

    def put(self, name: tuple[str, str], thing: HeldPlace | JobPod | None) -> None:
        self.version += 1
        self.places.pop(name, None)
        self.pods.pop(name, None)
        if isinstance(thing, HeldPlace):
            self.places[name] = thing
        elif thing is not None:
            self.pods[name] = thing


class MemberRoom:
    """One cluster's rooms. What it knows is what its watches told; `start` begins to follow a kind, once."""

    def __init__(self, cluster: Cluster, group: asyncio.TaskGroup) -> None:
        self.cluster = cluster
        self._group = group
        self.attempts: dict[str, AttemptRoom] = {}
        self._synced: dict[str, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._settling: set[str] = set()
        self._changed = asyncio.Condition()
        self._calls = asyncio.Semaphore(_AT_ONCE)

    def follow(self, way: str) -> None:
        """Pods for either way: those that take Reservations are pods, too."""
        for kind in {POD, KINDS[way]} - self._synced.keys():
            self._synced[kind] = asyncio.Event()
            self._spawn(self._follow(kind))

    async def followed(self, kind: str, wait_s: float) -> None:
        """Returns when everything of that kind has been told; Unreachable when that takes longer."""
        try:
            async with asyncio.timeout(wait_s):
                await self._synced[kind].wait()
                await self._synced[POD].wait()
        except TimeoutError:
            raise Unreachable(f"what holds room in {self.cluster.name} has not been listed yet") from None

    def end(self) -> None:
        for task in list(self._tasks):
            task.cancel()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._group.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _follow(self, kind: str) -> None:
        async for change in self.cluster.watch(kind, HOLD_LABEL):
            if change.synced:
                self._synced[kind].set()
                for key in list(self.attempts):
                    self._due(key)
            elif self.hear(change):
                async with self._changed:
                    self._changed.notify_all()

    def hear(self, change: Change) -> bool:
        """Whether it is of an attempt. What has not even the form of an object is of none: a member's API may answer
        anything."""
        if key := self._told(change):
            self._due(key)
        return bool(key)

    def _told(self, change: Change) -> str:
        try:
            return self._read(change)
        except (TypeError, AttributeError, KeyError, ValueError, RecursionError) as error:
            where = {"cluster": self.cluster.name, "kind": change.kind, "name": change.name}
            log.warning("passed over", namespace=change.namespace, cause=repr(error)[:500], **where)
            return ""

    def _read(self, change: Change) -> str:
        found = attempt_of(change.manifest)
        if found is None:
            return ""
        job, number, way = found
        key = f"{job}/{number}"
        attempt = self.attempts.setdefault(key, AttemptRoom(job, number, way))
        attempt.put((change.namespace, change.name), None if change.gone else seen(change.manifest))
        if not attempt.places and not attempt.pods:
            del self.attempts[key]
        return key

    async def wait(self, key: str, rooms: int, wait_s: float) -> int:
        """How many of an attempt's rooms are held, once it is all of them or the time is over."""
        try:
            async with asyncio.timeout(wait_s), self._changed:
                await self._changed.wait_for(lambda: self.ready(key) >= rooms)
        except TimeoutError:
            pass
        return self.ready(key)

    def places(self, key: str) -> dict[tuple[str, str], HeldPlace]:
        """What is seen to hold the rooms of an attempt, by namespace and name."""
        attempt = self.attempts.get(key)
        return attempt.places if attempt else {}

    def ready(self, key: str) -> int:
        return sum(place.ready for place in self.places(key).values())

    def _due(self, key: str) -> None:
        """Lists of every kind come first: a pod without a placeholder may be one whose placeholder is not told yet."""
        if key not in self._settling and all(event.is_set() for event in self._synced.values()):
            self._settling.add(key)
            self._spawn(self._settle(key))

    async def _settle(self, key: str) -> None:
        """Does what is to do for one attempt, until nothing is."""
        done = -1
        try:
            while (attempt := self.attempts.get(key)) and attempt.version != done:
                done = attempt.version
                steps = next_steps(attempt.way, attempt.places.values(), attempt.pods.values(), GATE)
                if not all(await asyncio.gather(*(self._do(attempt, step) for step in steps))):
                    await asyncio.sleep(_RETRY_S)
                    done = -1
        finally:
            self._settling.discard(key)

    async def _do(self, attempt: AttemptRoom, step: Take | Clear) -> bool:
        """False when it has to be tried again, though nothing may change in the member meanwhile."""
        try:
            async with self._calls:
                if isinstance(step, Take):
                    await self._give(attempt, step)
                else:
                    await self.clear(attempt.way, step.names)
        except ClusterRefused as error:
            if error.code not in ("Conflict", "NotFound"):  # those show: the watch will tell
                log.warning("room", service=SERVICE, cluster=self.cluster.name, **attempt.spoken_of, cause=str(error))
                return False
        except Unreachable as error:
            log.warning("room", service=SERVICE, cluster=self.cluster.name, **attempt.spoken_of, cause=str(error))
            return False
        return True

    async def _give(self, attempt: AttemptRoom, step: Take) -> None:
        """Nominate, make way, let go: never in another order."""
        pod = step.pod
        place = step.place
        if place is not None:
            if not pod.room and not await self._nominate(pod, place):
                return
            await self.clear(attempt.way, (place.name,))
        if GATE in pod.gates:
            gates = [{"name": name} for name in pod.gates if name != GATE]
            body = {"metadata": {"uid": pod.uid}, "spec": {"schedulingGates": gates or None}}
            await self.cluster.patch(POD, pod.namespace, pod.name, body)

    async def _nominate(self, pod: JobPod, place: HeldPlace) -> bool:
        """False when the pod is gone. Two propagators cannot give one pod two rooms: the version is checked."""
        body = {
            "metadata": {"uid": pod.uid, "resourceVersion": pod.version, "labels": {ROOM_LABEL: place.room}},
            "status": {"nominatedNodeName": place.node},
        }
        return await self.cluster.patch(POD, pod.namespace, pod.name, body, "status") is not None

    async def clear(self, way: str, names: Iterable[str]) -> None:
        for name in names:
            await self.cluster.discard(KINDS[way], PLACES[way], {HOLD_LABEL: way}, name)

    async def release(self, way: str, job: str, attempt: int) -> None:
        """Gives back every room of an attempt."""
        labels = {JOB_LABEL: job, ATTEMPT_LABEL: str(attempt), HOLD_LABEL: way}
        await self.cluster.discard(KINDS[way], PLACES[way], labels)

    async def make(self, room: Room, manifests: dict[str, dict[str, Any]]) -> None:
        """Creates what is missing; what is there already is as good."""
        there = {name for _, name in self.attempts[room.key].places} if room.key in self.attempts else set()
        missing = [one for name, one in manifests.items() if name not in there]
        results = await asyncio.gather(*(self._create(room.kind, one) for one in missing), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def _create(self, kind: str, manifest: dict[str, Any]) -> None:
        async with self._calls:
            await ensure(self.cluster, kind, manifest)
