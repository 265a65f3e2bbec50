"""Who applies jobs on the hub, changes and deletes them: they reach it whatever stands between it and Fairway."""

import ssl
from itertools import count
from typing import Any

import httpx

from fairway.lab.kubereal.members import HUB
from fairway.lab.kubesim.pod_behaviour import RUN_FOR
from fairway.lab.traces.trace import GPU
from tests.faults.arena.arena import Arena

Json = dict[str, Any]
TENANT = "vc-0"
JOBS = f"apis/batch/v1/namespaces/{TENANT}/jobs"
POLICIES = f"apis/policy.karmada.io/v1alpha1/namespaces/{TENANT}/propagationpolicies"
# What somebody who changes an object writes into it.
WISH = "fairway.test/wish"
_MERGE = {"Content-Type": "application/merge-patch+json"}


class HubPeople:
    """`applied` are the uids of the objects that are there, by name, and `deleted` those of others; `wishes` what was
    written last into those that were changed, by uid."""

    def __init__(self, arena: Arena) -> None:
        hub = arena.kube.clusters[HUB]
        trust = ssl.create_default_context(cadata=hub.certificate.decode())
        known = {"Authorization": f"Bearer {arena.token}"}
        self._client = httpx.AsyncClient(base_url=hub.url, verify=trust, headers=known)
        self._numbers = count()
        self.applied: dict[str, str] = {}
        self.deleted: set[str] = set()
        self.wishes: dict[str, str] = {}

    async def apply(self, jobs: int = 1, run_for: str = "1s", suspend: bool = False) -> list[str]:
        """The names of as many new jobs of one GPU."""
        names = [f"hub-{next(self._numbers)}" for _ in range(jobs)]
        for name in names:
            main = {"name": "main", "image": "x", "resources": {"limits": {GPU: "1"}}}
            pod = {"restartPolicy": "Never", "containers": [main]}
            spec = {"suspend": suspend, "template": {"metadata": {"annotations": {RUN_FOR: run_for}}, "spec": pod}}
            made = await self._post(JOBS, {"apiVersion": "batch/v1", "kind": "Job", **_named(name), "spec": spec})
            self.applied[name] = made["metadata"]["uid"]
        return names

    async def change(self, name: str, wish: str, suspend: bool = False) -> None:
        """The owner writes something into the object, and lets it go if it was suspended."""
        body = {"metadata": {"annotations": {WISH: wish}}, "spec": {"suspend": suspend}}
        (await self._client.patch(f"{JOBS}/{name}", json=body, headers=_MERGE)).raise_for_status()
        self.wishes[self.applied[name]] = wish

    async def delete(self, name: str) -> None:
        """As kubectl does: in the background."""
        how = {"propagationPolicy": "Background"}
        (await self._client.request("DELETE", f"{JOBS}/{name}", json=how)).raise_for_status()
        self.deleted.add(self.applied.pop(name))

    async def set_policy(self, name: str, **spec: Any) -> None:
        """Of jobs of this name, of which there are none, unless `spec` says otherwise."""
        policy = {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", **_named(name)}
        selects = [{"apiVersion": "batch/v1", "kind": "Job", "name": name}]
        await self._post(POLICIES, {**policy, "spec": {"resourceSelectors": selects, "placement": {}, **spec}})

    async def _post(self, path: str, body: Json) -> Json:
        answer = await self._client.post(path, json=body)
        answer.raise_for_status()
        made: Json = answer.json()
        return made

    async def close(self) -> None:
        await self._client.aclose()


def _named(name: str) -> Json:
    return {"metadata": {"name": name, "namespace": TENANT}}
