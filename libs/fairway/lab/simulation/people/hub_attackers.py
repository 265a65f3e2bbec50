"""Tenants of the hub who mean harm, or know no better: floods, huge and malformed objects, statuses written by hand."""

import asyncio
from random import Random
from typing import Any

from fairway.lab.kubesim.api.store import StoredObject
from fairway.lab.simulation.hub.cluster import SimulatedHub, leaving
from fairway.lab.simulation.members import pods
from fairway.lab.simulation.members.controllers import kind_of
from fairway.lab.simulation.people import hub_jobs
from fairway.lab.simulation.people.administrators import OWN_POLICY, tree

Json = dict[str, Any]
TENANT = "team-c"
# No policy of that name comes.
_NEVER = "never"
_FLOOD = 150
# With this begin the names of objects that nobody but their owner can make sense of.
MALFORMED = "bad-"
_HUGE = 200_000
_LASTS = (5.0, 60.0, 300.0)
_ODD: tuple[Json, ...] = (
    {},
    {"pytorchReplicaSpecs": "all of them"},
    {"pytorchReplicaSpecs": {"Master": {"replicas": "many", "template": {}}}},
    {"pytorchReplicaSpecs": {"Master": None}, "runPolicy": ["suspend"]},
    {"pytorchReplicaSpecs": {"Master": {"replicas": 10**12, "template": {"spec": {"containers": [3]}}}}},
    {"runPolicy": {"suspend": "yes"}},
)
_NOTES = ("", "no such queue!", "x" * 20_000, "../../etc", "strict, strict")


class HubAttackers:
    def __init__(self, hub: SimulatedHub, rng: Random) -> None:
        self._hub = hub
        self._rng = rng
        self._count = 0

    def _name(self) -> str:
        self._count += 1
        return f"odd-{self._count}"

    def _some(self) -> StoredObject | None:
        found = [one for one in self._hub.objects() if one.key.namespace == TENANT and not leaving(one)]
        return self._rng.choice(found) if found else None

    async def flood(self) -> None:
        """Objects that no policy selects, for a while."""
        made = []
        for _ in range(_FLOOD):
            manifest = hub_jobs.job(self._rng, self._name(), TENANT, hub_jobs.NamedByJob(policy=_NEVER))
            made.append(self._hub.put(hub_jobs.key_of(manifest), manifest))
        await asyncio.sleep(self._rng.choice(_LASTS))
        for one in made:
            if one is not None:
                self._hub.remove(one)

    async def malformed(self) -> None:
        rng = self._rng
        meta: Json = {"name": f"{MALFORMED}{self._name()}", "namespace": TENANT}
        if rng.random() < 0.5:
            meta["annotations"] = {hub_jobs.QUEUE_NAME: rng.choice(_NOTES)}
        if rng.random() < 0.3:
            owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "x", "uid": "none", "controller": True}
            meta["ownerReferences"] = [owner]
        made = self._hub.put(pods.PYTORCH, {"metadata": meta, "spec": rng.choice(_ODD)})
        await asyncio.sleep(rng.choice(_LASTS))
        if made is not None and rng.random() < 0.5:
            whole = hub_jobs.job(rng, "", TENANT)
            if hub_jobs.key_of(whole) == pods.PYTORCH:  # its owner knows better by now
                self._hub.edit(pods.PYTORCH, made, lambda now: {**now, "spec": whole["spec"]})
            else:
                self._hub.remove(made)

    async def status_by_hand(self) -> None:
        """Its owner says that it runs, has ended, or nothing at all."""
        found = self._some()
        if found is None:
            return
        kind = kind_of(found)
        if kind == pods.JOB and self._rng.random() < 0.5:
            status: Json = {"active": 1, "ready": 1}
        else:
            well = self._rng.random() < 0.5
            status = self._rng.choice(({}, {"conditions": "none"}, pods.ended(kind, well, self._hub.api.clock.now())))
        if kind == pods.JOB and status.get("conditions") == "none":
            return  # a real API server has a schema for these
        self._hub.edit(kind, found, lambda now: {**now, "status": status}, "status")

    async def finalizers(self) -> None:
        """An object that stays after it was deleted, until its owner lets go of it."""
        manifest = hub_jobs.job(self._rng, self._name(), TENANT)
        manifest["metadata"]["finalizers"] = ["example.com/stays"]
        made = self._hub.put(hub_jobs.key_of(manifest), manifest)
        await asyncio.sleep(self._rng.choice(_LASTS))
        if made is not None:
            self._hub.remove(made)
            await asyncio.sleep(self._rng.choice(_LASTS))
            self._hub.edit(kind_of(made), made, hub_jobs.without_finalizers)

    async def reserved(self) -> None:
        """Where no tenant's job may be."""
        namespace = self._rng.choice(("kube-system", "kube-queue", "fairway-system"))
        manifest = hub_jobs.job(self._rng, self._name(), namespace)
        if self._rng.random() < 0.3:
            manifest["metadata"]["labels"] = {OWN_POLICY: _NEVER}
        self._hub.put(hub_jobs.key_of(manifest), manifest)

    async def huge(self) -> None:
        manifest = hub_jobs.job(self._rng, self._name(), TENANT)
        manifest["metadata"]["annotations"] = {"example.com/note": "x" * _HUGE}
        self._hub.put(hub_jobs.key_of(manifest), manifest)

    async def settings(self) -> None:
        """A tree or a queue where tenants may write, and policies that mean nothing."""
        rng = self._rng
        name = self._name()
        if rng.random() < 0.3:
            manifest = tree(1)
            manifest["metadata"] = {"name": name, "namespace": TENANT}
            self._hub.put("ElasticQuotaTree.scheduling.sigs.k8s.io/v1beta1", manifest)
        elif rng.random() < 0.5:
            manifest = hub_jobs.queue("strict", "Priority")
            manifest["metadata"]["namespace"] = TENANT
            self._hub.put(hub_jobs.QUEUE, manifest)
        else:
            manifest = hub_jobs.own_policy(name, TENANT)
            manifest["spec"]["resourceSelectors"] = rng.choice(([], "all", [{"kind": "Job"}]))
            self._hub.put(hub_jobs.POLICY, manifest)
