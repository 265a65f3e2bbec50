"""The kubelets of a simulated cluster: bound pods start, run for their time, end; lost nodes take theirs
along."""

import asyncio
from collections.abc import Callable

import msgspec

from fairway.lab.kubesim.api.api import ClusterApi
from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.api.metadata import rfc3339
from fairway.lab.kubesim.api.store import Event, Key
from fairway.lab.kubesim.pod_behaviour import RunSpec, of_pod

_ENDED = ("Succeeded", "Failed")

Change = Callable[[Json, str], Json]  # a pod and the time, to the fields of its status that are new
Step = Callable[[Key], None]


class _Running(msgspec.Struct):
    """A bound pod. `since` is the loop's time at which its run began to count, 0 before; `asked` the one at which it
    was asked to stop."""

    spec: RunSpec
    timer: asyncio.TimerHandle | None = None
    up: bool = False
    since: float = 0.0
    asked: float = 0.0
    restarts: int = 0


class Kubelet:
    def __init__(self, api: ClusterApi, cluster: str, default_run_ms: int) -> None:
        self._api = api
        self._cluster = cluster
        self._default_run_ms = default_run_ms
        self._pods: dict[Key, _Running] = {}
        self._groups: dict[str, dict[Key, None]] = {}
        api.store.listen("pods", self._pod_changed)

    def _pod_changed(self, event: Event) -> None:
        key = event.new.key
        obj = event.new.obj
        if event.type == "DELETED" or obj["status"].get("phase") in _ENDED:
            self._forget(key)
            if key in self._api.graceful:  # what has ended does not take its time to stop, whenever it is deleted
                asyncio.get_running_loop().call_soon(self._api.removed_by_kubelet, key)
        elif obj["metadata"].get("deletionTimestamp") and key in self._pods and key in self._api.graceful:
            self._stop(key, obj["metadata"].get("deletionGracePeriodSeconds", 0))
        elif obj["spec"].get("nodeName") and key not in self._pods:
            self._admit(key, obj)
        elif key in self._pods and event.old:
            before = event.old.obj["metadata"].get("annotations")
            if before != obj["metadata"].get("annotations"):
                self._changed(key, obj)

    def _admit(self, key: Key, obj: Json) -> None:
        spec = of_pod(obj, self._cluster, self._default_run_ms)
        running = self._pods[key] = _Running(spec)
        if spec.stop_ms:
            self._api.graceful.add(key)
        if spec.starts:
            self._after(running, spec.start_ms, key, self._start)

    def _stop(self, key: Key, grace_s: int) -> None:
        """It has what it needs to stop, and its grace at most, from when it was first asked to."""
        running = self._pods[key]
        now = asyncio.get_running_loop().time()
        running.asked = running.asked or now
        left = min(running.spec.stop_ms, grace_s * 1000) - (now - running.asked) * 1000
        self._after(running, max(0, left), key, self._api.removed_by_kubelet)

    def _after(self, running: _Running, ms: float, key: Key, then: Step) -> None:
        if running.timer:
            running.timer.cancel()
        running.timer = asyncio.get_running_loop().call_later(ms / 1000, then, key)

    def _forget(self, key: Key) -> None:
        running = self._pods.pop(key, None)
        if running:
            if running.timer:
                running.timer.cancel()
            group = self._groups.get(running.spec.group)
            if group:
                group.pop(key, None)
                if not group:
                    del self._groups[running.spec.group]

    def _start(self, key: Key) -> None:
        running = self._pods.get(key)
        if not running or not self._write(key, _started):
            return
        running.up = True
        spec = running.spec
        if not spec.group:
            self._count(key)
            return
        group = self._groups.setdefault(spec.group, {})
        group[key] = None
        if len(group) >= spec.group_size:
            for member in tuple(group):
                if not self._pods[member].since:
                    self._count(member)

    def _count(self, key: Key) -> None:
        running = self._pods[key]
        running.since = running.since or asyncio.get_running_loop().time()
        if running.spec.run_ms is not None:
            passed = (asyncio.get_running_loop().time() - running.since) * 1000
            self._after(running, max(0, running.spec.run_ms - passed), key, self._finish)

    def _changed(self, key: Key, obj: Json) -> None:
        """Annotations of a running pod were edited: they count from now on."""
        running = self._pods[key]
        running.spec = of_pod(obj, self._cluster, self._default_run_ms)
        if running.up and (running.since or running.spec.run_ms == 0):
            self._count(key)

    def _finish(self, key: Key) -> None:
        running = self._pods.get(key)
        stored = self._api.store.get(key)
        if not running or not stored:
            return
        code = running.spec.exit_code
        reason = running.spec.reason
        policy = stored.obj["spec"].get("restartPolicy", "Always")
        if policy == "Always" or (policy == "OnFailure" and code):
            self._restart(key, running, code, reason)
        else:
            self.end(key, code, reason)

    def _restart(self, key: Key, running: _Running, code: int, reason: str) -> None:
        """The container starts again in place; its pod stays Running."""
        running.restarts += 1
        running.since = 0.0
        restarts = running.restarts
        self._write(key, lambda obj, now: _restarted(obj, now, restarts, (code, reason)))
        if key in self._pods:
            self._count(key)

    def end(self, key: Key, code: int, reason: str = "", pod_reason: str = "") -> None:
        """The pod is over: Succeeded when `code` is 0. Its group hears of it."""
        running = self._pods.get(key)
        group = tuple(self._groups.get(running.spec.group, ())) if running else ()
        if not self._write(key, lambda obj, now: _over(obj, now, (code, reason), pod_reason)) or not running:
            return
        if code == 0 and running.spec.leader:
            self._end_peers(group, 0, "")
        elif code and not pod_reason and running.spec.breaks:
            self._end_peers(group, 1, "PeerFailed")

    def _end_peers(self, group: tuple[Key, ...], code: int, reason: str) -> None:
        """Pods that work together end together: with their leader, or broken by the first that fails for
        good."""
        for key in group:
            if key in self._pods and not self._pods[key].spec.server:
                self._write(key, lambda obj, now: _over(obj, now, (code, reason), ""))

    def _write(self, key: Key, change: Change) -> bool:
        stored = self._api.store.get(key)
        if not stored or stored.obj["status"].get("phase") in _ENDED:
            return False
        status = change(stored.obj, rfc3339(self._api.clock.now()))
        obj = {
            **stored.obj,
            "metadata": dict(stored.obj["metadata"]),
            "status": {**stored.obj["status"], **status},
        }
        self._api.store.put(key, obj)
        return True


def _containers(obj: Json, state: Json, ready: bool, restarts: int = 0) -> list[Json]:
    former = {one["name"]: one.get("restartCount", 0) for one in obj["status"].get("containerStatuses") or ()}
    return [
        {
            "name": container.get("name", ""),
            "image": container.get("image", ""),
            "imageID": "",
            "ready": ready,
            "started": ready,
            "restartCount": restarts or former.get(container.get("name", ""), 0),
            "state": state,
        }
        for container in obj["spec"].get("containers") or ()
    ]


def _conditions(obj: Json, ready: bool, reason: str = "") -> list[Json]:
    kept = [one for one in obj["status"].get("conditions", ()) if one["type"] == "PodScheduled"]
    value = "True" if ready else "False"
    added: list[Json] = [{"type": "Initialized", "status": "True"}]
    for kind in ("Ready", "ContainersReady"):
        added.append({"type": kind, "status": value, **({"reason": reason} if reason else {})})
    return [*added, *kept]


def _started(obj: Json, now: str) -> Json:
    # One address per uid: readable, and free of a counter that would differ between runs.
    octets = bytes.fromhex(obj["metadata"]["uid"][:4])
    return {
        "phase": "Running",
        "startTime": now,
        "podIP": f"10.128.{octets[0]}.{octets[1]}",
        "conditions": _conditions(obj, ready=True),
        "containerStatuses": _containers(obj, {"running": {"startedAt": now}}, ready=True),
    }


def _ended_state(obj: Json, now: str, code: int, reason: str) -> Json:
    began = obj["status"].get("startTime", now)
    reason = reason or ("Error" if code else "Completed")
    return {"terminated": {"exitCode": code, "reason": reason, "startedAt": began, "finishedAt": now}}


def _over(obj: Json, now: str, result: tuple[int, str], pod_reason: str) -> Json:
    code, reason = result
    state = _ended_state(obj, now, code, reason)
    status: Json = {
        "phase": "Failed" if code else "Succeeded",
        "conditions": _conditions(obj, ready=False, reason="PodFailed" if code else "PodCompleted"),
        "containerStatuses": _containers(obj, state, ready=False),
    }
    if pod_reason:
        status["reason"] = pod_reason
        status["message"] = reason
    return status


def _restarted(obj: Json, now: str, restarts: int, result: tuple[int, str]) -> Json:
    state = _ended_state(obj, now, *result)
    statuses = _containers(obj, {"running": {"startedAt": now}}, ready=True, restarts=restarts)
    return {"containerStatuses": [{**one, "lastState": state} for one in statuses]}
