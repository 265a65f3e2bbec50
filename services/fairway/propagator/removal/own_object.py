"""The object of an attempt in its member: whether what is there is that, and what is written on it once it is to go."""

from typing import Any

from fairway.domain.decision import Call
from fairway.explain.wording import rfc3339
from fairway.propagator.calls import Copy, Notice
from fairway.runtime.cluster_port import Cluster
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.member_copy import EVICT_AT, attempt_labels, object_labels
from fairway.workloads.seal import of_attempt, seal_of

Json = dict[str, Any]


class OwnObjects:
    """`key` is the fleet's."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def is_its(self, cluster: str, copy: Copy, found: Json, attempt: tuple[str, int]) -> bool:
        """Whether this is the object of the attempt: the one that was dispatched, or applied once more."""
        if copy.uid and found["metadata"].get("uid") == copy.uid:
            return True
        if copy.uid and not seal_of(found):
            return False
        return of_attempt(self._key, (cluster, copy.kind), found, attempt)

    async def still_there(self, cluster: Cluster, call: Call) -> bool:
        """Whether the object is there, though it had no labels by which it would have been deleted. It gets them back,
        or has them back from somebody else who removes it."""
        copy: Copy = call.body
        labels = object_labels(KINDS[copy.kind], call.job, call.attempt)
        found = await cluster.get(copy.kind, copy.namespace, copy.name)
        if found is None or not self.is_its(call.cluster, copy, found, (call.job, call.attempt)):
            return False
        if not labels.items() <= (found["metadata"].get("labels") or {}).items():
            body = {"metadata": {"uid": found["metadata"]["uid"], "labels": labels}}
            await cluster.patch(copy.kind, copy.namespace, copy.name, body)
        return True

    async def give_notice(self, cluster: Cluster, call: Call) -> Json | None:
        """Writes on the object and on its pods when it is deleted; the object as it is, None when it is not there."""
        notice: Notice = call.body
        copy = notice.copy
        found = await cluster.get(copy.kind, copy.namespace, copy.name)
        if found is None or not self.is_its(call.cluster, copy, found, (call.job, call.attempt)):
            return None
        notes = {EVICT_AT: rfc3339(notice.at)}
        if not notes.items() <= (found["metadata"].get("annotations") or {}).items():
            body = {"metadata": {"uid": found["metadata"]["uid"], "annotations": notes}}
            await cluster.patch(copy.kind, copy.namespace, copy.name, body)
        await cluster.mark_pods(copy.namespace, attempt_labels(call.job, call.attempt), notes)
        return found
