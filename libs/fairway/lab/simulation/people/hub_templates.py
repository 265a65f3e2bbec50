"""Those who apply workflows on the hub that refer to templates, and those whose templates these are: templates come
before or after, change, and go for a while. They draw from a chance of their own."""

import asyncio
from random import Random
from typing import Any

from fairway.lab.kubesim.api.store import StoredObject
from fairway.lab.simulation.hub.cluster import SimulatedHub, leaving
from fairway.lab.simulation.members.pods import GPU, WORKFLOW
from fairway.lab.simulation.people.administrators import apply
from fairway.lab.simulation.people.hub_setters import LATER

Json = dict[str, Any]
LIB = "WorkflowTemplate.argoproj.io/v1alpha1"
WIDE = "ClusterWorkflowTemplate.argoproj.io/v1alpha1"
TENANTS = ("team-a", "team-b")
# One workflow for as many jobs on the hub, and two at least.
_SHARE = 3
_HOUR = 3600.0


def workflow(name: str, tenant: str, template: str, wide: bool) -> Json:
    reference: Json = {"name": template, "template": "work", **({"clusterScope": True} if wide else {})}
    steps = [[{"name": "one", "templateRef": reference}]]
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": name, "namespace": tenant},
        "spec": {"entrypoint": "main", "templates": [{"name": "main", "steps": steps}]},
    }


def template(kind: str, namespace: str, name: str, gpus: int, image: str) -> Json:
    container = {"image": image, "command": ["train"], "resources": {"limits": {GPU: gpus}}}
    plain, _, version = kind.partition(".")
    where = {"namespace": namespace} if namespace else {}
    spec = {"templates": [{"name": "work", "container": container}]}
    return {"apiVersion": version, "kind": plain, "metadata": {"name": name, **where}, "spec": spec}


class HubTemplates:
    def __init__(self, hub: SimulatedHub, seed: int, jobs: int, hours: float) -> None:
        self._hub = hub
        self._rng = Random(f"templates {seed}")
        self._jobs = max(2, jobs // _SHARE)
        self._hours = hours

    async def live(self) -> None:
        """Returns when the time of trouble is over, and what they began."""
        span = self._hours * _HOUR
        acts = [self._workflow(number) for number in range(self._jobs)]
        acts += [act() for _ in range(2 * self._jobs) for act in (self._change, self._take_away)]
        acts += [self._touch() for _ in range(self._jobs)]
        await asyncio.gather(*(self._after(self._rng.uniform(0, span), act) for act in acts))

    async def _after(self, seconds: float, act: Any) -> None:
        await asyncio.sleep(seconds)
        await act

    async def _workflow(self, number: int) -> None:
        rng = self._rng
        tenant = rng.choice(TENANTS)
        kind = rng.choice((LIB, WIDE))
        name = f"lib-{rng.randrange(max(1, self._jobs // 2))}"
        if rng.random() < 0.5:
            self._set(kind, tenant, name)
            await asyncio.sleep(rng.choice((0.0, 2.0)))
        self._hub.put(WORKFLOW, workflow(f"flow-{number}", tenant, name, kind == WIDE))
        if rng.random() < 0.8:
            await asyncio.sleep(rng.choice(LATER))
            self._set(kind, tenant, name)

    def _set(self, kind: str, tenant: str, name: str) -> None:
        rng = self._rng
        made = template(kind, "" if kind == WIDE else tenant, name, rng.choice((1, 2, 4)), f"x:{rng.randrange(9)}")
        apply(self._hub, made)

    def _some(self, *kinds: str) -> StoredObject | None:
        found = sorted((one for kind in kinds for one in self._hub.every(kind)), key=lambda one: one.key)
        there = [one for one in found if not leaving(one)]
        return self._rng.choice(there) if there else None

    async def _change(self) -> None:
        if (found := self._some(LIB, WIDE)) is not None:
            kind = LIB if found.key.namespace else WIDE
            self._set(kind, found.key.namespace, found.key.name)

    async def _take_away(self) -> None:
        found = self._some(LIB, WIDE)
        if found is None:
            return
        kind = LIB if found.key.namespace else WIDE
        self._hub.remove(found)
        await asyncio.sleep(self._rng.choice(LATER))
        if self._rng.random() < 0.8:
            self._set(kind, found.key.namespace, found.key.name)

    async def _touch(self) -> None:
        """What the owner of a workflow does with it."""
        found = self._some(WORKFLOW)
        if found is None:
            return
        if self._rng.random() < 0.3:
            self._hub.remove(found)
            return
        most = self._rng.choice((1, 2, 3))
        self._hub.edit(WORKFLOW, found, lambda now: {**now, "spec": {**now["spec"], "parallelism": most}})
