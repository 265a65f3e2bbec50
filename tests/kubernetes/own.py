"""Servers that a test may break: of its worker's own, started one by one as they are asked for, kept until the end.

They run on the loop of a thread, so that tests, which each have a loop of their own, can use one set of them.
"""

import asyncio
import json
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import httpx
from fleet import Api

from fairway.kubereal.build import tools
from fairway.kubereal.plane import Plane, Planes, Spec, member

T = TypeVar("T")
API = "kube-apiserver"
NODES = 2
NODE = {"cpu": "16", "memory": "64Gi", "pods": "110", "nvidia.com/gpu": "8"}


class Own:
    """`hub` has no controllers; every other cluster runs pods on two nodes of 8 GPUs."""

    def __init__(self, dir: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._planes = Planes(dir, tools(("kube", "kwok")))
        self._begun = False
        self._apis: dict[str, Api] = {}

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(180)

    def plane(self, name: str) -> Plane:
        if not self._begun:
            self._do(self._planes.start(()))
            self._begun = True
        if name not in self._planes.by_name:
            self._do(self._planes.add(Spec(name) if name == "hub" else member(name)))
            for number in range(0 if name == "hub" else NODES):
                self.api(name).create("v1/nodes", node(f"{name}-{number}"))
        return self._planes[name]

    def api(self, name: str) -> Api:
        plane = self.plane(name)
        if name not in self._apis:
            self._apis[name] = Api(name, plane.kubeconfig)
        return self._apis[name]

    def kill_api(self, name: str) -> None:
        """SIGKILL."""
        self._do(self.plane(name).programs[API].kill())

    def start_api(self, name: str) -> None:
        self._do(self.plane(name).start_api())

    def compact(self) -> None:
        """etcd forgets every version but the present one: who asks for an older one is told 410."""
        with httpx.Client(base_url=self._planes.store, trust_env=False) as http:
            found = http.post("/v3/kv/range", json={"key": "AA=="}).raise_for_status().json()
            http.post("/v3/kv/compaction", json={"revision": found["header"]["revision"], "physical": True})

    def stop(self) -> None:
        for api in self._apis.values():
            api.http.close()
        self._do(self._planes.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


def node(name: str) -> dict[str, Any]:
    labels = {"kubernetes.io/hostname": name, "nvidia.com/gpu.product": "A100"}
    status = {"capacity": NODE, "allocatable": NODE}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def through(kubeconfig: Path, url: str) -> dict[str, Any]:
    """The same credentials, at another address."""
    config: dict[str, Any] = json.loads(kubeconfig.read_text())
    config["clusters"][0]["cluster"] = {"server": url}
    return config


def crd(group: str, kind: str, version: str = "v1") -> dict[str, Any]:
    """A kind whose objects may hold anything, with a status."""
    plural = f"{kind.lower()}s"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [{**served, "subresources": {"status": {}}}],
        },
    }
