"""Nodes of a test's own in a member of the shared fleet: tainted, so that nobody else's pods come there."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.kubernetes.support.fleet import Api, condition, until

Json = dict[str, Any]

_KEY = "fairway.test/pool"
_AMOUNTS = {"cpu": "32", "memory": "256Gi", "pods": "110", "nvidia.com/gpu": "4"}


class Pool:
    """`nodes` with 4 GPUs each; `pod_rules` lets a pod template come here, and nowhere else."""

    def __init__(self, api: Api, name: str, count: int) -> None:
        self.api = api
        self.name = name
        self.nodes = [f"{name}-{number}" for number in range(count)]

    @property
    def pod_rules(self) -> Json:
        return {
            "nodeSelector": {_KEY: self.name},
            "tolerations": [{"key": _KEY, "operator": "Equal", "value": self.name, "effect": "NoSchedule"}],
        }

    def open(self) -> None:
        for node in self.nodes:
            labels = {_KEY: self.name, "kubernetes.io/hostname": node}
            spec = {"taints": [{"key": _KEY, "value": self.name, "effect": "NoSchedule"}]}
            status = {"capacity": _AMOUNTS, "allocatable": _AMOUNTS}
            self.api.create("v1/nodes", {"metadata": {"name": node, "labels": labels}, "spec": spec, "status": status})
        for node in self.nodes:
            until(lambda node=node: condition(self.api.get(f"v1/nodes/{node}"), "Ready") == "True", f"{node} ready")

    def close(self) -> None:
        for node in self.nodes:
            self.api.delete(f"v1/nodes/{node}")

    def fill(self, namespace: str, node: str, gpus: int) -> None:
        """A stranger's pod on this node, for ever."""
        container = {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}
        spec = {"nodeName": node, "containers": [container]}
        self.api.create(f"v1/namespaces/{namespace}/pods", {"metadata": {"name": f"filler-{node}"}, "spec": spec})
        path = f"v1/namespaces/{namespace}/pods/filler-{node}"
        until(lambda: self.api.get(path)["status"]["phase"] == "Running", f"a filler on {node}")

    def free(self, namespace: str, node: str) -> None:
        self.api.delete(f"v1/namespaces/{namespace}/pods/filler-{node}")


@contextmanager
def pool(api: Api, name: str, count: int) -> Iterator[Pool]:
    made = Pool(api, name, count)
    try:
        made.open()
        yield made
    finally:
        made.close()
