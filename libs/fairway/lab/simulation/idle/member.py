"""A member whose nodes list batch resources, too, with online pods beside those of jobs, and an operator of Spark.

Koordinator's koordlet is played here as far as it takes pods away: whoever follows the figures says when.
"""

import asyncio
import math
from collections.abc import Container
from random import Random
from typing import Any

from fairway.domain.batch_resources import PROFILE_KIND
from fairway.domain.resources import BATCH_CPU, BATCH_MEMORY, add
from fairway.lab.kubesim.api.store import StoredObject
from fairway.lab.kubesim.colocation import PROFILE
from fairway.lab.simulation.members import pods, spark
from fairway.lab.simulation.members.controllers import AT_ONCE, Fate, attempt_of, kind_of
from fairway.lab.simulation.members.member import SimulatedMember
from fairway.lab.simulation.members.pods import NODE, POD, WantedPod
from fairway.lab.simulation.members.spark import DRIVER, EXECUTOR, SPARK
from fairway.workloads.member_copy import JOB_LABEL

Json = dict[str, Any]
# Where online pods are at home.
ONLINE = "online"
# What a node lists when none of its online pods does anything: of 64 cores and 512 GiB.
MOST_CPU = 40_000
MOST_GIB = 256
# What an online pod asks for: of these eight fit a node.
_ONLINE = {"cpu": "8", "memory": "32Gi"}
# How often a driver that is taken away is the end of its application; else it is run again.
_DRIVER_ENDS = 0.3


class IdleMember(SimulatedMember):
    """`short` has by job and attempt when its object showed that it lacks what it cannot go on without: since when and
    until when (ms; infinite: still so); `up_at` when it was up first; `touched` are those that somebody wrote to, whose
    labels may be gone, so that nobody sees how they stand."""

    _online = 0

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.short: dict[tuple[str, int], list[tuple[float, float]]] = {}
        self.up_at: dict[tuple[str, int], int] = {}
        self.touched: set[tuple[str, int]] = set()
        self.put(PROFILE_KIND, PROFILE)
        for node in self.every(NODE):
            self.list_batch(node.key.name, 100)

    # The nodes.

    def list_batch(self, name: str, percent: int) -> None:
        """The node lists so much as batch resources from now on."""
        found = self.api.get(self.resource(NODE), "", name)
        batch = {BATCH_CPU: str(MOST_CPU * percent // 100), BATCH_MEMORY: f"{MOST_GIB * 1024 * percent // 100}Mi"}
        status = found.obj["status"]
        if not batch.items() <= status["allocatable"].items():
            self._rewrite(found, status={**status, "allocatable": {**status["allocatable"], **batch}})
            self._bind()

    def taken(self, node: str) -> int:
        """Batch cpu of pods on a node."""
        return sum(pods.asked(one.obj)[BATCH_CPU] for one in self._batch_pods(node))

    def _batch_pods(self, node: str) -> list[StoredObject]:
        here = (one for one in self.every(POD) if one.obj["spec"].get("nodeName") == node and _goes_on(one))
        return [one for one in here if BATCH_CPU in pods.asked(one.obj)]

    def shed(self, node: str, most: int, rng: Random) -> int:
        """Batch pods of a node are evicted until the rest takes no more than this of its cpu; how many."""
        there = self._batch_pods(node)
        rng.shuffle(there)
        gone = 0
        while there and sum(pods.asked(one.obj)[BATCH_CPU] for one in there) > most:
            self._delete(there.pop(), AT_ONCE)
            gone += 1
        if gone:
            self._bind()
        return gone

    # Online pods.

    def online(self, seconds: float) -> None:
        """One more, for a while."""
        self._online += 1
        made = self.put(POD, pods.pod(ONLINE, f"online-{self._online}", WantedPod("pod", 1, 0, {}, _ONLINE)))
        self._bind()
        asyncio.get_running_loop().call_later(seconds, self.leave, made.key)

    def online_on(self, node: str) -> int:
        return sum(one.obj["spec"].get("nodeName") == node for one in self._online_pods())

    def _online_pods(self) -> list[StoredObject]:
        return [one for one in self.every(POD) if one.key.namespace == ONLINE]

    def kept_out(self, normal: Container[str]) -> list[str]:
        """Online pods that are on no node, though there is one that has room for them beside other online pods, and
        beside those of the jobs that may have cpu and memory."""
        online = self._online_pods()
        waits = [one for one in online if not one.obj["spec"].get("nodeName")]
        if not waits:
            return []
        ready = self.free().keys()
        free = {one.key.name: pods.allocatable(one.obj) for one in self.every(NODE) if one.key.name in ready}
        for one in self.every(POD):
            job = (one.obj["metadata"].get("labels") or {}).get(JOB_LABEL, "")
            if one.key.namespace != ONLINE and job not in normal:
                continue
            if (node := one.obj["spec"].get("nodeName")) in free:
                free[node] = add(free[node], pods.asked(one.obj), -1)
        asks = ("cpu", "memory")
        return [
            one.key.name
            for one in waits
            if any(all(left[name] >= pods.asked(one.obj)[name] for name in asks) for left in free.values())
        ]

    # The operator of Spark.

    async def _act(self, made: StoredObject) -> None:
        self._note(made, lacks=True)
        if kind_of(made) != SPARK:
            await super()._act(made)
            return
        fate = self.fate(*attempt_of(made.obj))
        ends: float | None = None
        shown: tuple[int, int] | None = None
        while self.there(made):
            self._make_pods(made, fate)
            up = self._up(made)
            if up != shown:
                if shown is None or up > shown:
                    await asyncio.sleep(fate.up_s)
                    if self._up(made) != up or not self.there(made):
                        continue
                if shown is not None and not up[0] and self._driver_lost(made):
                    return
                shown = up
                ends = self._show_spark(made, up, fate, ends)
            try:
                await self._changes(made, up, ends)
            except TimeoutError:
                self._end(made, fate)
                return

    async def _changes(self, made: StoredObject, up: tuple[int, int], ends: float | None) -> None:
        """Returns when others of its pods are on nodes. TimeoutError when its work is done before."""
        async with asyncio.timeout_at(ends):
            await self.until(lambda: not self.there(made) or self._up(made) != up)

    def _up(self, made: StoredObject) -> tuple[int, int]:
        """How many drivers and executors are on nodes."""
        bound = [one.key.name for one in self._pods_of(made) if one.obj["spec"].get("nodeName")]
        driver, executors = (sum(f"-{role}-" in name for name in bound) for role in (DRIVER, EXECUTOR))
        return driver, executors

    def _driver_lost(self, made: StoredObject) -> bool:
        """Its executors go with it; whether that is the end."""
        if self._rng.random() < _DRIVER_ENDS:
            self._end(made, Fate(end="failed"))
            return True
        for one in self._pods_of(made):
            self._delete(one, AT_ONCE)
        return False

    def _show_spark(self, made: StoredObject, up: tuple[int, int], fate: Fate, ends: float | None) -> float | None:
        """When its work is done, once all of it was up. It counts as started with three quarters of its executors."""
        driver, executors = up
        wanted = sum(one.count for one in pods.wanted(SPARK, made.obj)) - 1
        state = "RUNNING" if driver else "PENDING_RERUN" if ends else "SUBMITTED"
        self._show_pods_up(made)
        self._show(made, spark.status(state, executors, wanted - executors))
        if driver and 4 * (wanted - executors) <= wanted:
            self._heard.started(self.name, *attempt_of(made.obj))
        if ends is None and driver and executors == wanted:
            return asyncio.get_running_loop().time() + fate.run_s
        return ends

    def _show_pods_up(self, made: StoredObject) -> None:
        for one in self._pods_of(made):
            if one.obj["spec"].get("nodeName") and one.obj["status"]["phase"] == "Pending":
                self._rewrite(one, status={"phase": "Running"})

    # What it showed.

    def _by_hand(self, found: StoredObject, change: Json) -> None:
        self.touched.add(self.whose(found))
        super()._by_hand(found, change)

    def _show(self, made: StoredObject, status: Json) -> None:
        super()._show(made, status)
        self._note(made, _lacks(kind_of(made), made.obj, status))

    def remove(self, found: StoredObject) -> None:
        """What is gone lacks everything."""
        super().remove(found)
        self._note(found, lacks=True)

    def _note(self, made: StoredObject, lacks: bool) -> None:
        key = self.whose(made)
        now = self.api.clock.now()
        times = self.short.setdefault(key, [])
        still = bool(times) and times[-1][1] == math.inf
        if lacks and not still:
            times.append((now, math.inf))
        elif not lacks and still:
            times[-1] = (times[-1][0], now)
        if not lacks:
            self.up_at.setdefault(key, now)


def _goes_on(pod: StoredObject) -> bool:
    return pod.obj["status"]["phase"] not in ("Succeeded", "Failed")


def _lacks(kind: str, manifest: Json, status: Json) -> bool:
    """Whether an object that has not ended shows that any pod is missing; of a driver's executors more than a
    quarter."""
    if kind == SPARK:
        states = status["executorState"].values()
        missing = sum(one != "RUNNING" for one in states)
        state = status["applicationState"]["state"]
        return state not in ("COMPLETED", "FAILED") and (state != "RUNNING" or 4 * missing > len(states))
    return status == pods.running(kind, manifest, up=False)
