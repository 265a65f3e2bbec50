"""Servers that a test may break: of its worker's own, started one by one as they are asked for, kept until the end.

They run on the loop of a thread, so that tests, which each have a loop of their own, can use one set of them.
"""

import asyncio
import json
import threading
from collections.abc import Coroutine, Iterable
from pathlib import Path
from typing import Any, TypeVar

import httpx

from fairway.lab.kubereal.build import tools
from fairway.lab.kubereal.control_plane import Plane, Planes, Spec, member
from tests.kubernetes.support.fleet import Api, condition, until

T = TypeVar("T")
API = "kube-apiserver"
NODES = 2
BARE = ("hub", "far")
NODE = {"cpu": "16", "memory": "64Gi", "pods": "110", "nvidia.com/gpu": "8"}


class Own:
    """`hub` and `far` are API servers alone; `near` runs pods. The members have two nodes of 8 GPUs each."""

    def __init__(self, dir: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.planes = Planes(dir, tools(("kube", "kwok")))
        self._begun = False
        self._apis: dict[str, Api] = {}

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Where the servers run."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(180)

    def plane(self, name: str) -> Plane:
        if name not in self.planes.by_name:
            self.start(name)
        return self.planes[name]

    def start(self, *names: str) -> None:
        """At once, which is quicker than one after the other."""
        new = [name for name in names if name not in self.planes.by_name]
        self.do(self._start(new))
        for name in new:
            for number in range(0 if name == "hub" else NODES):
                self.api(name).create("v1/nodes", node(f"{name}-{number}"))
            if name in BARE and name != "hub":
                self._make_ready(name)
            until(lambda name=name: self._open(name), f"the nodes of {name} take pods")

    async def _start(self, names: Iterable[str]) -> None:
        await self._store()
        await asyncio.gather(*(self.planes.add(Spec(name) if name in BARE else member(name)) for name in names))

    async def begun(self, spec: Spec) -> Plane:
        """A cluster of another kind, without nodes."""
        await self._store()
        return await self.planes.add(spec)

    async def _store(self) -> None:
        if not self._begun:
            self._begun = True
            await self.planes.start(())

    def _make_ready(self, name: str) -> None:
        """What a kubelet would say, and a controller would then do."""
        for number in range(NODES):
            ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "said by hand"}
            self.api(name).patch(f"v1/nodes/{name}-{number}/status", {"status": {"conditions": [ready]}})
            self.api(name).patch(f"v1/nodes/{name}-{number}", {"spec": {"taints": None}})

    def _open(self, name: str) -> bool:
        """Ready, and the taint is gone that new nodes have."""
        found = self.api(name).items("v1/nodes")
        return all(condition(one, "Ready") == "True" and not one["spec"].get("taints") for one in found)

    def api(self, name: str) -> Api:
        plane = self.plane(name)
        if name not in self._apis:
            self._apis[name] = Api(name, plane.kubeconfig)
        return self._apis[name]

    def kill_api(self, name: str) -> None:
        """SIGKILL."""
        self.do(self.plane(name).programs[API].kill())

    def start_api(self, name: str) -> None:
        self.do(self.plane(name).start_api())

    def compact(self) -> None:
        """etcd forgets every version but the present one: who asks for an older one is told 410."""
        with httpx.Client(base_url=self.planes.store, trust_env=False) as http:
            found = http.post("/v3/kv/range", json={"key": "AA=="}).raise_for_status().json()
            http.post("/v3/kv/compaction", json={"revision": found["header"]["revision"], "physical": True})

    def stop(self) -> None:
        for api in self._apis.values():
            api.http.close()
        self.do(self.planes.stop())
        self.do(_ended())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


async def _ended() -> None:
    """What still runs on this loop, as an answer to who has hung up: nobody awaits it any more."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


def node(name: str) -> dict[str, Any]:
    labels = {"kubernetes.io/hostname": name, "nvidia.com/gpu.product": "A100"}
    status = {"capacity": NODE, "allocatable": NODE}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def through(kubeconfig: Path, url: str) -> dict[str, Any]:
    """The same credentials, at another address."""
    config: dict[str, Any] = json.loads(kubeconfig.read_text())
    config["clusters"][0]["cluster"] = {"server": url}
    return config


def crd(group: str, kind: str, version: str = "v1", scope: str = "Namespaced") -> dict[str, Any]:
    """A kind whose objects may hold anything, with a status."""
    plural = f"{kind.lower()}s"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}", "annotations": {"api-approved.kubernetes.io": "unapproved"}},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [{**served, "subresources": {"status": {}}}],
        },
    }
