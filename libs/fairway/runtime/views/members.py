"""The member clusters as they are now: a mapping by name that grows and shrinks, and tells those who follow it.

Whoever does something for every member follows: `follow(start)` runs `start(cluster)` for each while it is a member.
Whoever is asked about one by name looks it up when it is asked.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct

from fairway.domain.tenancy.profile import BASELINE
from fairway.runtime.cluster_port import Cluster
from fairway.wire.capacity import Taint

Reserve = Literal["auto", "reservations", "placeholders", "ledger"]
Start = Callable[[Cluster], Coroutine[Any, Any, None]]


class Facts(Struct, frozen=True, omit_defaults=True):
    """What whoever joined the cluster said of it. `labels` and `taints` are the cluster's own; `reserve` is how room is
    held there (auto, reservations, placeholders or ledger). `mode` pull: an agent beside it reports, and calls go over
    the bus. A `cordoned` cluster gets no new work; of one that is `emptied` the jobs start anew elsewhere. `uid` is
    that of its kube-system namespace: it tells one cluster from another behind the same address. No more than
    `nodes` of it count. `confirmed` is when an operator last confirmed what it has (ms), and `capacity` what its
    nodes had together when an administrator joined or confirmed it (empty: nobody counted, or it had none).
    `max_pod_security`
    is the highest level of Pod Security that Fairway may give a namespace there, and `placeholder_image` the only one
    that pods which hold room may run there (empty: joined before that was said). `batch_class` is the PriorityClass
    that pods on Koordinator's batch resources get there (empty: the join set up nothing for them)."""

    labels: dict[str, str] = {}
    taints: tuple[Taint, ...] = ()
    reserve: Reserve = "auto"
    mode: Literal["push", "pull"] = "push"
    cordoned: bool = False
    emptied: bool = False
    uid: str = ""
    nodes: int = 10_000
    confirmed: int = 0
    capacity: dict[str, int] = {}
    max_pod_security: str = BASELINE
    placeholder_image: str = ""
    batch_class: str = ""


NO_FACTS = Facts()

# What something was started for: when that changes, it ends.
_Mark = tuple[Cluster | None, Facts | None]


class Members(Mapping[str, Cluster]):
    """Written by one task, read and followed by many."""

    def __init__(self, clusters: Mapping[str, Cluster] | None = None) -> None:
        self._clusters: dict[str, Cluster] = dict(clusters or {})
        self._facts: dict[str, Facts] = {}
        self._followers: list[asyncio.Event] = []

    def __getitem__(self, name: str) -> Cluster:
        return self._clusters[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._clusters)

    def __len__(self) -> int:
        return len(self._clusters)

    def facts(self, name: str) -> Facts:
        return self._facts.get(name, NO_FACTS)

    def put(self, cluster: Cluster, facts: Facts = NO_FACTS) -> None:
        """A member, new or in the place of the one of that name."""
        self._clusters[cluster.name] = cluster
        self._facts[cluster.name] = facts
        self._tell()

    def drop(self, name: str) -> Cluster | None:
        """No member any more; what is under way for it ends. The cluster is the caller's to close."""
        self._facts.pop(name, None)
        cluster = self._clusters.pop(name, None)
        self._tell()
        return cluster

    def _tell(self) -> None:
        for news in self._followers:
            news.set()

    async def follow(self, start: Start, facts: bool = False) -> None:
        """Until cancelled: runs `start(cluster)` for every member, and ends it when the member goes or another takes
        its name; with `facts` it is started anew when those change, too. What it raises ends the follower."""
        news = asyncio.Event()
        self._followers.append(news)
        running: dict[str, tuple[_Mark, asyncio.Task[None]]] = {}
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    news.clear()
                    await self._end_former(running, facts)
                    for name, cluster in self._clusters.items():
                        if name not in running:
                            running[name] = (self._mark(name, facts), group.create_task(start(cluster)))
                    await news.wait()
        finally:
            self._followers.remove(news)

    async def _end_former(self, running: dict[str, tuple[_Mark, asyncio.Task[None]]], facts: bool) -> None:
        for name, (mark, task) in list(running.items()):
            if self._mark(name, facts) != mark:
                del running[name]
                task.cancel()
                await asyncio.wait([task])

    def _mark(self, name: str, facts: bool) -> _Mark:
        cluster = self._clusters.get(name)
        return (cluster, self.facts(name) if facts else None)
