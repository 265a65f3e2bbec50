"""A fleet whose every connection passes through a link of this process, and whose members live in it.

The members' objects and pods go on whatever becomes of the links: an API that cannot be reached is not a cluster that
is gone.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from fairway.adapters.system_clock import SystemClock
from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan
from fairway.lab.kubereal.members import HUB
from fairway.lab.kubesim.clusters import KubeSim
from fairway.lab.processes.embedded_servers import EmbeddedServer, valkey_server
from fairway.lab.processes.service import Child
from tests.faults.arena.links import Link
from tests.faults.arena.members import Members
from tests.faults.arena.routes import Routes
from tests.paths import ROOT


class Arena(EmbeddedFleet):
    """`links` are by process and server (`queue>valkey`, `watcher>c0`, `hub>hub`). Several NATS servers have numbers
    (`queue>nats-0`), and `routes` between them. `settings` are what the environment of every process says beyond where
    the fleet is. Processes that are started are of the checkout in `code`."""

    def __init__(self, dir: Path, plan: FleetPlan, settings: Mapping[str, str]) -> None:
        super().__init__(dir, plan)
        self.settings = dict(settings)
        self.code = ROOT
        self.kube = KubeSim(SystemClock(), plan.default_run_ms)
        self.members = Members()
        self.links: dict[str, Link] = {}
        self.routes: Routes | None = None
        self.replica: EmbeddedServer

    async def start(self) -> None:
        await super().start()
        self.replica = await valkey_server(self.dir / "replica", users=self.credentials.valkey_users)
        self.replica.login = self.credentials.login

    async def _start_nats(self) -> None:
        if self.plan.nats_servers == 1:
            await super()._start_nats()
            return
        self.routes = Routes(self.dir / "nats", self.plan.nats_servers)
        known = self.credentials
        await self.routes.start(self.plan.sync_interval, known.nats_users, known.login)
        self.nats, *self.nats_others = self.routes.servers

    @property
    def nats_url(self) -> str:
        """Past the links."""
        return ",".join(one.url for one in (self.nats, *self.nats_others))

    @property
    def stores(self) -> tuple[EmbeddedServer, ...]:
        return self.valkey, self.replica

    @property
    def valkey_url(self) -> str:
        """Past the links, of the one to which they lead now."""
        return f"redis://{self.credentials.login}@127.0.0.1:{self.to('valkey')[0].target}"

    async def _start_clusters(self) -> None:
        self.kube.admit(HUB, self.known)
        await self.kube.start_cluster(HUB, controllers=False)
        for one in self.plan.clusters:
            await self.kube.start_cluster(one.name, nodes=one.nodes, labels=one.labels)
            self.members.follow(self.kube.clusters[one.name])
        self.hub_kubeconfig.write_bytes(msgspec.json.encode(self.kube.kubeconfig(HUB)))

    def _hub_kubeconfig(self, process: str) -> Path:
        return self.dir / f"{process}.{self.hub_kubeconfig.name}"

    async def _kubeconfig(self, process: str, cluster: str) -> bytes:
        """By this the process reaches the cluster, through a link of its own."""
        link = await self._link(f"{process}>{cluster}", int(self.kube.clusters[cluster].url.rpartition(":")[2]))
        config = self.kube.kubeconfig(cluster)
        scheme = self.kube.clusters[cluster].url.partition(":")[0]
        config["clusters"][0]["cluster"]["server"] = f"{scheme}://127.0.0.1:{link.port}"
        return msgspec.json.encode(config)

    async def start_process(self, group: Sequence[str], name: str = "") -> Child:
        name = name or "-".join(group)
        await self._link(f"{name}>valkey", self.valkey.port)
        for number, server in enumerate((self.nats, *self.nats_others)):
            await self._link(f"{name}>{self._nats(number)}", server.port)
        home = self.kubeconfigs / name
        home.mkdir(exist_ok=True)
        for one in self.plan.clusters:
            facts = msgspec.json.encode({"labels": one.labels, "reserve": "ledger"})
            (home / f"{one.name}.json").write_bytes(facts)
            (home / f"{one.name}.kubeconfig").write_bytes(await self._kubeconfig(name, one.name))
        self._hub_kubeconfig(name).write_bytes(await self._kubeconfig(name, HUB))
        return await super().start_process(group, name)

    async def _link(self, name: str, target: int) -> Link:
        if name not in self.links:
            self.links[name] = Link(target)
            await self.links[name].open()
        return self.links[name]

    def environment(self, process: str = "") -> dict[str, str]:
        said = {**super().environment(process), **self.settings}
        said["FAIRWAY_CLUSTERS_DIR"] = str(self.kubeconfigs / process)
        if process:
            said["FAIRWAY_HUB_KUBECONFIG"] = str(self._hub_kubeconfig(process))
        said.setdefault("FAIRWAY_HTTP_RATE", "10000")  # the load of all tenants comes as one caller
        sources = [str(self.code / part) for part in ("libs", "services", "proto")] if self.code != ROOT else []
        said["PYTHONPATH"] = os.pathsep.join((*sources, str(ROOT), os.environ.get("PYTHONPATH", "")))
        if (valkey := self.links.get(f"{process}>valkey")) is not None:
            said["FAIRWAY_REDIS_URL"] = f"redis://127.0.0.1:{valkey.port}/0"
        names = (f"{process}>{self._nats(number)}" for number in range(1 + len(self.nats_others)))
        if ways := [self.links[name] for name in names if name in self.links]:
            said["FAIRWAY_NATS_URL"] = ",".join(f"nats://127.0.0.1:{link.port}" for link in ways)
        return said

    def _nats(self, number: int) -> str:
        return f"nats-{number}" if self.nats_others else "nats"

    def to(self, server: str) -> list[Link]:
        """The links of every process to `nats`, to `valkey` or to a cluster."""
        return [link for name, link in self.links.items() if name.endswith(f">{server}")]

    def cut(self, server: str) -> None:
        """Nobody reaches it."""
        for link in self.to(server):
            link.cut()

    def mend(self, server: str) -> None:
        for link in self.to(server):
            link.mend()

    async def stop(self) -> None:
        await super().stop()
        await asyncio.gather(*(link.close() for link in self.links.values()))
        await self.kube.stop()
        if self.routes is not None:
            await self.routes.stop()
        if hasattr(self, "replica"):
            await self.replica.stop()
