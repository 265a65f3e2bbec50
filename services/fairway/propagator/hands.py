"""What the propagator does outside: applies, deletes, and makes way where an ended job left an object of that name."""

from collections.abc import Mapping
from typing import Any

import msgspec

from fairway.domain import decision
from fairway.domain.decision import Call, Outcome
from fairway.domain.job import ENDED, State
from fairway.domain.names import HUB_UID
from fairway.propagator.decide import APPLY, Copy
from fairway.runtime.ports import Applied, Bus, Cluster, ClusterRefused, Store, StoreWiped, Unreachable, Wanted
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.workloads.render import ATTEMPT_LABEL, JOB_LABEL, member_copy

# One look at a deletion; the message comes again for the next one.
_DELETE_WAIT_S = 5.0
_submitted = msgspec.json.Decoder(wire.Submitted).decode


class _Row(msgspec.Struct):
    """Of a job's row only this is asked."""

    state: State


_row = msgspec.json.Decoder(_Row).decode


class Hands:
    """`clusters` may grow while it runs; `store` is its own client."""

    def __init__(self, bus: Bus, clusters: Mapping[str, Cluster], store: Store) -> None:
        self._bus, self._clusters, self._store = bus, clusters, store

    async def __call__(self, call: Call) -> Outcome:
        """Unknown outcomes have no code: they are tried again, which is harmless for both calls."""
        cluster = self._clusters.get(call.cluster)
        if cluster is None:
            return Outcome(call, False, "", f"{call.cluster} is no member of this fleet now")
        try:
            done = await (self._apply(cluster, call) if call.verb == APPLY else self._delete(cluster, call))
        except ClusterRefused as error:
            return Outcome(call, False, error.code, error.text)
        except Unreachable as error:
            return Outcome(call, False, "", str(error))
        return Outcome(call, True, body=done)

    async def _apply(self, cluster: Cluster, call: Call) -> Applied:
        copy: Copy = call.body
        data = await self._bus.fetch(subjects.JOBS, copy.manifest.sequence)
        if data is None:
            raise ClusterRefused("ManifestGone", f"message {copy.manifest.sequence} of the record is no longer there")
        manifest = msgspec.json.decode(_submitted(data).manifest)
        member = member_copy(manifest, call.job, call.attempt)
        if copy.hub_uid:
            member["metadata"].setdefault("annotations", {})[HUB_UID] = copy.hub_uid
        try:
            return await cluster.apply(copy.kind, member)
        except ClusterRefused as error:
            if error.code != "NameConflict" or not await self._make_way(cluster, copy, call.job):
                raise
        return await cluster.apply(copy.kind, member)

    async def _make_way(self, cluster: Cluster, copy: Copy, job: str) -> bool:
        """Removes the object of that name if an ended job of ours left it: it stayed there to be looked at. False when
        it is anybody else's."""
        found = await cluster.get(copy.kind, copy.namespace, copy.name)
        labels: dict[str, Any] = ((found or {}).get("metadata") or {}).get("labels") or {}
        other = labels.get(JOB_LABEL, "")
        if not other or other == job or not await self._ended(other):
            return False
        marks = {JOB_LABEL: other, ATTEMPT_LABEL: labels.get(ATTEMPT_LABEL, "")}
        if not await cluster.delete(copy.kind, copy.namespace, copy.name, marks, _DELETE_WAIT_S):
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
        return row is not None and _row(row.data).state in ENDED

    async def _delete(self, cluster: Cluster, call: Call) -> bool:
        copy: Copy = call.body
        labels = {JOB_LABEL: call.job, ATTEMPT_LABEL: str(call.attempt)}
        return await cluster.delete(copy.kind, copy.namespace, copy.name, labels, _DELETE_WAIT_S)
