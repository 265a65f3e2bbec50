"""watcher as a value, with the watches beside it that tell what the member clusters show."""

import asyncio
from functools import partial
from itertools import count
from typing import Any

import msgspec
import structlog

from fairway.domain.attempts.eviction_freeze import Freeze
from fairway.domain.text.digits import is_whole
from fairway.runtime.cluster_port import Change, Cluster, ClusterRefused
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Unreachable
from fairway.runtime.record.senders import place_of, place_of_cluster
from fairway.runtime.service import Consumer, LocalMessages, Service
from fairway.runtime.views.members import Members
from fairway.runtime.views.settings import Catalog
from fairway.watcher import object_owner
from fairway.watcher.decide import Hears, decide
from fairway.watcher.gangs import GangStatuses
from fairway.watcher.memory import WatcherMemory
from fairway.watcher.missing import SERVICE, Emptied, Late, Listed
from fairway.watcher.object_doubts import ObjectDoubts
from fairway.watcher.object_owner import Observed
from fairway.watcher.silence import SETTLE_MS
from fairway.wire import fleet, flow
from fairway.wire import jobs as wire
from fairway.workloads import seal
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.member_copy import ATTEMPT_LABEL, JOB_LABEL, object_labels, selector_of

_LATE_EVERY_MS = 500
_LOOK_EVERY_S = 3
_EMPTY_EVERY_S = 2
log = structlog.get_logger()


class MemberWatches:
    """Watches every served kind of every cluster, and puts what it sees before the service. `key` is the fleet's, with
    which objects are sealed."""

    def __init__(self, members: Members, doubts: ObjectDoubts, key: bytes) -> None:
        self.members = members
        self.doubts = doubts
        self._key = key
        self._places = count(1)
        self._told: tuple[str, ...] | None = None

    async def __call__(self, inbox: LocalMessages) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self.members.follow(partial(self._see, inbox)))
            group.create_task(self.members.follow(partial(self._empty, inbox), facts=True))

    async def _see(self, inbox: LocalMessages, cluster: Cluster) -> None:
        """Everything that is done for one member; it all ends when the member goes."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._look(group, inbox, cluster))

    def late(self) -> Late:
        members = tuple(self.members)
        if members == self._told:
            return Late()
        self._told = members
        return Late(members=members)

    async def _empty(self, inbox: LocalMessages, cluster: Cluster) -> None:
        """Again and again: a job that was on its way there is dispatched first."""
        while self.members.facts(cluster.name).emptied:
            inbox.put(Emptied(cluster=cluster.name))
            await inbox.pause(_EMPTY_EVERY_S)

    async def _look(self, group: asyncio.TaskGroup, inbox: LocalMessages, cluster: Cluster) -> None:
        """Watches what the cluster serves; asks again, for it may be away, or get another operator."""
        watched: set[str] = set()
        while True:
            try:
                served = set(await cluster.served())
            except (Unreachable, ClusterRefused) as error:
                log.warning("waiting", service=SERVICE, cluster=cluster.name, cause=str(error))
                served = set()
            for kind in sorted(served - watched):
                group.create_task(self._watch(inbox, cluster, kind))
            watched |= served
            await inbox.pause(_LOOK_EVERY_S if watched else 1)

    async def _watch(self, inbox: LocalMessages, cluster: Cluster, kind: str) -> None:
        there: dict[tuple[str, str], tuple[str, int, str]] = {}
        gangs = GangStatuses(cluster.name, self._key)
        async for told in cluster.watch(kind, selector_of(KINDS[kind])):
            await inbox.room()
            if told.synced:
                keys = frozenset(f"{job}/{attempt} {uid}" for job, attempt, uid in there.values())
                inbox.put(Listed(cluster=cluster.name, kind=kind, keys=keys))
                continue
            change = self._of_job(gangs, told)
            if change is None:
                continue
            seen = self._observed(cluster.name, change)
            was = there.pop((change.namespace, change.name), None)
            if was is not None and (seen is None or was[:2] != (seen.job, seen.attempt)):
                # Without its labels, or with others, it is as good as gone.
                inbox.put(_seen(cluster.name, change, *was[:2], gone=True))
            if seen is None:
                continue
            if not seen.gone:
                there[change.namespace, change.name] = (seen.job, seen.attempt, object_owner.uid_of(change.manifest))
            if seen.gone:
                self.doubts.forget(change.manifest)
            inbox.put(msgspec.structs.replace(seen, place=next(self._places)))

    def _of_job(self, gangs: GangStatuses, change: Change) -> Change | None:
        """What is told of a pod of a gang, as its gang's; what has not even the form of an object as it is."""
        try:
            return gangs.told(change)
        except (TypeError, AttributeError, KeyError, ValueError, RecursionError):
            return change

    def _observed(self, cluster: str, change: Change) -> Observed | None:
        """With the doubt about it. None as well for what has not even the form of an object: a member's API may answer
        anything."""
        try:
            seen = observed(cluster, change, self._key)
            doubt = self.doubts.doubt(change.manifest) if seen is not None and not seen.gone else None
            return seen and msgspec.structs.replace(seen, doubt=doubt)
        except (TypeError, AttributeError, KeyError, ValueError, RecursionError) as error:
            where = {"kind": change.kind, "namespace": change.namespace, "name": change.name}
            log.warning("passed over", service=SERVICE, cluster=cluster, cause=repr(error)[:500], **where)
            return None


def observed(cluster: str, change: Change, key: bytes) -> Observed | None:
    """What a change says of one of our attempts: of that which it was sealed for with `key`, else of that which its
    labels name. None for an object with neither, or one that an operator made with them: a JobSet's Jobs carry its
    labels, and end before it does."""
    meta: dict[str, Any] = change.manifest.get("metadata") or {}
    if any(owner.get("controller") for owner in meta.get("ownerReferences") or ()):
        return None
    labels = meta.get("labels") or {}
    spot = seal.Spot(cluster, change.kind, change.namespace, change.name)
    if sealed := seal.attempt_of(key, spot, change.manifest):
        stripped = not object_labels(KINDS[change.kind], *sealed).items() <= labels.items()
        seen = _seen(cluster, change, *sealed, gone=change.gone)
        return msgspec.structs.replace(seen, sealed=sealed, stripped=stripped)
    if JOB_LABEL not in labels or not is_whole(str(labels.get(ATTEMPT_LABEL, ""))):
        return None
    return _seen(cluster, change, labels[JOB_LABEL], int(labels[ATTEMPT_LABEL]), change.gone)


def _seen(cluster: str, change: Change, job: str, attempt: int, gone: bool) -> Observed:
    return Observed(
        job=job,
        tenant=change.namespace,
        attempt=attempt,
        cluster=cluster,
        kind=change.kind,
        manifest=change.manifest,
        gone=gone,
    )


class FreezeShown:
    """What an operator sees of the memory: whether evictions are frozen."""

    def __init__(self, meter: Meter | None) -> None:
        self._meter = meter
        self._frozen: Freeze | None = None

    def __call__(self, memory: WatcherMemory) -> None:
        before = self._frozen
        self._frozen = now = memory.silence.frozen
        if self._meter is not None:
            self._meter.frozen.labels(SERVICE).set(now is not None)
        if now and not before:
            log.warning("evictions frozen", service=SERVICE, cause=now.why.text)
        elif before and not now:
            log.warning("evictions no longer frozen", service=SERVICE, since=before.since)


def service(
    watches: MemberWatches, catalog: Catalog, meter: Meter | None = None, settle_ms: int = SETTLE_MS
) -> Service[WatcherMemory, Hears]:
    """Nothing is given up for `settle_ms` after most of the fleet was silent."""
    said: Consumer[wire.Dispatched] = Consumer(*flow.consumer(SERVICE), msgspec.json.Decoder(wire.Message), place_of)
    strands = msgspec.json.Decoder(fleet.Stranded)
    away = Consumer(*flow.consumer(f"{SERVICE}-nodes"), strands, place_of_cluster)
    return Service(
        SERVICE,
        (said, away),
        decide,
        lambda: WatcherMemory(catalog, settle_ms),
        act=watches.doubts,
        ticks=((watches.late, _LATE_EVERY_MS),),
        beside=watches,
        shown=FreezeShown(meter),
    )
