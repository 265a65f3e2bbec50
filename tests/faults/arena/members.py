"""What really ran in the members, seen in their own stores in the order in which it happened."""

from collections.abc import Iterator
from typing import Any

from fairway.lab.kubesim.api.store import Event
from fairway.lab.kubesim.clusters import SimCluster

JOB = "fairway.io/job"
ATTEMPT = "fairway.io/attempt"
Attempt = tuple[str, int]


class Members:
    """`twice` and `overlapping` are sentences on what must not happen."""

    def __init__(self) -> None:
        self.twice: list[str] = []
        self.overlapping: list[str] = []
        self.started: set[Attempt] = set()
        self.ended_well: set[Attempt] = set()
        self._objects: dict[Attempt, str] = {}
        self._there: dict[str, Attempt] = {}
        self._restored: set[Attempt] = set()
        self._running: dict[str, dict[int, set[str]]] = {}
        self._done: dict[str, int] = {}

    def follow(self, cluster: SimCluster) -> None:
        cluster.api.store.listen("", lambda event: self._changed(cluster.name, event))

    def running(self, cluster: str = "") -> int:
        """Pods that run now, in one cluster or in all."""
        return sum(1 for pod in self._pods() if pod.startswith(cluster))

    def on(self, cluster: str) -> set[Attempt]:
        """The attempts of which pods run there now."""
        return {
            (job, attempt)
            for job, attempts in self._running.items()
            for attempt, pods in attempts.items()
            if any(pod.startswith(f"{cluster}/") for pod in pods)
        }

    def forget(self, key: Attempt) -> None:
        """Its object was removed before anybody could see what had become of it: it may run again."""
        self._objects.pop(key, None)
        self._done.pop(key[0], None)

    def restored(self, key: Attempt) -> None:
        """Somebody puts its object back where it was: it is nobody's fault if it runs."""
        self._restored.add(key)

    def left(self) -> Iterator[tuple[Attempt, str]]:
        """The objects that are there now, and the attempts that they are of."""
        for what, key in self._there.items():
            yield key, what

    def _pods(self) -> Iterator[str]:
        for attempts in self._running.values():
            for pods in attempts.values():
                yield from pods

    def _changed(self, cluster: str, event: Event) -> None:
        obj = event.new.obj
        labels = obj["metadata"].get("labels") or {}
        if not labels.get(JOB) or not labels.get(ATTEMPT):
            return
        key = (str(labels[JOB]), int(labels[ATTEMPT]))
        if obj["kind"] == "Pod":
            self._pod(cluster, key, event.type == "DELETED", obj)
        elif not obj["metadata"].get("ownerReferences"):
            self._object(event.type, key, f"{obj['kind']} {obj['metadata']['uid']} in {cluster}")

    def _object(self, change: str, key: Attempt, what: str) -> None:
        if change == "DELETED":
            self._there.pop(what, None)
        elif change == "ADDED":
            self._there[what] = key
            self._made(key, what)

    def _made(self, key: Attempt, what: str) -> None:
        before = self._objects.setdefault(key, what)
        if before != what:
            self.twice.append(f"attempt {key[1]} of {key[0]} was made as {before}, and again as {what}")

    def _pod(self, cluster: str, key: Attempt, gone: bool, pod: dict[str, Any]) -> None:
        job, attempt = key
        name = f"{cluster}/{pod['metadata']['uid']}"
        phase = pod["status"].get("phase")
        here = self._running.setdefault(job, {})
        if gone or phase in ("Succeeded", "Failed"):
            here.get(attempt, set()).discard(name)
            if phase == "Succeeded":
                self._done[job] = attempt
                self.ended_well.add(key)
        elif phase == "Running" and name not in here.setdefault(attempt, set()):
            self.started.add(key)
            here[attempt].add(name)
            self._judge(cluster, key)

    def _judge(self, cluster: str, key: Attempt) -> None:
        """A pod of this attempt runs there from now on."""
        job, attempt = key
        if key in self._restored:
            return
        others = sorted(other for other, pods in self._running[job].items() if other != attempt and pods)
        if others := [other for other in others if (job, other) not in self._restored]:
            self.overlapping.append(f"attempt {attempt} of {job} runs in {cluster} while attempt {others[0]} does")
        if self._done.get(job, attempt) != attempt:
            self.twice.append(f"attempt {attempt} of {job} runs after attempt {self._done[job]} succeeded")
