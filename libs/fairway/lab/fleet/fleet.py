"""The embedded fleet: real NATS and Valkey, simulated or real clusters, the services in processes of their own."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from fairway.lab.fleet import identities
from fairway.lab.fleet.credentials import FleetCredentials
from fairway.lab.kubereal.members import HUB, RealClusters, RealMember
from fairway.lab.kubesim.__main__ import ClusterConfig, SimFleet
from fairway.lab.kubesim.http.identities import Identity
from fairway.lab.processes.embedded_servers import EmbeddedServer, account, nats_cluster, nats_server, valkey_server
from fairway.lab.processes.service import READY_S, Child
from fairway.process.pipeline import EVERYTHING
from fairway.process.settings import from_environment
from fairway.runtime import private_files

# Simulated clusters are up in a second. Real ones take 20 s on two idle cores, and far longer on busy ones.
_READY_S = 60.0
_REAL_READY_S = 240.0
_LOOK_S = 0.2
_STUBBED = "fairway.lab.fleet.stub_clusters"


class FleetPlan(Struct, frozen=True):
    """What to start. `groups` are the services of each process; `default_run_ms` how long a pod runs if it does not
    say so itself. `real`: the clusters are `RealMember`s of kubereal, real Kubernetes in place of the simulator. With
    several `nats_servers` each keeps a copy of every stream. `hubless`: jobs come by HTTP and the bus only. `program`
    is the module that its processes run in place of Fairway's own."""

    clusters: tuple[ClusterConfig, ...]
    groups: tuple[tuple[str, ...], ...] = (EVERYTHING,)
    default_run_ms: int = 1_000
    sync_interval: str = "2m"
    nats_servers: int = 1
    stub_clusters: bool = False
    real: bool = False
    hubless: bool = False
    program: str = ""


class EmbeddedFleet:
    """A running embedded fleet. `dir` holds everything that it writes; `program` is the module of its processes."""

    program = "fairway.cli.main"

    def __init__(self, dir: Path, plan: FleetPlan) -> None:
        self.dir = dir.resolve()
        self.plan = plan
        self.nats: EmbeddedServer
        self.nats_others: list[EmbeddedServer] = []
        self.valkey: EmbeddedServer
        self.credentials: FleetCredentials
        self.sim: Child | None = None
        self.processes: dict[str, Child] = {}
        self.http = ""
        self.known: tuple[Identity, ...] = identities.of_hub()

    @property
    def token(self) -> str:
        """The administrator's, for the HTTP door and the hub."""
        return self.known[0].token

    def token_of(self, namespace: str) -> str:
        """The tenant's of this namespace."""
        return next(one.token for one in self.known if one.username == namespace)

    @property
    def token_file(self) -> Path:
        """The administrator's token alone, for `--token-file`."""
        return self.dir / "admin.token"

    def tenant_kubeconfig(self, namespace: str) -> Path:
        return self.dir / "tenants" / f"{namespace}.kubeconfig"

    @property
    def stores(self) -> tuple[EmbeddedServer, ...]:
        """Every Valkey to which a process may come."""
        return (self.valkey,)

    @property
    def kubeconfigs(self) -> Path:
        return self.dir / "clusters"

    @property
    def hub_kubeconfig(self) -> Path:
        return self.dir / "hub.kubeconfig"

    def environment(self, process: str = "") -> dict[str, str]:
        """What tells a Fairway process where this fleet is: the process of that name, or a command of its operator."""
        # No hub says who may ask; and how fast the door answers is measured, by one caller.
        stubbed = {"FAIRWAY_HTTP_KEY_FILE": str(self.token_file), "FAIRWAY_HTTP_RATE": "100000"}
        hubless = self.plan.stub_clusters or self.plan.hubless
        hub = stubbed if hubless else {"FAIRWAY_HUB_KUBECONFIG": str(self.hub_kubeconfig)}
        return {
            "FAIRWAY_NATS_URL": ",".join(f"nats://{one.address}" for one in (self.nats, *self.nats_others)),
            "FAIRWAY_REDIS_URL": f"redis://{self.valkey.address}/0",
            "FAIRWAY_CREDENTIALS_DIR": str(self.credentials.folder_of(process)),
            "FAIRWAY_CLUSTERS_DIR": str(self.kubeconfigs),
            "FAIRWAY_REPLICAS": str(self.plan.nats_servers),
            **hub,
            # No chart of an operator has made an account in the namespaces of its members.
            **({"FAIRWAY_OPERATOR_ACCOUNTS": "Workflow=default"} if self.plan.real else {}),
        }

    async def start(self) -> None:
        for folder in (self.dir, self.kubeconfigs, self.dir / "tenants", self.dir / "identities"):
            private_files.folder(folder)
        private_files.write(self.token_file, self.token)
        self.credentials = FleetCredentials(self.dir / "credentials", self.plan.groups)
        await self._start_nats()
        self.valkey = await valkey_server(self.dir / "valkey", users=self.credentials.valkey_users)
        self.valkey.login = self.credentials.login
        await self.credentials.set_up(from_environment(self.environment()))
        if not self.plan.stub_clusters:
            await self._start_clusters()
        await asyncio.gather(*(self.start_process(group) for group in self.plan.groups))
        self._write_address()

    async def _start_nats(self) -> None:
        home = self.dir / "nats"
        interval = self.plan.sync_interval
        users = self.credentials.nats_users
        if self.plan.nats_servers == 1:
            self.nats = await nats_server(home, sync_interval=interval, more=account(users, home))
        else:
            known = account(users, home / "0")
            started = await nats_cluster(home, self.plan.nats_servers, sync_interval=interval, more=known)
            self.nats, *self.nats_others = started
        for server in (self.nats, *self.nats_others):
            server.login = self.credentials.login

    async def _start_clusters(self) -> None:
        config = self.dir / "clusters.json"
        private_files.write(config, msgspec.json.encode(self._clusters()))
        module = "fairway.lab.kubereal" if self.plan.real else "fairway.lab.kubesim"
        self.sim = Child("clusters", module, ["--config", str(config)], self.dir / "clusters.log", {})
        said = await self.sim.start(_REAL_READY_S if self.plan.real else _READY_S)
        (self.kubeconfigs / f"{HUB}.kubeconfig").rename(self.hub_kubeconfig)
        hub = msgspec.json.decode(self.hub_kubeconfig.read_bytes())
        for one in self.known[1:]:
            private_files.write(self.tenant_kubeconfig(one.username), identities.kubeconfig_of(hub, one))
        reserve = {one.name: one.reserve for one in self.plan.clusters if isinstance(one, RealMember)}
        for name, one in said["clusters"].items():
            if name != HUB:
                # No scheduler of the simulated clusters keeps room for anybody.
                facts = msgspec.json.encode({"labels": one["labels"], "reserve": reserve.get(name, "ledger")})
                private_files.write(self.kubeconfigs / f"{name}.json", facts)

    def _clusters(self) -> SimFleet | RealClusters:
        where = str(self.kubeconfigs)
        run_ms = self.plan.default_run_ms
        known = identities.write(self._identities(HUB), self.known)
        if self.plan.real:
            members = tuple(one for one in self.plan.clusters if isinstance(one, RealMember))
            return RealClusters(members, where, str(self.dir / "kubernetes"), run_ms, known)
        asking = []
        for one in self.plan.clusters:
            admin = identities.write(self._identities(one.name), (identities.administrator(),))
            asking.append(msgspec.structs.replace(one, identities=admin))
        return SimFleet((ClusterConfig(HUB, controllers=False, identities=known), *asking), where, run_ms)

    def _identities(self, cluster: str) -> Path:
        return self.dir / "identities" / f"{cluster}.json"

    async def start_process(self, group: Sequence[str], name: str = "", patience_s: float = READY_S) -> Child:
        """Starts a process with these services; again, if it was killed. One beside another with the same services has
        a `name` of its own. Returns when it is ready: one that stands by is not, however long that takes."""
        name = name or ("-".join(group) if len(group) < 4 else f"{group[0]}-to-{group[-1]}")
        await self.credentials.admit(name, group, (self.nats, *self.nats_others), self.stores)
        log = self.dir / f"{name}.log"
        program = self.plan.program or (_STUBBED if self.plan.stub_clusters else self.program)
        child = Child(name, program, ["run", *group, "--announce"], log, self.environment(name))
        self.processes[name] = child  # before it starts, so that whoever gives up meanwhile ends it too
        said = await child.start(patience_s)
        if "gateway" in group:
            self.http = said["http"]
        return child

    def _write_address(self) -> None:
        """So that the command line finds the fleet of this folder, and is let in."""
        metrics = {name: child.said.get("metrics", "") for name, child in self.processes.items()}
        facts: dict[str, Any] = {"http": self.http, "token": self.token, "metrics": metrics, **self.environment()}
        # For whoever wants to look into them: with all rights.
        facts |= {"nats": self.nats.url, "valkey": self.valkey.url}
        private_files.write(self.dir / "fleet.json", msgspec.json.format(msgspec.json.encode(facts)))

    async def first_end(self) -> str:
        """Says which part ended by itself and where its log is, as soon as one has."""
        while True:
            for name, part in self._parts():
                if part.ended is not None:
                    how = f"killed by signal {-part.ended}" if part.ended < 0 else f"exit code {part.ended}"
                    said = f": {part.last_words()}" if part is self.sim else ""
                    return f"{name} ended by itself ({how}){said}; its log is {part.log}"
            await asyncio.sleep(_LOOK_S)

    def _parts(self) -> Iterator[tuple[str, Child | EmbeddedServer]]:
        for server in (getattr(self, "nats", None), *self.nats_others):
            if server is not None:
                yield "NATS", server
        if hasattr(self, "valkey"):
            yield "Valkey", self.valkey
        if self.sim is not None:
            yield "the process of the clusters", self.sim
        for name, child in self.processes.items():
            yield f"the services' process {name}", child

    async def end_services(self) -> None:
        """In order: what they hold back to be stored later is stored. The servers stay."""
        await asyncio.gather(*(child.stop() for child in self.processes.values()))

    async def stop(self) -> None:
        """Ends the services, then the clusters, then the servers under them."""
        await self.end_services()
        if self.sim is not None:
            await self.sim.stop()
        for other in self.nats_others:
            await other.stop()
        for server in ("valkey", "nats"):
            if hasattr(self, server):
                await getattr(self, server).stop()
        with contextlib.suppress(FileNotFoundError):
            (self.dir / "fleet.json").unlink()


@contextlib.asynccontextmanager
async def running(dir: Path, plan: FleetPlan) -> AsyncIterator[EmbeddedFleet]:
    """A fleet that is stopped however the block ends."""
    fleet = EmbeddedFleet(dir, plan)
    try:
        await fleet.start()
        yield fleet
    finally:
        await fleet.stop()
