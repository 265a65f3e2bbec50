"""A member cluster with all that happens to it beside Fairway's doing: strangers' pods, nodes that fall silent, hands.

It is the truth about what runs; the witness hears of every gang that starts, and of its end.
"""

import asyncio

from fairway.adapters.memory.cluster import Json, Key
from fairway.lab.simulation.members import field_managers, pods
from fairway.lab.simulation.members.controllers import Controlled, attempt_of
from fairway.lab.simulation.members.pods import GPU, NODE, POD, WantedPod
from fairway.workloads.member_copy import JOB_LABEL

# Where those are at home who make objects with other people's labels.
HOSTILE = "evil"


class SimulatedMember(Controlled):
    """Its people do as they please."""

    _strangers = 0

    def stranger(self, gpus: int, seconds: float) -> None:
        """A pod that is not Fairway's, for a while."""
        self._strangers += 1
        key = (POD, "others", f"stranger-{self._strangers}")
        self._put(key, pods.pod("others", key[2], WantedPod("pod", 1, gpus, {}), ""))
        self._bind()
        asyncio.get_running_loop().call_later(seconds, self._leaves, key)

    def _leaves(self, key: Key) -> None:
        if key in self.objects:
            self._remove(key)
            self._bind()

    def silence(self, node: str, ready: bool) -> None:
        """The kubelet of a node is no longer heard of, or is again."""
        gpus = int(self.objects[NODE, "", node]["status"]["allocatable"][GPU])
        self._put((NODE, "", node), pods.node(node, gpus, ready))
        if ready:
            self._bind()

    def evict(self, node: str) -> None:
        """What was on a node is taken away, as the node lifecycle does after some minutes."""
        for key, one in list(self.objects.items()):
            if key[0] == POD and one["spec"].get("nodeName") == node:
                self._remove(key)
        self._bind()

    def edit(self, key: Key) -> None:
        """Somebody writes to its spec."""
        self._put(key, field_managers.edited(self.objects[key]))

    def strip(self, key: Key) -> None:
        """Somebody takes labels off; who follows these is told that it is gone."""
        how = self._rng.choice(field_managers.STRIPS)
        if JOB_LABEL in how and how[JOB_LABEL] is None:
            self._tell(key, self.objects[key], gone=True)
        self._put(key, field_managers.stripped(self.objects[key], how))

    def attempts(self) -> set[str]:
        """`<job>/<attempt>` of every pod of ours that is on a node."""
        bound = [
            one
            for key, one in self.objects.items()
            if key[0] == POD and key[1] != HOSTILE and one["spec"].get("nodeName")
        ]
        return {"{}/{}".format(*attempt_of(one)) for one in bound if one["status"]["phase"] in ("Pending", "Running")}

    def ours(self) -> list[Key]:
        made = (key for key in self.objects if key[0] in pods.KINDS and self.whose(self.objects[key])[0])
        return sorted(made)

    def put(self, key: Key, manifest: Json) -> None:
        """Somebody makes an object, if there is none of that name."""
        if key not in self.objects:
            self._put(key, manifest)

    def intrude(self, uid: str, labels: dict[str, str], gpus: int) -> None:
        """With a pod that carries these labels, and takes room like any other."""
        name = (POD, HOSTILE, uid)
        self._put(name, pods.pod(HOSTILE, uid, WantedPod("pod", 1, gpus, labels), ""))
        self._bind()

    def withdraw(self, key: Key, uid: str) -> None:
        self._leaves((POD, HOSTILE, uid))
        if self._there(key, uid):
            self._remove(key)
