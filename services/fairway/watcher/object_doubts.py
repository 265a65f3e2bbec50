"""Looks closer where a member's object is not as it should be: what was edited, and what only seems to be gone."""

from collections.abc import Mapping
from typing import Any

from fairway.domain.decision import Call, Outcome
from fairway.runtime.cluster_port import Cluster, ClusterRefused
from fairway.runtime.ports import Bus, Unreachable
from fairway.runtime.record.manifests import manifest_of
from fairway.watcher.edits import Edit, Marks, edits, marks
from fairway.watcher.object_checks import COMPARE, GONE, STRIPPED, THERE, Compare, ObjectDoubt, ObjectLook
from fairway.workloads.companions.sent import anchor_name
from fairway.workloads.kinds.kind import reach
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.member_copy import Terms, member_copy, object_labels
from fairway.workloads.seal import of_attempt

Json = dict[str, Any]
# Of so many objects it is remembered what they looked like.
_MOST = 50_000


class ObjectDoubts:
    """One for each process: `doubt` notes what objects look like, and calling it settles the doubt."""

    def __init__(self, bus: Bus, clusters: Mapping[str, Cluster], key: bytes) -> None:
        self._bus = bus
        self._clusters = clusters
        self._key = key
        self._seen: dict[str, Marks] = {}

    def doubt(self, manifest: Json) -> ObjectDoubt | None:
        """None: nobody has touched the spec since it was last found to be ours, as far as the server says."""
        now = marks(manifest)
        uid = str((manifest.get("metadata") or {}).get("uid", ""))
        before = self._seen.get(uid)
        if before is None and now.ours:
            self._remember(uid, Marks("", now.ours))
        known = before or Marks("", now.ours)
        if not now.all or now.all == known.all:
            return None
        return ObjectDoubt(now.all, now.ours != known.ours)

    def forget(self, manifest: Json) -> None:
        self._seen.pop(str((manifest.get("metadata") or {}).get("uid", "")), None)

    def _remember(self, uid: str, seen: Marks) -> None:
        self._seen[uid] = seen
        while len(self._seen) > _MOST:
            del self._seen[next(iter(self._seen))]

    async def __call__(self, call: Call) -> Outcome:
        cluster = self._clusters.get(call.cluster)
        if cluster is None:
            return Outcome(call, False, "", f"{call.cluster} is no member of this fleet now")
        try:
            if call.verb == COMPARE:
                return Outcome(call, True, body=await self._compare(call))
            return Outcome(call, True, body=await self._look(cluster, call))
        except Unreachable as error:
            return Outcome(call, False, "", str(error))
        except ClusterRefused as error:
            return Outcome(call, False, error.code, error.text)

    async def _compare(self, call: Call) -> tuple[Edit, ...]:
        asked: Compare = call.body
        manifest = await manifest_of(self._bus, asked.manifest)
        if manifest is None:
            return ()
        terms = Terms(tokens=asked.tokens, batch=asked.batch)
        applied = member_copy(manifest, call.job, call.attempt, terms=terms)
        kind = KINDS[f"{applied['kind']}.{applied['apiVersion']}"]
        applied, _ = kind.in_member(applied, anchor_name(call.job, call.attempt))
        path = kind.suspend_path
        if path:  # what starts at once is not suspended, though it may not say so
            reach(applied, path[:-1]).setdefault(path[-1], False)
        found = edits(applied, asked.live, asked.doubt.lost)
        if not found:
            now = marks(asked.live)
            self._remember(asked.live["metadata"]["uid"], Marks(asked.doubt.mark, now.ours))
        return found

    async def _look(self, cluster: Cluster, call: Call) -> str:
        """An object that only lost its labels gets them back: by them it and its pods are found."""
        asked: ObjectLook = call.body
        found = await cluster.get(asked.kind, asked.namespace, asked.name)
        if found is None:
            return GONE
        meta = found["metadata"]
        labels = object_labels(KINDS[asked.kind], call.job, call.attempt)
        if meta.get("deletionTimestamp") or (asked.uid and meta["uid"] != asked.uid):
            return GONE
        if not asked.uid and not of_attempt(self._key, (call.cluster, asked.kind), found, (call.job, call.attempt)):
            return GONE
        if labels.items() <= (meta.get("labels") or {}).items():
            return THERE
        body = {"metadata": {"uid": meta["uid"], "labels": labels}}
        there = await cluster.patch(asked.kind, asked.namespace, asked.name, body)
        return STRIPPED if there else GONE
