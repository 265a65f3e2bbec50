"""The hub's own controller of CronJobs, as a managed control plane has one: it is late, and away now and then."""

import asyncio
from random import Random
from typing import Any

from fairway.lab.kubesim.api.store import StoredObject
from fairway.lab.simulation.hub.cluster import SimulatedHub, leaving, uid_of
from fairway.lab.simulation.hub.schedules import CRON_JOB, FORBID, REPLACE, last, made, newest, owner_of, run_name
from fairway.lab.simulation.invariants.hub_statuses import OVER, shown
from fairway.lab.simulation.members.pods import JOB
from fairway.lab.simulation.people.faults import FaultInjector

Json = dict[str, Any]
_LOOK_S = 1.0
# How long it is away, and how long it is there in between on average (s).
_AWAY = (5.0, 15.0, 60.0, 300.0)
_THERE = 180.0


class ScheduleController:
    """What it does is drawn from a chance of its own."""

    def __init__(self, hub: SimulatedHub, faults: FaultInjector, seed: int) -> None:
        self._hub = hub
        self._faults = faults
        self._rng = Random(f"controller {seed}")

    async def live(self) -> None:
        while True:
            there = self._rng.expovariate(1 / _THERE)
            while there > 0 or self._faults.clears:
                for found in self._hub.every(CRON_JOB):
                    if not leaving(found):
                        self._tend(found)
                await asyncio.sleep(_LOOK_S)
                there -= _LOOK_S
            await asyncio.sleep(self._rng.choice(_AWAY))

    def _tend(self, found: StoredObject) -> None:
        """One schedule, as Kubernetes does it: of runs that were missed the newest is made."""
        spec = found.obj["spec"]
        now = self._hub.api.clock.now()
        at = newest(spec, now)
        active = self._active(found)
        deadline = spec.get("startingDeadlineSeconds")
        late = deadline is not None and now > at + deadline * 1000
        forbidden = bool(active) and spec.get("concurrencyPolicy") == FORBID
        if at <= last(CRON_JOB, found) or spec.get("suspend") or late or forbidden:
            self._show(found, active)
            return
        for one in active if spec.get("concurrencyPolicy") == REPLACE else ():
            self._hub.remove(one)
        name = run_name(CRON_JOB, found.key.name, at)
        run = self._hub.put(JOB, _run(found, name)) or self._hub.stored(JOB, found.key.namespace, name)
        if run is not None and owner_of(run)[1] == uid_of(found):
            status = made(CRON_JOB, at, _named(self._active(found)))
            self._hub.edit(CRON_JOB, found, lambda old: {**old, "status": status}, "status")

    def _active(self, found: StoredObject) -> list[StoredObject]:
        runs = [one for one in self._hub.every(JOB) if owner_of(one)[1] == uid_of(found) and not leaving(one)]
        return [one for one in runs if shown(JOB, one.obj.get("status")) not in OVER]

    def _show(self, found: StoredObject, active: list[StoredObject]) -> None:
        status = found.obj.get("status") or {}
        wanted = {**status, "active": _named(active)}
        if (status.get("active") or []) != wanted["active"]:
            self._hub.edit(CRON_JOB, found, lambda old: {**old, "status": wanted}, "status")


def _named(runs: list[StoredObject]) -> list[Json]:
    head = {"apiVersion": "batch/v1", "kind": "Job"}
    return [{**head, "name": one.key.name, "namespace": one.key.namespace, "uid": uid_of(one)} for one in runs]


def _run(found: StoredObject, name: str) -> Json:
    kind = {field: found.obj[field] for field in ("apiVersion", "kind")}
    owner = {**kind, "name": found.key.name, "uid": uid_of(found), "controller": True}
    meta = {"name": name, "namespace": found.key.namespace, "ownerReferences": [owner]}
    return {"metadata": meta, "spec": found.obj["spec"]["jobTemplate"]["spec"]}
