"""Nodes of a simulated cluster: groups of equal ones, and the Node objects made of them."""

from collections.abc import Iterator

import msgspec

from fairway.lab.kubesim.api.errors import Json

# A kubelet's default for maxPods.
MOST_PODS = "110"
# Typed clients refuse a node without every one of these.
_MACHINE = {
    "architecture": "amd64",
    "operatingSystem": "linux",
    "kernelVersion": "6.1.0",
    "osImage": "kubesim",
    "containerRuntimeVersion": "kubesim://1",
    "kubeletVersion": "v1.34.4",
    "kubeProxyVersion": "v1.34.4",
}
UNREACHABLE = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}


class NodeGroup(msgspec.Struct, frozen=True, omit_defaults=True):
    """`count` equal nodes `<prefix>-<n>`. `allocatable` are Kubernetes quantities by resource name;
    `taints` are (key, value, effect) as in a Node: {"key": ..., "value": ..., "effect": ...}."""

    count: int
    prefix: str
    allocatable: dict[str, str]
    labels: dict[str, str] = {}
    taints: tuple[dict[str, str], ...] = ()
    first: int = 0

    def nodes(self) -> Iterator[Json]:
        for number in range(self.first, self.first + self.count):
            yield self.node(f"{self.prefix}-{number}")

    def node(self, name: str) -> Json:
        amounts = {"pods": MOST_PODS, **{key: str(value) for key, value in self.allocatable.items()}}
        labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
        spec: Json = {"providerID": f"kubesim://{name}"}
        if self.taints:
            spec["taints"] = [dict(taint) for taint in self.taints]
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {**labels, **self.labels}},
            "spec": spec,
            "status": {
                "capacity": amounts,
                "allocatable": dict(amounts),
                "conditions": [ready_condition(True)],
                "nodeInfo": {**_MACHINE, "machineID": name, "systemUUID": name, "bootID": name},
                "addresses": [{"type": "Hostname", "address": name}],
            },
        }


def ready_condition(ready: bool) -> Json:
    if ready:
        return {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is ready"}
    text = "Kubelet stopped posting node status."
    return {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": text}


def marked(node: Json, ready: bool) -> Json:
    """The node as the node controller marks one that is silent, or is heard of again."""
    others = [taint for taint in node["spec"].get("taints") or () if taint["key"] != UNREACHABLE["key"]]
    taints = others if ready else [*others, UNREACHABLE]
    conditions = [one for one in node["status"].get("conditions", ()) if one["type"] != "Ready"]
    status = {**node["status"], "conditions": [*conditions, ready_condition(ready)]}
    return {
        **node,
        "metadata": dict(node["metadata"]),
        "spec": {**node["spec"], "taints": taints},
        "status": status,
    }
