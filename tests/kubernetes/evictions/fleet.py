"""A hub and three members that run PyTorchJobs, each with three nodes of 8 GPUs; and the services beside them."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan
from fairway.lab.kubereal.build import tools
from fairway.lab.kubereal.control_plane import member
from fairway.lab.kubereal.crds import define
from fairway.lab.kubereal.operators import start
from fairway.lab.kubesim.http.identities import MASTERS, Identity
from fairway.process.pipeline import EVERYTHING
from tests.kubernetes.support.fleet import RealFleet, until
from tests.kubernetes.support.own import Own, node, through
from tests.kubernetes.troubles.meddler import Meddler

Json = dict[str, Any]
HUB = "hub"
MEMBERS = ("east", "south", "west")
NODES = 3
# Somebody stands between it and the services, who can cut the connection.
FAR = "west"
_TRAINING = "training"


class _Services(EmbeddedFleet):
    """NATS, Valkey and the services; the clusters are already there."""

    def __init__(self, dir: Path, own: Own, meddler: Meddler) -> None:
        super().__init__(dir, FleetPlan((), (EVERYTHING,)))
        self.known = (Identity(own.plane(HUB).token, "admin", "admin", (MASTERS,)),)
        self._own = own
        self._meddler = meddler

    def environment(self, process: str = "") -> dict[str, str]:
        # Its tests look without end, all as one caller.
        return {**super().environment(process), "FAIRWAY_HTTP_RATE": "10000"}

    async def _start_clusters(self) -> None:
        self.hub_kubeconfig.write_bytes(self._own.plane(HUB).kubeconfig.read_bytes())
        for name in MEMBERS:
            (self.kubeconfigs / f"{name}.kubeconfig").write_bytes(self._own.plane(name).kubeconfig.read_bytes())
        far = through(self._own.plane(FAR).kubeconfig, self._meddler.url)
        (self.kubeconfigs / f"{FAR}.kubeconfig").write_text(json.dumps(far))


class EvictionFleet(RealFleet):
    """`hub` is applied to as people do it; `members` are looked at by their administrators."""

    def __init__(self, dir: Path, own: Own, meddler: Meddler) -> None:
        # Not as the services see them: one is behind the meddler.
        super().__init__(dir, {name: own.api(name) for name in MEMBERS})
        self._own = own
        self._meddler = meddler

    def rows(self) -> dict[str, Json]:
        """The newest job of each name, as the gateway lists it."""
        items = self.asked("", params={"limit": "500"})["items"]
        return {one["name"]: one for one in sorted(items, key=lambda one: one["submitted_at"])}

    def open(self) -> list[str]:
        """The members that are known, not stale, with all of their nodes usable."""
        answer = httpx.get(f"{self.url}/v1/clusters", headers=self.known, trust_env=False).json()["items"]
        return sorted(one["name"] for one in answer if not one["stale"] and one["schedulable"] == NODES)

    def opens(self, *names: str) -> None:
        until(lambda: self.open() == sorted(names), f"{names} take jobs")

    @contextmanager
    def cut(self) -> Iterator[None]:
        """The far member is away meanwhile; its pods run on."""
        self._own.do(self._spoil())
        try:
            self.opens(*(name for name in MEMBERS if name != FAR))
            yield
        finally:
            self._own.do(self._spoil(well=True))
            self.opens(*MEMBERS)

    async def _spoil(self, well: bool = False) -> None:
        """Where the meddler runs."""
        self._meddler.reset = not well
        self._meddler.cut()


@contextmanager
def running(dir: Path) -> Iterator[EvictionFleet]:
    """Everything in it is ended however the block ends."""
    own = Own(dir / "servers")
    try:
        own.start(HUB)
        own.do(_members(own))
        for name in MEMBERS:
            for number in range(NODES):
                own.api(name).create("v1/nodes", node(f"{name}-{number}"))
        own.do(_operators(own))
        meddler = own.do(_between(own))
        services = _Services(dir / "services", own, meddler)
        try:
            own.do(services.start())
            fleet = EvictionFleet(services.dir, own, meddler)
            fleet.opens(*MEMBERS)
            yield fleet
            fleet.hub.http.close()
        finally:
            own.do(services.stop())
            own.do(meddler.__aexit__())
    finally:
        own.stop()


async def _between(own: Own) -> Meddler:
    return await Meddler(own.planes[FAR].kubeconfig).__aenter__()


async def _members(own: Own) -> None:
    await asyncio.gather(*(own.begun(member(name)) for name in MEMBERS))


async def _operators(own: Own) -> None:
    found = tools(("kube", "kwok", _TRAINING))
    await define(own.planes[HUB], (_TRAINING,), found, hub=True)
    await asyncio.gather(*(start(own.planes[name], (_TRAINING,), found) for name in MEMBERS))
