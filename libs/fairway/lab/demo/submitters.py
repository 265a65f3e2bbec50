"""The four ways in: applied to the hub as kubectl does, the command line, HTTP, and the bus.

Jobs come from their tenants, each with the credential of its own namespace; what holds for the whole fleet from the
administrator.
"""

import asyncio
import sys
from typing import Any

import msgspec

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.system_clock import SystemClock, SystemIds
from fairway.client.api import Api, GatewayRefusal
from fairway.client.credential import Credential
from fairway.client.failure import DENIED, ERROR, Failure
from fairway.domain.submission import raw
from fairway.lab.demo.scenario import DemoJob
from fairway.lab.fleet.fleet import EmbeddedFleet
from fairway.lab.processes.die_with_parent import guarded
from fairway.runtime import private_files
from fairway.runtime.cluster_port import ClusterRefused
from fairway.runtime.ports import Outgoing
from fairway.wire import subjects
from fairway.wire.inbound import SubmitRequest
from fairway.workloads.settings.quota_trees import KIND as TREE

_LOOKS = 500
_LOOK_S = 0.02


class Submitters:
    def __init__(self, fleet: EmbeddedFleet, bus: NatsBus, hub: KubernetesCluster) -> None:
        self._fleet = fleet
        self._bus = bus
        self._hub = hub
        self.api = Api(fleet.http, Credential(fleet.token, "the administrator's token"))
        self._tenants: dict[str, KubernetesCluster] = {}
        self._sent = 0

    async def settle(self, settings: tuple[dict[str, Any], ...]) -> None:
        """Sets up the fleet; returns when it is in force. Settings are followed in order, so the tree goes last."""
        for one in sorted(settings, key=lambda one: one["kind"] == TREE):
            await asyncio.to_thread(self.api.post, "/v1/settings", one)
        for _ in range(_LOOKS):
            if (await asyncio.to_thread(self.api.get, "/v1/quota"))["items"]:
                return
            await asyncio.sleep(_LOOK_S)
        raise Failure(ERROR, "the quota tree is not in force after 10 s", "read the services' log")

    async def send(self, piece: DemoJob, by: str) -> None:
        send = {"hub": self._by_hub, "cli": self._by_command, "http": self._by_http, "bus": self._by_bus}[by]
        self._sent += 1
        await send(piece)

    async def _by_hub(self, piece: DemoJob) -> None:
        namespace = _namespace(piece)
        tenant = await self._tenant(namespace)
        await self._create(self._hub, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        for one in (*piece.policies, piece.manifest):
            await self._create(tenant if one["metadata"].get("namespace") else self._hub, one)

    async def _tenant(self, namespace: str) -> KubernetesCluster:
        """The hub, as the tenant of this namespace reaches it."""
        if namespace not in self._tenants:
            path = self._fleet.tenant_kubeconfig(namespace)
            self._tenants[namespace] = await KubernetesCluster.from_kubeconfig("hub", path)
        return self._tenants[namespace]

    def api_of(self, namespace: str) -> Api:
        """HTTP, as the tenant of this namespace reaches it."""
        return Api(self._fleet.http, Credential(self._fleet.token_of(namespace), f"the token of {namespace}"))

    async def ask(self, job: str, question: str) -> Any:
        """What the administrator is answered when he asks `why` or `story` of a job. Raises Failure."""
        return await asyncio.to_thread(lambda: self.api.get(f"/v1/jobs/{self.api.find(job)}/{question}"))

    async def close(self) -> None:
        for hub in self._tenants.values():
            await hub.close()

    async def _create(self, hub: KubernetesCluster, manifest: dict[str, Any]) -> None:
        try:
            await hub.create(f"{manifest['kind']}.{manifest['apiVersion']}", manifest)
        except ClusterRefused as error:
            if error.code != "AlreadyExists":
                raise Failure(ERROR, f"the hub refused {manifest['metadata']['name']}: {error}") from error

    async def _by_http(self, piece: DemoJob) -> None:
        body = {"manifest": piece.manifest, "policies": piece.policies}
        try:
            await asyncio.to_thread(self.api_of(_namespace(piece)).post, "/v1/jobs", body)
        except GatewayRefusal as refusal:
            if refusal.code != DENIED:  # a refusal of the manifest is in the record, and judged from there
                raise

    async def _by_bus(self, piece: DemoJob) -> None:
        """As the tenant of its namespace, where that may speak. No other tenant can guess the id of the message."""
        request = SubmitRequest(
            at=SystemClock().now(),
            manifest=raw(piece.manifest),
            policies=tuple(map(raw, piece.policies)),
            client=f"demo-{self._sent}",
        )
        subject = subjects.inbound(request.verb, piece.manifest["metadata"]["namespace"])
        data = msgspec.json.encode(request)
        await self._bus.publish([Outgoing(SystemIds().new(), subject, data, "fairway.in", "/demo")])

    async def _by_command(self, piece: DemoJob) -> None:
        file = self._fleet.dir / f"sent-{self._sent}.json"
        items = {"apiVersion": "v1", "kind": "List", "items": [piece.manifest, *piece.policies]}
        await asyncio.to_thread(private_files.write, file, msgspec.json.encode(items))
        await self.command(_namespace(piece), "submit", "-f", str(file))

    async def command(self, namespace: str, *words: str) -> None:
        """`fairway WORDS...` as the tenant of this namespace, in a process of its own, which ends with this one."""
        token = self._fleet.dir / f"{namespace}.token"
        await asyncio.to_thread(private_files.write, token, self._fleet.token_of(namespace))
        line = guarded(
            sys.executable, "-m", "fairway.cli.main", *words, "--url", self._fleet.http, "--token-file", token
        )
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*line, stdout=pipe, stderr=asyncio.subprocess.STDOUT)
        try:
            said, _ = await process.communicate()
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise
        if process.returncode not in (0, DENIED):
            raise Failure(ERROR, f"fairway {' '.join(words)} ended with {process.returncode}: {said.decode().strip()}")


def _namespace(piece: DemoJob) -> str:
    return str(piece.manifest["metadata"]["namespace"])
