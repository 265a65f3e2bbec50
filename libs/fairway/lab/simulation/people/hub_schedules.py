"""Those who set schedules on the hub, suspend them, change when they run, delete and replace them. They draw from a
chance of their own."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

from fairway.lab.kubesim.api.store import StoredObject
from fairway.lab.simulation.hub.cluster import SimulatedHub, leaving
from fairway.lab.simulation.hub.schedules import CRON_JOB, CRON_WORKFLOW, FORBID, REPLACE, RUN_OF, every
from fairway.lab.simulation.members.controllers import kind_of
from fairway.lab.simulation.members.pods import GPU
from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.people.hub_companions import NAMES, REFS

Json = dict[str, Any]
_TENANTS = ("team-a", "team-b")
_MINUTES = (1, 1, 2, 3, 5)
# One schedule for as many jobs on the hub, and two at least.
_SHARE = 3
_HOUR = 3600.0
_DEADLINES = (None, None, 30, 200)
_LIMITS = (None, None, 0, 1)


class HubSchedules:
    def __init__(self, hub: SimulatedHub, plan: RunPlan) -> None:
        self._hub = hub
        self._rng = Random(f"schedules {plan.seed}")
        self._count = max(2, plan.on_hub // _SHARE)
        self._plan = plan

    async def live(self) -> None:
        """Returns when the time of trouble is over, and what they began."""
        span = self._plan.hours * _HOUR
        rng = self._rng
        begun = [self._at(rng.uniform(0, span / 2), self._set(f"nightly-{one}")) for one in range(self._count)]
        acts: tuple[Callable[[], Awaitable[None]], ...] = (self._suspend, self._resume, self._change, self._replace)
        later = [self._at(rng.uniform(0, span), act()) for _ in range(self._count) for act in acts]
        await asyncio.gather(*begun, *later)

    async def _at(self, seconds: float, act: Awaitable[None]) -> None:
        await asyncio.sleep(seconds)
        await act

    async def _set(self, name: str) -> None:
        kind = self._rng.choice((CRON_JOB, CRON_JOB, CRON_WORKFLOW))
        self._hub.put(kind, self._schedule(kind, name, self._rng.choice(_TENANTS)))

    def _schedule(self, kind: str, name: str, tenant: str) -> Json:
        rng = self._rng
        optional = {
            "successfulJobsHistoryLimit": rng.choice(_LIMITS),
            "failedJobsHistoryLimit": rng.choice(_LIMITS),
            "startingDeadlineSeconds": rng.choice(_DEADLINES),
        }
        spec: Json = {
            "schedule": every(rng.choice(_MINUTES)),
            "concurrencyPolicy": rng.choice(("Allow", FORBID, FORBID, REPLACE)),
            **{field: value for field, value in optional.items() if value is not None},
            **({"suspend": True} if rng.random() < 0.1 else {}),
        }
        gpus = rng.choice((1, 2, 4))
        if kind == CRON_WORKFLOW:
            container = {"image": "x", "command": ["train"], "resources": {"limits": {GPU: gpus}}}
            spec["workflowSpec"] = {"entrypoint": "main", "templates": [{"name": "main", "container": container}]}
        else:
            spec["jobTemplate"] = {"spec": self._job(gpus)}
        return {"metadata": {"name": name, "namespace": tenant}, "spec": spec}

    def _job(self, gpus: int) -> Json:
        container: Json = {"name": "main", "image": "x", "resources": {"limits": {GPU: gpus}}}
        if self._plan.companions:
            container["envFrom"] = [{REFS[kind]: {"name": name}} for kind, name in sorted(NAMES.items())]
        pods = self._rng.choice((1, 1, 2))
        template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
        return {"parallelism": pods, "completions": pods, "template": template}

    def _some(self) -> StoredObject | None:
        found = [one for kind in sorted(RUN_OF) for one in self._hub.every(kind) if not leaving(one)]
        return self._rng.choice(found) if found else None

    def _edit(self, found: StoredObject | None, **fields: Any) -> None:
        if found is not None:
            self._hub.edit(kind_of(found), found, lambda now: {**now, "spec": {**now["spec"], **fields}})

    async def _suspend(self) -> None:
        self._edit(self._some(), suspend=True)

    async def _resume(self) -> None:
        self._edit(self._some(), suspend=False)

    async def _change(self) -> None:
        self._edit(self._some(), schedule=every(self._rng.choice(_MINUTES)))

    async def _replace(self) -> None:
        """Deleted, and most often another one of its name set, at once or a little later."""
        found = self._some()
        if found is None or self._rng.random() < 0.3:
            return
        self._hub.remove(found)
        await asyncio.sleep(self._rng.choice((0.0, 0.5, 30.0)))
        if self._rng.random() < 0.8:
            self._hub.put(kind_of(found), self._schedule(kind_of(found), found.key.name, found.key.namespace))

    def settle(self) -> None:
        """Else there would be ever more jobs."""
        for kind in RUN_OF:
            for found in self._hub.every(kind):
                self._edit(found, suspend=True)
