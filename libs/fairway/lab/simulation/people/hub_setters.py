"""Those who set policies, queues and classes on the hub, change them, and take them away for a while."""

import asyncio
from random import Random
from typing import Any

from fairway.lab.simulation.hub.cluster import SimulatedHub
from fairway.lab.simulation.people import hub_jobs
from fairway.lab.simulation.people.administrators import apply

Json = dict[str, Any]
# When what a job waits for comes (s).
LATER = (0.5, 5.0, 60.0, 300.0)


class HubSetters:
    def __init__(self, hub: SimulatedHub, rng: Random) -> None:
        self._hub = hub
        self._rng = rng

    def set(self, kind: str, manifest: Json) -> None:
        name, _, version = kind.partition(".")
        apply(self._hub, {"apiVersion": version, "kind": name, **manifest})

    async def change_policy(self) -> None:
        """Somebody's own: other attempts, away, or away and there again."""
        rng = self._rng
        found = sorted(self._hub.every(hub_jobs.POLICY), key=lambda one: one.key)
        if not found:
            return
        one = rng.choice(found)
        if rng.random() < 0.5:
            attempts = str(rng.choice((19, 20, 21)))
            self._hub.edit(
                hub_jobs.POLICY, one, lambda now: hub_jobs.annotated(now, "fairway.io/max-attempts", attempts)
            )
            return
        self._hub.remove(one)
        await asyncio.sleep(rng.choice(LATER))
        if rng.random() < 0.5:
            self.set(hub_jobs.POLICY, hub_jobs.own_policy(one.key.name, one.key.namespace))

    async def change_queue(self) -> None:
        """Another policy of the blocking queue or of a late one, or one of these goes for a while."""
        rng = self._rng
        found = sorted(self._hub.every(hub_jobs.QUEUE), key=lambda one: one.key)
        if not found:
            return
        one = rng.choice(found)
        policy = rng.choice(("Priority", "Block", "FIFO"))
        if rng.random() < 0.7:
            self._hub.edit(hub_jobs.QUEUE, one, lambda now: {**now, "spec": {"queuePolicy": policy}})
            return
        self._hub.remove(one)
        await asyncio.sleep(rng.choice(LATER))
        self.set(hub_jobs.QUEUE, hub_jobs.queue(one.key.name, policy))
