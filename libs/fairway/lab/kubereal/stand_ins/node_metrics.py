"""In place of koordlets: writes what every node uses into its NodeMetric, from which Koordinator makes batch resources.

A running pod uses a quarter of what it requests, or the share that its annotation `fairway.test/cpu-use` says. Beside
its pods a node uses 1 CPU and 2 GiB, or what its own annotation `fairway.test/uses` says, within two seconds.
"""

import asyncio
import contextlib
import time
from collections import defaultdict
from collections.abc import Iterable

import msgspec
from msgspec import Struct

from fairway.domain.resources import parse_quantity
from fairway.lab.kubereal.admin import Json, PlaneAdmin, admin
from fairway.lab.kubereal.control_plane import Plane
from fairway.runtime.cluster_port import ClusterRefused
from fairway.runtime.ports import Unreachable

USE = "fairway.test/cpu-use"
# On a node: resources as JSON.
NODE_USES = "fairway.test/uses"
# Koordinator writes a node's batch resources anew when figures are older than 30 s, and drops them after 5 minutes.
_EVERY_S = 10.0
_UNTIL_THERE_S = 0.2
# How soon a node's annotation is seen.
_LOOK_S = 1.0
_NODES = "/api/v1/nodes"
METRICS = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics"
_USED = 0.25
_SYSTEM = (1_000, 2 * 2**30)
Usage = tuple[int, int]  # millicores, bytes


class NodeUse(Struct):
    """What the pods of one node use, each and together."""

    total: Usage = (0, 0)
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


def beside_pods(node: Json) -> Usage:
    """What this node uses for anything that is no pod."""
    try:
        said = msgspec.json.decode((node["metadata"].get("annotations") or {})[NODE_USES], type=dict[str, str])
        return _amount(said, "cpu"), _amount(said, "memory")
    except (KeyError, ValueError):
        return _SYSTEM


def status(use: NodeUse, now: str, beside: Usage = _SYSTEM) -> Json:
    """`status` of a NodeMetric, `now` as RFC 3339."""
    total = (use.total[0] + beside[0], use.total[1] + beside[1])
    figures = {"nodeUsage": _shown(total), "systemUsage": _shown(beside)}
    return {"updateTime": now, "nodeMetric": figures, "podsMetric": list(use.pods)}


async def feed(plane: Plane) -> None:
    """Until it is cancelled. A cluster that does not answer is asked again."""
    async with admin(plane) as api:
        while True:
            told = None
            with contextlib.suppress(Unreachable, ClusterRefused):
                told = await _tell(api)
            if told is None:
                await asyncio.sleep(_UNTIL_THERE_S)
            else:
                await _while_the_same(api, told)


async def _while_the_same(api: PlaneAdmin, told: dict[str, Usage]) -> None:
    """Until a node says something else of itself, and no longer than figures may be old."""
    with contextlib.suppress(Unreachable, ClusterRefused, TimeoutError):
        async with asyncio.timeout(_EVERY_S):
            while True:
                await asyncio.sleep(_LOOK_S)
                if _by_name(await api.get(_NODES)) != told:
                    return


async def _tell(api: PlaneAdmin) -> dict[str, Usage] | None:
    """What was told of each node beside its pods. None while a node has no NodeMetric; koord-manager makes them."""
    metrics, nodes, pods = await asyncio.gather(api.get(METRICS), api.get(_NODES), api.get("/api/v1/pods"))
    names = [one["metadata"]["name"] for one in _items(metrics)]
    found = uses(_items(pods))
    beside = _by_name(nodes)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    said = {name: status(found[name], now, beside.get(name, _SYSTEM)) for name in names}
    await asyncio.gather(*(api.merge(f"{METRICS}/{name}/status", {"status": one}) for name, one in said.items()))
    return beside if names and len(names) >= len(beside) else None


def _by_name(nodes: Json | None) -> dict[str, Usage]:
    return {one["metadata"]["name"]: beside_pods(one) for one in _items(nodes)}


def _items(listed: Json | None) -> list[Json]:
    return list((listed or {"items": []})["items"])


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
