"""A hub and two members of real Kubernetes that nobody has joined yet, and the services beside them."""

import asyncio
import json
import subprocess
import sys
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import yaml

from fairway.lab.kubereal.build import tools
from fairway.lab.kubereal.control_plane import Planes, Spec, member, planes
from fairway.lab.processes.embedded_servers import EmbeddedServer, nats_server, valkey_server
from fairway.lab.processes.service import Child
from fairway.process.pipeline import EVERYTHING
from fairway.process.servers.streams import set_up
from fairway.process.settings import from_environment
from tests.kubernetes.support.fleet import Api, environment
from tests.support.bus_users import rules

Json = dict[str, Any]
ACCOUNT = "system:serviceaccount:fairway-system:fairway-member"
# Who of Fairway's accounts asked for what; not the bodies, and nobody else.
_OURS = {"level": "Metadata", "userGroups": ["system:serviceaccounts:fairway-system"]}
_RULES = [{**_OURS, "omitStages": ["RequestReceived"]}, {"level": "None"}]
_AUDIT = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": _RULES}


class AuditLog:
    """The log of one API server, which is read on from where it was read to last."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0
        self._entries: list[Json] = []

    def entries(self) -> list[Json]:
        with self._path.open("rb") as file:
            file.seek(self._at)
            whole = file.read().rpartition(b"\n")[0]
        if whole:
            self._at += len(whole) + 1
            self._entries += map(json.loads, whole.split(b"\n"))
        return self._entries


class House:
    """`api` is an administrator's client by cluster. What is done with the command line is done by a person's words."""

    def __init__(self, dir: Path, clusters: Planes, servers: tuple[EmbeddedServer, EmbeddedServer]) -> None:
        self.dir = dir
        self.planes = clusters
        nats, valkey = servers
        self.environment = {
            "FAIRWAY_NATS_URL": f"nats://fairway:secret@127.0.0.1:{nats.port}",
            "FAIRWAY_REDIS_URL": f"{valkey.url}/0",
            "FAIRWAY_HUB_KUBECONFIG": str(clusters["hub"].kubeconfig),
            "FAIRWAY_ALLOW_LOOPBACK": "1",
        }
        self.url = ""
        self.children: list[Child] = []
        self._apis: dict[str, Api] = {}
        self._audits: dict[str, AuditLog] = {}

    async def run(self, *services: str, **more: str) -> Child:
        name = "-".join(services)[:40] or "all"
        args = ["run", *(services or EVERYTHING), "--announce"]
        child = Child(name, "fairway.cli.main", args, self.dir / f"{name}.log", {**self.environment, **more})
        self.children.append(child)
        said = await child.start()
        if not services or "gateway" in services:
            self.url = said["http"]
        return child

    async def beside(self, cluster: str) -> Child:
        """The process of a member in pull mode: it has its own cluster's token, and a bus where it may say little."""
        folder = self.dir / f"beside-{cluster}"
        folder.mkdir(exist_ok=True)
        words = ("-n", "fairway-system", "create", "token", "fairway-member")
        token = (await asyncio.to_thread(self.api(cluster).kubectl, *words)).strip()
        plane = self.planes[cluster]
        config = plane.kubeconfig_of(token)
        (folder / f"{cluster}.kubeconfig").write_text(json.dumps(config))
        port = self.environment["FAIRWAY_NATS_URL"].rpartition(":")[2]
        environment = {
            "FAIRWAY_NATS_URL": f"nats://{cluster}:secret@127.0.0.1:{port}",
            "FAIRWAY_CLUSTERS_DIR": str(folder),
        }
        args = ["run", "member", "--cluster", cluster, "--announce"]
        child = Child(f"member-{cluster}", "fairway.cli.main", args, self.dir / f"member-{cluster}.log", environment)
        self.children.append(child)
        await child.start()
        return child

    def api(self, cluster: str) -> Api:
        if cluster not in self._apis:
            self._apis[cluster] = Api(cluster, self.planes[cluster].kubeconfig)
        return self._apis[cluster]

    async def renew_certificate(self, cluster: str) -> None:
        """Of a member's API server, with another CA; its own controllers are told, Fairway is not."""
        plane = self.planes[cluster]
        await plane.stop()
        for file in (plane.dir / "certs").iterdir():
            file.unlink()
        await plane.start()
        self._apis.pop(cluster).http.close()

    async def close(self) -> None:
        for api in self._apis.values():
            api.http.close()
        await asyncio.gather(*(child.stop() for child in self.children))

    async def fairway(self, *args: str, code: int = 0) -> str:
        """What the command prints, on both ends; it has to end with `code`."""

        def call() -> subprocess.CompletedProcess[str]:
            token = self.dir / "admin.token"
            token.write_text(self.planes["hub"].token)
            own = {"FAIRWAY_URL": self.url, "FAIRWAY_TOKEN_FILE": str(token)}
            more = {**environment(), **self.environment, **own}
            command = [sys.executable, "-m", "fairway.cli.main", *args]
            return subprocess.run(command, capture_output=True, text=True, env=more, cwd=self.dir, check=False)

        done = await asyncio.to_thread(call)
        said = done.stdout + done.stderr
        assert done.returncode == code, f"fairway {' '.join(args)} ended with {done.returncode}: {said}"
        return said

    async def join(self, name: str, *more: str, code: int = 0) -> str:
        admin = str(self.planes[name].kubeconfig)
        return await self.fairway("join", name, "--kubeconfig", admin, "--allow-loopback", *more, code=code)

    async def submit(self, name: str, run_for: str, *clusters: str, code: int = 0, priority: str = "") -> str:
        path = self.dir / f"{name}.yaml"
        path.write_text(yaml.safe_dump_all([job(name, run_for, priority), policy(name, clusters)]))
        return await self.fairway("submit", "-f", str(path), code=code)

    async def _asked(self, what: str) -> list[Json]:
        known = {"Authorization": f"Bearer {self.planes['hub'].token}"}
        async with httpx.AsyncClient(trust_env=False, headers=known) as http:
            rows: list[Json] = (await http.get(f"{self.url}/v1/{what}")).json()["items"]
        return rows

    async def jobs(self) -> dict[str, Json]:
        rows = await self._asked("jobs")
        return {row["name"]: row for row in rows}

    async def clusters(self) -> dict[str, Json]:
        rows = await self._asked("clusters")
        return {row["name"]: row for row in rows}

    async def until(self, look: Callable[[], Any], what: str, seconds: float = 90) -> Any:
        """What `look` finds or is told, as soon as it is true."""
        end = asyncio.get_running_loop().time() + seconds
        while True:
            seen = look()
            seen = await seen if asyncio.iscoroutine(seen) else seen
            if seen:
                return seen
            assert asyncio.get_running_loop().time() < end, f"not within {seconds} s: {what}; {await self.jobs()}"
            await asyncio.sleep(0.1)

    async def state(self, name: str, *states: str) -> Json:
        async def look() -> Json | None:
            row = (await self.jobs()).get(name)
            return row if row and row["state"] in states else None

        found: Json = await self.until(look, f"{name} is {' or '.join(states)}")
        return found

    def token(self, cluster: str, of: str = "cluster") -> str:
        """The one that Fairway has of a member, from its Secret in the hub; `of` renewal: of the account for that."""
        path = f"v1/namespaces/fairway-system/secrets/fairway-{of}-{cluster}"
        secret = self.api("hub").get(path)
        assert secret is not None, f"{cluster} has not joined"
        config = yaml.safe_load(b64decode(secret["data"]["kubeconfig"]))
        return str(config["users"][0]["user"]["token"])

    def as_fairway(self, cluster: str, method: str, path: str, body: Json | None = None) -> int:
        """The status that the member answers its account with."""
        headers = {"Authorization": f"Bearer {self.token(cluster)}"}
        return self.api(cluster).http.request(method, path, json=body, headers=headers).status_code

    def asked(self, cluster: str, account: str = ACCOUNT) -> list[Json]:
        """What the account asked of this API server so far, from the audit log."""
        log = self._audits.setdefault(cluster, AuditLog(self.dir / f"{cluster}-audit.log"))
        return [one for one in log.entries() if one["user"].get("username") == account]


def job(name: str, run_for: str, priority: str = "") -> Json:
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": "1"}}}
    spec: Json = {"restartPolicy": "Never", "containers": [container]}
    if priority:
        spec["priorityClassName"] = priority
    template = {"metadata": {"annotations": {"fairway.test/run-for": run_for}}, "spec": spec}
    metadata = {"name": name, "namespace": "team-a"}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": template}}


def policy(name: str, clusters: tuple[str, ...]) -> Json:
    selector = {"apiVersion": "batch/v1", "kind": "Job", "name": name}
    placement = {"placement": {"clusterAffinity": {"clusterNames": list(clusters)}}} if clusters else {}
    spec = {"resourceSelectors": [selector], "suspension": {"scheduling": True}, **placement}
    metadata = {"name": name, "namespace": "team-a"}
    return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": metadata, "spec": spec}


def node(name: str) -> Json:
    room = {"cpu": "8", "memory": "16Gi", "ephemeral-storage": "100Gi", "pods": "50"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"capacity": room, "allocatable": room},
    }


@asynccontextmanager
async def house(
    dir: Path, members: Sequence[str] = ("north", "south"), more: Sequence[str] = ()
) -> AsyncIterator[House]:
    """Everything in it is ended however the block ends. `more` are flags of the members' API servers."""
    audited = dir / "audit.yaml"
    audited.write_text(yaml.safe_dump(_AUDIT))

    def audit(name: str) -> tuple[str, ...]:
        return f"--audit-policy-file={audited}", f"--audit-log-path={dir / f'{name}-audit.log'}"

    specs = [Spec("hub", api_flags=audit("hub")), *(member(name, *audit(name), *more) for name in members)]
    async with planes(dir / "planes", specs, tools(("kube", "kwok"))) as clusters:
        nats = await nats_server(dir / "nats", max_payload=1 << 20, more=rules())
        servers = nats, await valkey_server(dir / "valkey")
        made = House(dir, clusters, servers)
        await set_up(from_environment(made.environment))
        try:
            for name in members:
                made.api(name).create("v1/nodes", node(f"{name}-1"))
            yield made
        finally:
            await made.close()
            await asyncio.gather(*(server.stop() for server in servers))
