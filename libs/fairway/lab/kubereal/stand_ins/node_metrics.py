"""In place of koordlets: writes what every node uses into its NodeMetric, from which Koordinator makes batch resources.

A running pod uses a quarter of what it requests, or the share that its annotation `fairway.test/cpu-use` says; the
system of a node uses 1 CPU and 2 GiB.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable

from msgspec import Struct

from fairway.domain.resources import parse_quantity
from fairway.lab.kubereal.admin import Json, PlaneAdmin, admin
from fairway.lab.kubereal.control_plane import Plane
from fairway.runtime.cluster_port import ClusterRefused
from fairway.runtime.ports import Unreachable

USE = "fairway.test/cpu-use"
# Koordinator writes a node's batch resources anew when figures are older than 30 s, and drops them after 5 minutes.
_EVERY_S = 10.0
_UNTIL_THERE_S = 0.2
METRICS = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics"
_USED = 0.25
_SYSTEM = (1_000, 2 * 2**30)
Usage = tuple[int, int]  # millicores, bytes


class NodeUse(Struct):
    """What the pods of one node use, each and together."""

    total: Usage = _SYSTEM
    pods: tuple[Json, ...] = ()


def uses(pods: Iterable[Json]) -> dict[str, NodeUse]:
    """By node, of running pods."""
    found: dict[str, NodeUse] = defaultdict(NodeUse)
    for pod in pods:
        node = pod["spec"].get("nodeName")
        if node and (pod.get("status") or {}).get("phase") == "Running":
            used = _use(pod)
            metadata = pod["metadata"]
            sums = found[node]
            sums.total = (sums.total[0] + used[0], sums.total[1] + used[1])
            entry = {"name": metadata["name"], "namespace": metadata["namespace"], "podUsage": _shown(used)}
            sums.pods = (*sums.pods, entry)
    return found


def status(use: NodeUse, now: str) -> Json:
    """`status` of a NodeMetric, `now` as RFC 3339."""
    figures = {"nodeUsage": _shown(use.total), "systemUsage": _shown(_SYSTEM)}
    return {"updateTime": now, "nodeMetric": figures, "podsMetric": list(use.pods)}


async def feed(plane: Plane) -> None:
    """Until it is cancelled. A cluster that does not answer is asked again."""
    async with admin(plane) as api:
        while True:
            try:
                told = await _tell(api)
            except (Unreachable, ClusterRefused):
                told = False
            await asyncio.sleep(_EVERY_S if told else _UNTIL_THERE_S)


async def _tell(api: PlaneAdmin) -> bool:
    """Whether there was a NodeMetric for every node; koord-manager makes them."""
    metrics, nodes, pods = await asyncio.gather(api.get(METRICS), api.get("/api/v1/nodes"), api.get("/api/v1/pods"))
    names = [one["metadata"]["name"] for one in (metrics or {"items": []})["items"]]
    found = uses((pods or {"items": []})["items"])
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    said = [api.merge(f"{METRICS}/{name}/status", {"status": status(found[name], now)}) for name in names]
    await asyncio.gather(*said)
    return bool(names) and len(names) >= len((nodes or {"items": []})["items"])


def _use(pod: Json) -> Usage:
    try:
        share = float((pod["metadata"].get("annotations") or {}).get(USE, _USED))
    except ValueError:
        share = _USED
    asked = [container.get("resources", {}).get("requests") or {} for container in pod["spec"]["containers"]]
    batch = "kubernetes.io/batch-"
    cpu = sum(_amount(one, "cpu") + _amount(one, f"{batch}cpu") for one in asked)
    memory = sum(_amount(one, "memory") + _amount(one, f"{batch}memory") for one in asked)
    return int(cpu * share), int(memory * share)


def _amount(requests: Json, name: str) -> int:
    return parse_quantity(name, requests.get(name, "0"))


def _shown(use: Usage) -> Json:
    return {"resources": {"cpu": f"{use[0]}m", "memory": str(use[1])}}
