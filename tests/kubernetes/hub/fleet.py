"""A fleet whose hub service is a process of its own, so that a test may kill it, and whose member `far` joins late."""

import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil

from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan
from fairway.lab.kubesim.http.identities import MASTERS, Identity
from fairway.process.pipeline import EVERYTHING, HUB
from tests.kubernetes.support.fleet import RealFleet
from tests.kubernetes.support.own import Own
from tests.kubernetes.support.own_hub import define

Json = dict[str, Any]
MEMBER = "near"
LATE = "far"
_REST = tuple(name for name in EVERYTHING if name != HUB)
# Who stands by is ready when it takes over, whenever that is.
_FOR_EVER_S = 3_600.0


class _Services(EmbeddedFleet):
    """NATS, Valkey and the services; the clusters are already there."""

    def __init__(self, dir: Path, own: Own) -> None:
        super().__init__(dir, FleetPlan((), (_REST, (HUB,))))
        self.known = (Identity(own.plane("hub").token, "admin", "admin", (MASTERS,)),)
        self._own = own
        self._standing_by: dict[str, asyncio.Task[Any]] = {}

    def environment(self, process: str = "") -> dict[str, str]:
        # Its tests look without end, all as one caller.
        return {**super().environment(process), "FAIRWAY_HTTP_RATE": "10000"}

    async def _start_clusters(self) -> None:
        self.hub_kubeconfig.write_bytes(self._own.plane("hub").kubeconfig.read_bytes())
        self.write_member(MEMBER)

    def write_member(self, name: str) -> None:
        """From then on it is one."""
        (self.kubeconfigs / f"{name}.json").write_text(json.dumps({"labels": {"region": name}, "reserve": "ledger"}))
        # It is looked at at any moment: whole, or not there.
        half = self.kubeconfigs / f"{name}.half"
        half.write_bytes(self._own.plane(name).kubeconfig.read_bytes())
        os.replace(half, self.kubeconfigs / f"{name}.kubeconfig")

    async def stop(self) -> None:
        await super().stop()
        await asyncio.gather(*self._standing_by.values(), return_exceptions=True)

    async def add(self, name: str) -> None:
        """Another process of the hub service, which is not waited for."""
        self._standing_by[name] = asyncio.create_task(self.start_process((HUB,), name, _FOR_EVER_S))

    async def works(self, name: str) -> bool:
        """Whether it has said that it is ready: one that stands by has not."""
        return self._standing_by[name].done()

    async def take(self, name: str, killed: bool = True) -> None:
        """SIGKILL, or SIGTERM."""
        child = self.processes.pop(name)
        await (child.kill() if killed else child.stop())
        await asyncio.gather(*filter(None, [self._standing_by.pop(name, None)]), return_exceptions=True)


class HubFleet(RealFleet):
    """`near` has two nodes of 8 GPUs and runs what it is given; in `far`, once it has joined, jobs just are."""

    def __init__(self, dir: Path, own: Own, services: _Services) -> None:
        super().__init__(dir)
        self.own = own
        self.members = {name: own.api(name) for name in (MEMBER, LATE)}
        self._services = services

    # ---- the hub service
    def kill_hub(self, name: str = HUB) -> None:
        """SIGKILL; nobody starts it anew."""
        self.own.do(self._services.take(name))

    def start_hub(self) -> None:
        """Returns when it works."""
        self.own.do(self._services.start_process((HUB,)))

    def add_hub(self, name: str) -> None:
        """A second one, which comes up meanwhile."""
        self.own.do(self._services.add(name))

    def end_hub(self, name: str) -> None:
        """As a supervisor does it."""
        self.own.do(self._services.take(name, killed=False))

    def works(self, name: str) -> bool:
        return self.own.do(self._services.works(name))

    def lives(self, name: str) -> bool:
        return name in self._services.processes

    def asks_the_store(self, name: str) -> bool:
        """Whether it has come as far as that: it works from then on, or stands by."""
        child = self._services.processes[name]
        connections = psutil.Process(child.pid).net_connections("tcp") if child.alive else []
        return any(one.raddr and one.raddr.port == self._services.valkey.port for one in connections)

    @contextmanager
    def joined(self, name: str = LATE) -> Iterator[None]:
        self._services.write_member(name)
        try:
            yield
        finally:
            for end in ("kubeconfig", "json"):
                (self._services.kubeconfigs / f"{name}.{end}").unlink()

    def door(self, path: str) -> Any:
        answer = httpx.get(f"{self.url}{path}", headers=self.known, trust_env=False)
        assert answer.is_success, answer.text
        return answer.json()


@contextmanager
def running(dir: Path) -> Iterator[HubFleet]:
    """Everything in it is ended however the block ends."""
    own = Own(dir / "servers")
    try:
        own.start("hub", MEMBER, LATE)
        define(own.api("hub"))
        own.api("hub").create("v1/namespaces", {"metadata": {"name": "kube-queue"}})
        services = _Services(dir / "services", own)
        try:
            own.do(services.start())
            fleet = HubFleet(services.dir, own, services)
            yield fleet
            fleet.hub.http.close()
        finally:
            own.do(services.stop())
    finally:
        own.stop()
