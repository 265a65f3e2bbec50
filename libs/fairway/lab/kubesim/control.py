"""What a person, a demo or a test may do to a cluster: lose nodes, fail jobs, evict pods, refuse requests."""

from collections.abc import Iterator
from typing import Any

import msgspec

from fairway.lab.kubesim import colocation, nodes
from fairway.lab.kubesim.api.api import ClusterApi
from fairway.lab.kubesim.api.errors import ApiError, Json, no_such_path, not_found
from fairway.lab.kubesim.api.metadata import Deletion
from fairway.lab.kubesim.api.registry import ApiResource
from fairway.lab.kubesim.api.store import Key, StoredObject
from fairway.lab.kubesim.faults import Faults
from fairway.lab.kubesim.kubelet import Kubelet


class Control:
    def __init__(self, api: ClusterApi, faults: Faults, kubelet: Kubelet | None) -> None:
        self._api = api
        self._faults = faults
        self._kubelet = kubelet

    # ---- nodes
    def add_nodes(self, group: nodes.NodeGroup) -> list[str]:
        """Adds the group's nodes; their names."""
        made = [self._api.create(self._resource("nodes"), "", node) for node in group.nodes()]
        if colocation.listed(group.allocatable):
            self._convert_pods()
        return [one.key.name for one in made]

    def _convert_pods(self) -> None:
        profiles = self._api.registry.of_kind("config.koordinator.sh/v1alpha1", "ClusterColocationProfile")
        name = colocation.PROFILE["metadata"]["name"]
        if profiles and not self._api.store.get(Key(profiles.storage, "", name)):
            self._api.create(profiles, "", colocation.PROFILE)

    def remove_node(self, name: str) -> None:
        """The node goes, its pods with it, as after a machine was taken away."""
        resource = self._resource("nodes")
        stored = self._api.get(resource, "", name)
        for key in tuple(self._pods_on(name)):
            self._end(key, "NodeLost", f"node {name} was removed")
        self._api.delete(resource, stored, Deletion())

    def lose_node(self, name: str) -> None:
        """The node turns NotReady; its pods end Failed with reason NodeLost."""
        self._mark(name, ready=False)
        for key in tuple(self._pods_on(name)):
            self._end(key, "NodeLost", f"node {name} is lost")

    def return_node(self, name: str) -> None:
        self._mark(name, ready=True)

    def _mark(self, name: str, ready: bool) -> None:
        stored = self._api.get(self._resource("nodes"), "", name)
        self._api.store.put(stored.key, nodes.marked(stored.obj, ready))

    # ---- jobs and pods
    def fail_job(self, namespace: str, name: str, reason: str = "Error", code: int = 1) -> int:
        """Every running pod below a job of this name (any kind) exits with `code`; how many."""
        jobs = [stored for stored in self._jobs() if (stored.key.namespace, stored.key.name) == (namespace, name)]
        if not jobs:
            raise not_found("jobs", f"{namespace}/{name}")
        pods = [key for job in jobs for key in self._pods_below(job)]
        for key in pods:
            if self._kubelet:
                self._kubelet.end(key, code, reason)
        return len(pods)

    def evict_pod(self, namespace: str, name: str) -> None:
        """The pod ends Failed with reason Evicted, as when its node runs short of something."""
        self._api.get(self._resource("pods"), namespace, name)
        self._end(Key("pods", namespace, name), "Evicted", "The node was low on resource: memory.")

    # ---- the API itself
    def refuse(self, mode: str = "503", for_ms: int = 0) -> None:
        """Answer nothing but errors for a while, or until `restore`: 503, 429, timeout, reset."""
        self._faults.refuse(mode, for_ms)

    def restore(self) -> None:
        self._faults.restore()

    async def answer(self, what: str, body: Any) -> Json:
        """POST /sim/<what> with the arguments of the method of that name as JSON."""
        given = body if isinstance(body, dict) else {}
        try:
            match what:
                case "add-nodes":
                    return {"nodes": self.add_nodes(msgspec.convert(given, nodes.NodeGroup))}
                case "fail-job":
                    return {"pods": self.fail_job(**given)}
                case "remove-node" | "lose-node" | "return-node" | "evict-pod" | "refuse" | "restore":
                    getattr(self, what.replace("-", "_"))(**given)
                case _:
                    raise no_such_path()
        except (TypeError, ValueError) as error:
            raise ApiError(422, "Invalid", f"/sim/{what}: {error}; see fairway/lab/kubesim/control.py") from None
        return {"done": what}

    def _resource(self, storage: str) -> ApiResource:
        found = self._api.registry.find("", "v1", storage)
        assert found
        return found

    def _jobs(self) -> Iterator[StoredObject]:
        for storage in self._api.store.storages():
            if "." in storage or storage == "jobs":
                yield from self._api.store.all(storage)

    def _pods_below(self, owner: StoredObject) -> Iterator[Key]:
        for key in self._api.store.owned_by(owner.obj["metadata"]["uid"]):
            child = self._api.store.get(key)
            if child and key.storage == "pods":
                yield key
            elif child:
                yield from self._pods_below(child)

    def _pods_on(self, node: str) -> Iterator[Key]:
        for stored in self._api.store.all("pods"):
            if stored.obj["spec"].get("nodeName") == node:
                yield stored.key

    def _end(self, key: Key, pod_reason: str, text: str) -> None:
        if self._kubelet:
            self._kubelet.end(key, 137, text, pod_reason)
