"""A member with Koordinator and the Spark operator, played: nodes whose batch resources follow online use, pods of
Spark that get nodes, work, are suppressed and evicted, and applications that end when their work is done.

Pods go to the nodes that Fairway planned if there is still room by what these list, else to the one with most left,
else they wait. Online pods and Spark's pods are only counted; the objects are those that Fairway sees.
"""

import asyncio
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from fairway.domain.batch_resources import PROFILE, PROFILE_KIND
from fairway.domain.resources import BATCH_CPU, BATCH_MEMORY, parse_quantity
from fairway.lab.bench.idle.application import DRIVER, EXECUTOR, Application, LostTime, SparkPod
from fairway.lab.bench.idle.jobs import DAY_S, SPARK, WORK
from fairway.lab.bench.idle.koordinator import CpuMemory
from fairway.lab.bench.idle.node import IdleNode, NodeTotals
from fairway.lab.kubesim import colocation
from fairway.lab.kubesim.__main__ import ClusterConfig
from fairway.lab.simulation.members import pods
from fairway.lab.simulation.members.controllers import attempt_of
from fairway.lab.traces.virtual.member import SHOWN_S, TraceMember
from fairway.runtime.cluster_port import Change
from fairway.wire.capacity import Slot

Json = dict[str, Any]
_Place = tuple[str, str, str]
_MINUTE_S = 60.0


class SparkMember(TraceMember):
    """`lost` and `totals` count what comes of it."""

    def __init__(
        self,
        config: ClusterConfig,
        planned: Callable[[str, int], Sequence[Slot]],
        nodes: Sequence[IdleNode],
        stage: float,
    ) -> None:
        super().__init__(config, planned)
        self.lost = LostTime()
        self.totals = NodeTotals()
        self._on = {node.name: node for node in nodes}
        self._nodes = {name: node.manifest() for name, node in self._on.items()}
        self._stage = stage
        self._apps: dict[_Place, Application] = {}
        self._timers: dict[_Place, asyncio.TimerHandle] = {}

    async def served(self) -> tuple[str, ...]:
        return (SPARK,)

    async def get(self, kind: str, namespace: str, name: str) -> Json | None:
        if (kind, name) == (PROFILE_KIND, PROFILE):
            return colocation.PROFILE
        return await super().get(kind, namespace, name)

    async def live(self, start: float) -> None:
        """Minute by minute, from `start` on."""
        loop = asyncio.get_running_loop()
        for minute in count(0):
            await asyncio.sleep(max(0.0, start + minute * _MINUTE_S - loop.time()))
            self._pass_to(minute)

    def _pass_to(self, minute: int) -> None:
        now = _now()
        for app in self._apps.values():
            app.settle(now)
        for node in self._on.values():
            if node.pass_to(minute, now):
                self._nodes[node.name] = node.manifest()
                self._tell(Change(pods.NODE, "", node.name, self._nodes[node.name]))
            self._suppress(node)
            for key in node.to_evict():
                self._evict(node, key)
        for place in list(self._apps):
            self._bind_pending(place)
        for node in self._on.values():
            self._suppress(node)
            if minute * _MINUTE_S < DAY_S:
                node.count(self.totals, _MINUTE_S)
        for place in self._apps:
            self._wait_for_end(place)

    def _suppress(self, node: IdleNode) -> None:
        speed = node.suppress()
        for pod in node.pods.values():
            pod.speed = speed

    def _evict(self, node: IdleNode, key: str) -> None:
        """One that went with its driver meanwhile is not evicted again."""
        if key not in node.pods:
            return
        place, name = self._whose(key)
        app = self._apps[place]
        for pod in app.evict(name, _now(), self.lost):
            self._gone(place, pod)
        self._show(place, app.status())

    def _whose(self, key: str) -> tuple[_Place, str]:
        namespace, job, name = key.split("/")
        return (SPARK, namespace, job), name

    def _bound(self, made: Json) -> dict[str, Json]:
        """Those of its pods that get a node at once."""
        place = (SPARK, made["metadata"]["namespace"], made["metadata"]["name"])
        uses = {role: _use(made, role) for role in (DRIVER, EXECUTOR)}
        executors = int(made["spec"]["executor"]["instances"])
        work = float(made["metadata"]["annotations"][WORK])
        uid = made["metadata"]["uid"]
        app = Application(uid, work, executors, uses, [DRIVER, *[EXECUTOR] * executors], _now(), stage=self._stage)
        self._apps[place] = app
        self._pods[place] = {}
        slots = sorted(self._planned(*attempt_of(made)), key=lambda slot: slot.pods)
        for slot in slots:
            for _ in range(slot.count):
                starts = slot.pods == DRIVER or app.driver is not None
                if starts and self._on[slot.node].fits(uses[slot.pods]):
                    self._bind(place, slot.pods, self._on[slot.node], made)
        self._bind_all(place, made)
        return self._pods[place]

    def _bind_pending(self, place: _Place) -> None:
        app = self._apps[place]
        before = len(app.pending)
        known = set(self._pods[place])
        self._bind_all(place, self._objects[place])
        for name, pod in self._pods[place].items():
            if name not in known:
                self._tell(Change(pods.POD, place[1], name, pod))
        if len(app.pending) != before:
            self._show(place, app.status())

    def _bind_all(self, place: _Place, made: Json) -> None:
        """The driver first: it asks for its executors when it is up."""
        app = self._apps[place]
        for role in list(app.pending):
            node = self._roomiest(app.uses[role])
            if node is None or (role == EXECUTOR and app.driver is None):
                return
            self._bind(place, role, node, made)

    def _roomiest(self, use: CpuMemory) -> IdleNode | None:
        fitting = [node for node in self._on.values() if node.fits(use)]
        return max(fitting, key=lambda node: node.free.cpu, default=None)

    def _bind(self, place: _Place, role: str, node: IdleNode, made: Json) -> None:
        pod = self._apps[place].bind(role, node.name, _now())
        pod.speed = node.satisfied
        node.put(_key(place, pod), pod)
        self._pods[place][f"{place[2]}-{pod.name}"] = _pod_object(made, pod)

    def _begin(self, place: _Place, uid: str) -> None:
        app = self._apps.get(place)
        if app is not None and app.uid == uid:
            self._show(place, app.status())
            self._wait_for_end(place)

    def _wait_for_end(self, place: _Place) -> None:
        app = self._apps[place]
        app.settle(_now())
        if place in self._timers:
            self._timers.pop(place).cancel()
        # Whatever changes its speed happens with a minute, and then it is reckoned anew.
        if (left := app.left()) <= _MINUTE_S:
            self._timers[place] = asyncio.get_running_loop().call_later(left, self._end, place, app.uid)

    def _end(self, place: _Place, uid: str) -> None:
        app = self._apps.get(place)
        if app is None or app.uid != uid:
            return
        app.close(_now(), self.lost, well=True)
        self._release(place)
        self._show(place, {"applicationState": {"state": "COMPLETED"}})
        asyncio.get_running_loop().call_later(SHOWN_S, self._remove, place, uid)

    def _release(self, place: _Place) -> None:
        """Its pods are gone, by its end or by a deletion."""
        if app := self._apps.pop(place, None):
            if not app.ended:
                app.close(_now(), self.lost, well=False)
            for pod in app.pods.values():
                self._on[pod.node].drop(_key(place, pod))
        if place in self._timers:
            self._timers.pop(place).cancel()
        super()._release(place)

    def _gone(self, place: _Place, pod: SparkPod) -> None:
        self._on[pod.node].drop(_key(place, pod))
        name = f"{place[2]}-{pod.name}"
        manifest = self._pods[place].pop(name)
        self._tell(Change(pods.POD, place[1], name, manifest, gone=True))


def _now() -> float:
    return asyncio.get_running_loop().time()


def _key(place: _Place, pod: SparkPod) -> str:
    return f"{place[1]}/{place[2]}/{pod.name}"


def _pod_object(made: Json, pod: SparkPod) -> Json:
    """As Koordinator's webhook leaves it."""
    role = made["spec"][pod.role]
    meta = {
        "name": f"{made['metadata']['name']}-{pod.name}",
        "namespace": made["metadata"]["namespace"],
        "labels": dict(role["labels"]),
    }
    resources = {"requests": _requests(role)}
    found: Json = {
        "metadata": meta,
        "spec": {"nodeName": pod.node, "containers": [{"name": "spark", "resources": resources}]},
        "status": {"phase": "Running"},
    }
    colocation.admit(found)
    return found


def _requests(role: Json) -> Json:
    memory = int(role["memory"].removesuffix("m")) + int(role["memoryOverhead"].removesuffix("m"))
    return {"cpu": role["coreRequest"], "memory": f"{memory}Mi"}


def _use(made: Json, role: str) -> CpuMemory:
    pod = _pod_object(made, SparkPod("", role, "", CpuMemory(0, 0), 0.0))
    asked = pod["spec"]["containers"][0]["resources"]["requests"]
    return CpuMemory(*(parse_quantity(name, asked[name]) for name in (BATCH_CPU, BATCH_MEMORY)))
