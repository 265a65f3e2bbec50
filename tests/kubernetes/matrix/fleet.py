"""A hub with the roles of deploy/hub, a bus with the permissions of deploy/nats, Fairway's services between them, and
everybody who may come: for the matrix of who may do what."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import httpx
import msgspec
import nats
import yaml
from nats.aio.msg import Msg

from fairway.adapters.nats.bus import NatsBus
from fairway.lab.kubereal.control_plane import Spec
from fairway.lab.kubereal.flags import controller_manager
from fairway.lab.processes.embedded_servers import EmbeddedServer, nats_server, valkey_server
from fairway.lab.processes.service import Child
from tests.kubernetes.rights import rbac
from tests.kubernetes.support.fleet import Api, until
from tests.kubernetes.support.own import Own
from tests.kubernetes.support.own_hub import define
from tests.paths import ROOT
from tests.support.bus_users import rules

Json = dict[str, Any]
DEPLOY = ROOT / "deploy" / "hub"
NAME = "matrix"
# Whoever comes to the hub and to HTTP: the namespace of their service account, its name, what their token for HTTP was
# made for, and their ClusterRoles, each in a namespace or (without one) in all. Two come otherwise: the administrator
# of the hub, with the token of the kubeconfig, and nobody, without any.
ACCOUNTS = {
    "operator": ("platform", "ops", ("fairway",), [("fairway-operator", "")]),
    "tenant-a": ("team-a", "ci", ("fairway",), [("fairway-tenant", "team-a")]),
    "tenant-b": ("team-b", "ci", (), [("fairway-tenant", "team-b"), ("fairway-fleet-view", "")]),
    "viewer-a": ("team-a", "viewer", (), [("view", "team-a")]),
    "known": ("elsewhere", "known", ("fairway",), []),
}
PEOPLE = ("admin", *ACCOUNTS, "nobody")
USERS = {"admin": "admin"} | {
    role: f"system:serviceaccount:{home}:{name}" for role, (home, name, _, _) in ACCOUNTS.items()
}
# Without what takes jobs out of their queue: they wait there to be asked after.
SERVICES = ("gateway", "hub", "inbound", "admission", "quota")


def _account(role: str) -> list[Json]:
    home, name, _, roles = ACCOUNTS[role]
    meta = {"name": name, "namespace": home}
    made: list[Json] = [{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta}]
    for cluster_role, namespace in roles:
        made.append(rbac.binding(f"{role}-{cluster_role}", cluster_role, (home, name), namespace))
    return made


def _hub(own: Own) -> Api:
    """Of the controllers the one alone that fills roles with the rules of others: nobody makes pods here."""
    plane = own.do(own.begun(Spec(NAME)))
    said = [one for one in controller_manager(plane.kubeconfig, plane.dir) if not one.startswith("--controllers")]
    own.do(plane.program("kube-controller-manager", [*said, "--controllers=clusterrole-aggregation-controller"]))
    hub = own.api(NAME)
    define(hub)
    homes = sorted({"kube-queue", *(home for home, *_ in ACCOUNTS.values())})
    made = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": home}} for home in homes]
    for name in ("rights.yaml", "callers.yaml"):
        made += yaml.safe_load_all((DEPLOY / name).read_text())
    hub.apply(*made, *(one for role in ACCOUNTS for one in _account(role)))

    def gathered(name: str, part: str) -> bool:
        return part in str((hub.get(f"{rbac.RULES}/clusterroles/{name}") or {}).get("rules"))

    for name in ("fairway-tenant", "fairway-operator", "view"):
        until(lambda name=name: gathered(name, "fairway.io"), f"{name} has rules")
    return hub


class House:
    """`tokens` are by role, those for HTTP and those for the hub; `heard` is all that was given to a stream, whether it
    keeps it or not."""

    def __init__(self, own: Own, folder: Path) -> None:
        self.own = own
        self._folder = folder
        self.hub = _hub(own)
        admin = self.hub.http.headers["Authorization"].removeprefix("Bearer ")
        self.tokens = {door: {"admin": admin, "nobody": ""} for door in ("http", "hub")}
        for role, (home, name, audiences, _) in ACCOUNTS.items():
            self.tokens["http"][role] = rbac.token(self.hub, home, name, audiences)
            self.tokens["hub"][role] = rbac.token(self.hub, home, name)
        self.known = {"Authorization": f"Bearer {admin}"}
        self.heard: list[tuple[str, bytes]] = []
        self._tasks: list[asyncio.Task[None]] = []
        own.do(self._start())
        self.door = httpx.Client(base_url=self.url, timeout=30, trust_env=False)
        # With the administrator's token comes only what is asked as the administrator.
        self.api = Api(NAME, self.hub.kubeconfig).http
        del self.api.headers["Authorization"]

    async def _start(self) -> None:
        self._nats = await nats_server(self._folder / "nats", more=rules())
        self._valkey = await valkey_server(self._folder / "valkey")
        self.bus = await NatsBus.connect(self.nats_url("fairway"), "test")
        await self.bus.provision()
        self._child = Child(
            "services",
            "fairway.cli.main",
            ["run", *SERVICES, "--announce"],
            self._folder / "services.log",
            self._environment(),
        )
        self.url = (await self._child.start())["http"]
        self._tasks = [asyncio.create_task(self._listen(name)) for name in ("JOBS", "CLUSTERS", "DLQ", "IN")]
        # Of each setting the stream keeps the last word alone.
        self._settings = await nats.connect(self.nats_url("fairway"))
        await self._settings.subscribe("fairway.config.>", cb=self._configured)

    def nats_url(self, user: str) -> str:
        return self._nats.url.replace("://", f"://{user}:secret@" if user else "://")

    def _environment(self) -> dict[str, str]:
        config = yaml.safe_load(self.hub.kubeconfig.read_text())
        config["users"][0]["user"] = {"token": rbac.token(self.hub, "fairway-system", "fairway")}
        path = self._folder / "hub.kubeconfig"
        path.write_bytes(msgspec.json.encode(config))
        return {
            "FAIRWAY_NATS_URL": self.nats_url("fairway"),
            "FAIRWAY_REDIS_URL": f"{self._valkey.url}/0",
            "FAIRWAY_HUB_KUBECONFIG": str(path),
            "FAIRWAY_HTTP_RATE": "100000",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }

    async def _listen(self, stream: str) -> None:
        async for one in self.bus.history(stream, live=True):
            if one.subject:
                self.heard.append((one.subject, one.data))

    async def _configured(self, one: Msg) -> None:
        self.heard.append((one.subject, one.data))

    def said(self, mark: str) -> list[tuple[str, str, Json]]:
        """Everything in which this stands: its stream, its subject, its content."""
        found = [one for one in self.heard if mark.encode() in one[1]]
        return [(subject.split(".")[1], subject, msgspec.json.decode(data)) for subject, data in found]

    def stop(self) -> None:
        for client in (self.door, self.api):
            client.close()
        self.own.do(self._stop())

    async def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._child.stop()
        await self._settings.close()
        await self.bus.close()
        servers: tuple[EmbeddedServer, ...] = (self._nats, self._valkey)
        await asyncio.gather(*(server.stop() for server in servers))
