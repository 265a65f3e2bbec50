"""A hub and members of real Kubernetes, running: each with its nodes, its kinds and its operators."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.domain.tenancy.member_namespace import made
from fairway.domain.tenancy.profile import BASELINE, SYSTEM_NAMESPACES
from fairway.lab.kubereal.accounts import rights
from fairway.lab.kubereal.admin import admin
from fairway.lab.kubereal.build import Tools
from fairway.lab.kubereal.control_plane import Plane, Planes, Spec
from fairway.lab.kubereal.crds import define
from fairway.lab.kubereal.members import HUB, RealClusters, RealMember
from fairway.lab.kubereal.operators import OPERATORS, start
from fairway.lab.kubereal.operators.koordinator import API_FLAGS
from fairway.lab.kubesim.__main__ import read_identities
from fairway.runtime import private_files

Json = dict[str, Any]


# Where quota tree and Queues are taken from, as the examples have them; kube-system is everywhere.
_SETTINGS: list[Json] = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in sorted(SYSTEM_NAMESPACES.admin)
]


class RealFleet:
    """The running servers. `start` returns when every API answers and every operator is ready."""

    def __init__(self, fleet: RealClusters, tools: Tools) -> None:
        self.fleet = fleet
        self.tools = tools
        self.planes = Planes(Path(fleet.dir), tools)
        self._known = read_identities(fleet.identities)

    async def start(self) -> Json:
        """What clusters there are: `{name: {"url", "kubeconfig", "labels"}}`."""
        members = {one.name: one for one in self.fleet.clusters}
        hub_spec = Spec(HUB, identities=self._known)
        specs = [hub_spec, *(_spec(one, self.fleet.default_run_ms) for one in members.values())]
        await self.planes.start(specs)
        hub = self.planes[HUB]
        await asyncio.gather(self._open_hub(hub), *(self._fill(self.planes[name], members[name]) for name in members))
        return {plane.name: self._facts(plane, members.get(plane.name)) for plane in self.planes.by_name.values()}

    async def _open_hub(self, hub: Plane) -> None:
        """Every kind that a member runs, and none of the programs that would run it; and who may ask for what."""
        await define(hub, sorted(OPERATORS), self.tools, hub=True)
        async with admin(hub) as hands:
            await hands.apply([*_SETTINGS, *rights(self._known)])

    async def _fill(self, plane: Plane, member: RealMember) -> None:
        cluster = await KubernetesCluster.from_kubeconfig(plane.name, plane.kubeconfig)
        try:
            await asyncio.gather(*(cluster.create("Node.v1", node) for node in _nodes(member)))
            # Given to its tenant, as `fairway join --adopt-namespaces default` does it: people try things out there.
            await cluster.patch("Namespace.v1", "", "default", {"metadata": {"labels": made("default", BASELINE)}})
        finally:
            await cluster.close()
        await define(plane, member.modules, self.tools)
        await start(plane, member.operators, self.tools)

    def _facts(self, plane: Plane, member: RealMember | None) -> Json:
        path = Path(self.fleet.kubeconfigs) / f"{plane.name}.kubeconfig"
        path.parent.mkdir(parents=True, exist_ok=True)
        private_files.write(path, plane.kubeconfig.read_bytes())
        return {"url": plane.url, "kubeconfig": str(path), "labels": member.labels if member else {}}


def _spec(member: RealMember, run_ms: int) -> Spec:
    flags = API_FLAGS if any(name.startswith("koordinator") for name in member.operators) else ()
    return Spec(member.name, True, member.scheduler, kubelets=True, api_flags=flags, default_run_ms=run_ms)


def _nodes(member: RealMember) -> Iterator[Json]:
    """As a kubelet registers them; kwok says the rest."""
    for group in member.nodes:
        for node in group.nodes():
            status = {key: node["status"][key] for key in ("capacity", "allocatable")}
            yield {
                **node,
                "spec": {key: node["spec"][key] for key in node["spec"] if key == "taints"},
                "status": status,
            }
