"""Those who run the fleet: they set quota and policies, change the quota tree, have members leave and join again."""

import asyncio
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import msgspec
from msgspec.structs import replace

from fairway.domain.quota.tree import ALLOW_NAMESPACES
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.hub.cluster import SimulatedHub
from fairway.lab.simulation.invariants.at_the_end import rows
from fairway.lab.simulation.invariants.events import EventChecks
from fairway.lab.simulation.members.pods import GPU
from fairway.runtime.ports import Outgoing
from fairway.runtime.views.members import Facts
from fairway.wire import fleet as wire
from fairway.wire import subjects
from fairway.workloads.settings.policies import ATTEMPTS, AVOID, START_TIMEOUT
from fairway.workloads.settings.quota_trees import read_quota_tree

Json = dict[str, Any]
_encode = msgspec.json.Encoder().encode
# How often it is looked whether a member is empty, and how long whoever wants it to leave has patience (s).
_LOOK_S = 5.0
_PATIENCE_S = 900.0


def tree(scale: int) -> Json:
    """A quota tree of three levels, in which so many GPUs are nearly enough for everybody's max."""
    half = scale // 2
    most = scale * 3 // 4
    leaf_a = {"name": "a", "namespaces": ["team-a"], "min": {GPU: half // 2}, "max": {GPU: most}}
    leaf_b = {"name": "b", "namespaces": ["team-b"], "min": {GPU: half // 4}, "max": {GPU: half}}
    leaf_c = {"name": "c", "namespaces": ["team-c"], "min": {GPU: half // 4}, "max": {GPU: half}}
    shared = {"name": "shared", "min": {GPU: half}, "max": {GPU: most}, "children": [leaf_b, leaf_c]}
    root = {"name": "root", "min": {GPU: scale}, "max": {GPU: scale}, "children": [leaf_a, shared]}
    return {
        "apiVersion": "scheduling.sigs.k8s.io/v1beta1",
        "kind": "ElasticQuotaTree",
        "metadata": {"name": "tree", "namespace": "kube-system"},
        "spec": {"root": root},
    }


# The label of a job that one policy is for, by its name.
OWN_POLICY = "policy"
_OTHERS = {"labelSelector": {"matchExpressions": [{"key": OWN_POLICY, "operator": "DoesNotExist"}]}}


def _selectors(kinds: Sequence[str]) -> list[Json]:
    return [{"apiVersion": kind.partition(".")[2], "kind": kind.partition(".")[0]} for kind in kinds]


def _policy(attempts: int, kinds: Sequence[str], hub: bool) -> Json:
    """With a hub it leaves out who has a policy of his own, or is to have one."""
    selectors = [{**one, **(_OTHERS if hub else {})} for one in _selectors(kinds)]
    annotations = {START_TIMEOUT: "90s", AVOID: "120s", ATTEMPTS: str(attempts)}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterPropagationPolicy",
        "metadata": {"name": "all", "annotations": annotations},
        "spec": {"resourceSelectors": selectors, "placement": {}},
    }


_STRICT = {
    "apiVersion": "scheduling.x-k8s.io/v1alpha1",
    "kind": "Queue",
    "metadata": {
        "name": "strict",
        "namespace": "kube-queue",
        "annotations": {ALLOW_NAMESPACES: "team-a, team-b, team-c"},
    },
    "spec": {"queuePolicy": "Block"},
}


def apply(hub: SimulatedHub, manifest: Json) -> None:
    """What is there under its name is changed into it."""
    kind = f"{manifest['kind']}.{manifest['apiVersion']}"
    meta = manifest["metadata"]
    found = hub.stored(kind, meta.get("namespace", ""), meta["name"])
    if found is None:
        hub.put(kind, manifest)
    else:
        hub.edit(kind, found, lambda now: {**now, "spec": manifest["spec"], "metadata": {**now["metadata"], **meta}})


class Administrators:
    """`gpus` are all that the members have; a job may have so many `attempts`. `tree_of` a scale is another quota tree,
    `last_tree` one in which everything can run."""

    def __init__(self, fleet: SimulatedFleet, rng: Random, witness: EventChecks, gpus: int, attempts: int) -> None:
        self._fleet = fleet
        self._rng = rng
        self._witness = witness
        self._gpus = gpus
        self._attempts = attempts
        self._words = 0
        self._moving: set[str] = set()
        self.tree_of: Callable[[int], Json] = tree
        self.last_tree: Callable[[int], Json] = tree

    async def settle_in(self) -> None:
        """The quota tree, the policy, a blocking queue and the members' names, before anybody submits."""
        policy = _policy(self._attempts, self._fleet.kinds, self._fleet.hub is not None)
        await self.say("ClusterPropagationPolicy", "", "all", policy)
        await self.say("Queue", "kube-queue", "strict", _STRICT)
        await self._set_tree(self.tree_of(self._gpus))
        for name in self._fleet.members:
            await self.say("Cluster", "", name, {"labels": {}})
            await self.say("Member", "", name, msgspec.to_builtins(self._fleet.counted(name)))

    async def change_tree(self) -> None:
        """Less for everybody while jobs run, or as much as before."""
        await self._set_tree(self.tree_of(self._gpus * self._rng.choice((1, 2, 3, 4)) // 4))

    async def restore(self) -> None:
        """So that everything can run in the end."""
        await self._set_tree(self.last_tree(self._gpus))

    async def _set_tree(self, manifest: Json) -> None:
        await self.say("ElasticQuotaTree", "kube-system", "tree", manifest)
        if self._fleet.hub is None:  # else it counts when the hub's service has said it
            self._witness.tree_changed(read_quota_tree(manifest))

    async def move(self) -> None:
        """A member is cordoned and emptied, leaves when no job is left there, and joins again some time later."""
        here = [name for name in self._fleet.joined if name not in self._moving]
        if len(here) < 2:
            return
        name = self._rng.choice(here)
        self._moving.add(name)
        await self._moved(name)
        self._moving.discard(name)

    async def _moved(self, name: str) -> None:
        fleet = self._fleet
        facts = self._fleet.counted(name)
        await self._join(name, replace(facts, cordoned=True, emptied=self._rng.random() < 0.7))
        if await self._empty(name):
            fleet.leave(name)
            for kind in ("Cluster", "Member"):
                await self.say(kind, "", name, None)
            at = fleet.clock.now()
            left = wire.Report(at=at, cluster=name, epoch="", sequence=0, left=True)
            await self._publish(f"left-{name}-{at}", subjects.cluster(wire.Report.verb, name), left)
            await asyncio.sleep(self._rng.choice((1.0, 60.0, 600.0)))
        await self._join(name, facts)

    async def _join(self, name: str, facts: Facts) -> None:
        await self.say("Member", "", name, msgspec.to_builtins(facts))
        self._fleet.join(name, facts)

    async def _empty(self, name: str) -> bool:
        for _ in range(int(_PATIENCE_S / _LOOK_S)):
            await asyncio.sleep(_LOOK_S)
            jobs = rows(self._fleet).values()
            if jobs and not any(name in (job.cluster, job.removing) for job in jobs if not job.ended or job.removing):
                return True
        return False

    async def say(self, kind: str, namespace: str, name: str, manifest: Json | None) -> None:
        if self._fleet.hub is not None and manifest is not None and "apiVersion" in manifest:
            apply(self._fleet.hub, manifest)
            return
        self._words += 1
        said = wire.Configured(kind=kind, namespace=namespace, name=name, manifest=msgspec.Raw(_encode(manifest)))
        await self._publish(f"config-{self._words}", subjects.config(kind, namespace, name), said)

    async def _publish(self, name: str, subject: str, message: wire.FleetMessage) -> None:
        await self._fleet.publish(Outgoing(name, subject, _encode(message)))
