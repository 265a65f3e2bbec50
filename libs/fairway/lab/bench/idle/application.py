"""A SparkApplication that runs: its driver, its executors, and how much of its work is done. Pure but for its clock.

The work is executor-seconds. An executor that is left with a part of its processors does as much less; what one has
done is lost with it, in part or all of it, and is done once more by others.
"""

from typing import Any

from msgspec import Struct, field

from fairway.lab.bench.idle.koordinator import CpuMemory

Json = dict[str, Any]
DRIVER = "driver"
EXECUTOR = "executor"


class SparkPod(Struct):
    """On a node since `since` (s). `done` are the executor-seconds of work that it has done, at `speed`."""

    name: str
    role: str
    node: str
    use: CpuMemory
    since: float
    done: float = 0.0
    speed: float = 1.0


class LostTime(Struct):
    """Executor-seconds: that there were executors, that were `evicted` with an executor or driver, that ended with an
    attempt which was `taken_back`, and that executors were held up by suppression (`suppressed`). `evictions` of
    pods, of which `drivers` of drivers; in core-seconds what was lost with a pod."""

    ran: float = 0.0
    evicted: float = 0.0
    taken_back: float = 0.0
    suppressed: float = 0.0
    evictions: int = 0
    drivers: int = 0
    core_seconds: float = 0.0

    @property
    def share(self) -> float:
        """Of all executor time."""
        return (self.evicted + self.taken_back + self.suppressed) / self.ran if self.ran else 0.0


class Application(Struct):
    """`uses` are what a pod of each role takes; `pending` the roles of its pods that have no node. `settled` is the
    time up to which its work is counted. With an executor goes what it did in the last `stage` seconds (0: all that it
    did); `kept` are the executor-seconds of work that stayed."""

    uid: str
    work: float
    executors: int
    uses: dict[str, CpuMemory]
    pending: list[str]
    settled: float
    pods: dict[str, SparkPod] = field(default_factory=dict)
    made: int = 0
    ended: bool = False
    stage: float = 0.0
    was_up: bool = False
    kept: float = 0.0

    @property
    def driver(self) -> SparkPod | None:
        return next((pod for pod in self.pods.values() if pod.role == DRIVER), None)

    @property
    def running(self) -> list[SparkPod]:
        return [pod for pod in self.pods.values() if pod.role == EXECUTOR]

    def bind(self, role: str, node: str, now: float) -> SparkPod:
        """One of its pending pods gets a node."""
        self.settle(now)
        self.pending.remove(role)
        self.made += 1
        pod = SparkPod(f"{role}-{self.made}", role, node, self.uses[role], now)
        self.pods[pod.name] = pod
        self.was_up |= role == DRIVER
        return pod

    def settle(self, now: float) -> None:
        """Executors work while there is a driver."""
        if self.driver is not None:
            for pod in self.running:
                pod.done += (now - self.settled) * pod.speed
        self.settled = now

    def left(self) -> float:
        """Seconds until its work is done if nothing changes; infinite while it stands still."""
        speed = sum(pod.speed for pod in self.running) if self.driver is not None else 0.0
        to_do = max(0.0, self.work - self.kept - sum(pod.done for pod in self.running))
        return to_do / speed if speed else float("inf")

    def evict(self, name: str, now: float, lost: LostTime) -> list[SparkPod]:
        """The pods that go: with a driver all of its executors and all that was done. The operator makes others."""
        self.settle(now)
        pod = self.pods.pop(name)
        lost.evictions += 1
        if pod.role == EXECUTOR:
            self._lose(pod, now, lost)
            self.pending.append(EXECUTOR)
            return [pod]
        lost.drivers += 1
        gone = [pod, *self.pods.values()]
        lost.evicted += self._lose_all(now, lost)
        self.pods = {}
        self.pending = [DRIVER, *[EXECUTOR] * self.executors]
        return gone

    def _lose(self, pod: SparkPod, now: float, lost: LostTime) -> None:
        there = now - pod.since
        part = min(1.0, self.stage / there) if self.stage and there else 1.0
        self.kept += pod.done * (1 - part)
        lost.ran += there
        lost.evicted += there * part
        lost.core_seconds += pod.done * part * pod.use.cpu / 1000

    def _lose_all(self, now: float, lost: LostTime) -> float:
        """The executor-seconds that were for nothing."""
        there = sum(now - pod.since for pod in self.running)
        done = self.kept + sum(pod.done for pod in self.running)
        lost.ran += there
        lost.core_seconds += done * self.uses[EXECUTOR].cpu / 1000
        gone = there + self.kept
        self.kept = 0.0
        return gone

    def close(self, now: float, lost: LostTime, well: bool) -> None:
        """Its pods go: its work is done, or it was taken back."""
        self.settle(now)
        self.ended = True
        if not well:
            lost.taken_back += self._lose_all(now, lost)
            return
        for pod in self.running:
            lost.ran += now - pod.since
            lost.suppressed += now - pod.since - pod.done

    def status(self) -> Json:
        """As its operator shows it."""
        if self.driver is None:
            return {"applicationState": {"state": "PENDING_RERUN" if self.was_up else "SUBMITTED"}}
        states = {pod.name: "RUNNING" for pod in self.running}
        waiting = {f"pending-{at}": "PENDING" for at in range(len(self.pending))}
        return {"applicationState": {"state": "RUNNING"}, "executorState": {**states, **waiting}}
