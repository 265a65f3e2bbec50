"""A member cluster with all that happens to it beside Fairway's doing: strangers' pods, nodes that fall silent, hands.

It is the truth about what runs; the witness hears of every gang that starts, and of its end.
"""

import asyncio
from typing import Any

from fairway.lab.kubesim.api import field_managers
from fairway.lab.kubesim.api.store import Key, StoredObject
from fairway.lab.simulation.members import pods
from fairway.lab.simulation.members.controllers import AT_ONCE, Controlled, attempt_of, kind_of
from fairway.lab.simulation.members.pods import NODE, POD, WantedPod
from fairway.workloads.member_copy import ATTEMPT_LABEL, JOB_LABEL

Json = dict[str, Any]
# Where those are at home who make objects with other people's labels.
HOSTILE = "evil"
# What becomes of the labels by which Fairway knows an object; None: it is taken off.
_STRIPS: tuple[dict[str, str | None], ...] = (
    {JOB_LABEL: None, ATTEMPT_LABEL: None},
    {JOB_LABEL: None},
    {ATTEMPT_LABEL: None},
    {ATTEMPT_LABEL: "77"},
    {JOB_LABEL: "nobody"},
)


class SimulatedMember(Controlled):
    """Its people do as they please."""

    _strangers = 0

    def stranger(self, gpus: int, seconds: float) -> None:
        """A pod that is not Fairway's, for a while."""
        self._strangers += 1
        made = self.put(POD, pods.pod("others", f"stranger-{self._strangers}", WantedPod("pod", 1, gpus, {})))
        self._bind()
        asyncio.get_running_loop().call_later(seconds, self.leave, made.key)

    def leave(self, key: Key) -> None:
        """A pod that nobody of ours owns goes."""
        if found := self.api.store.get(key):
            self._delete(found, AT_ONCE)
            self._bind()

    def silence(self, node: str, ready: bool) -> None:
        """The kubelet of a node is no longer heard of, or is again."""
        found = self.api.get(self.resource(NODE), "", node)
        self._rewrite(found, status={**found.obj["status"], "conditions": [pods.ready(ready)]})
        if ready:
            self._bind()

    def evict(self, node: str) -> None:
        """What was on a node is taken away, as the node lifecycle does after some minutes."""
        for one in self.every(POD):
            if one.obj["spec"].get("nodeName") == node:
                self._delete(one, AT_ONCE)
        self._bind()

    def edit(self, found: StoredObject) -> None:
        """Somebody writes to its spec."""
        self._by_hand(found, {"spec": pods.edited(kind_of(found), found.copy()["spec"])})

    def strip(self, found: StoredObject) -> None:
        """Somebody takes labels off, or changes them; who follows these is told that it is gone."""
        how = self._rng.choice(_STRIPS)
        metadata = found.obj["metadata"]
        labels = {name: value for name, value in {**metadata["labels"], **how}.items() if value is not None}
        self._by_hand(found, {"metadata": {**metadata, "labels": labels}})

    def _by_hand(self, found: StoredObject, change: Json) -> None:
        body = field_managers.rewritten("kubectl-edit", found.obj, {**found.obj, **change}, self.api.clock.now())
        self.api.update(self.resource(kind_of(found)), found, body)

    def attempts(self) -> set[str]:
        """`<job>/<attempt>` of every pod of ours that is on a node."""
        here = [one.obj for one in self.every(POD) if one.key.namespace != HOSTILE]
        bound = [one for one in here if one["spec"].get("nodeName")]
        return {"{}/{}".format(*attempt_of(one)) for one in bound if one["status"]["phase"] in ("Pending", "Running")}

    def held(self) -> list[Key]:
        """All that is there."""
        store = self.api.store
        return [one.key for storage in sorted(store.storages()) for one in store.shelf(storage)]

    def ours(self) -> list[StoredObject]:
        made = (one for kind in pods.RUN for one in self.every(kind) if self.whose(one)[0])
        return sorted(made, key=lambda one: one.key)

    def intrude(self, name: str, labels: dict[str, str], gpus: int) -> Key:
        """With a pod that carries these labels, and takes room like any other."""
        made = self.put(POD, pods.pod(HOSTILE, name, WantedPod("pod", 1, gpus, labels)))
        self._bind()
        return made.key

    def withdraw(self, found: StoredObject) -> None:
        if self.there(found):
            self._delete(found, AT_ONCE)
