"""Those who have rights in a member and use them against others: none of what they do may move anybody's job."""

import asyncio
from typing import Any

import msgspec

from fairway.domain.names import job_id
from fairway.lab.kubesim.api import field_managers
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.invariants.events import LIE, EventChecks
from fairway.lab.simulation.members import pods
from fairway.lab.simulation.members.controllers import kind_of
from fairway.lab.simulation.members.member import HOSTILE, SimulatedMember
from fairway.lab.simulation.members.spark import SPARK
from fairway.lab.simulation.people.faults import FaultInjector
from fairway.runtime.ports import Outgoing
from fairway.wire import fleet as wire
from fairway.wire import subjects
from fairway.wire.capacity import Node
from fairway.workloads.member_copy import FIELD_MANAGER, job_labels

Json = dict[str, Any]
_encode = msgspec.json.Encoder().encode
# A node that no cluster has.
_HUGE = Node("z9", {pods.GPU: 10**9, "cpu": 10**9, "memory": 10**15, "pods": 10**4})
_LASTS = (20.0, 120.0, 600.0)


class Attackers:
    """Drawn from the chance of the faults. `tenants` by job, as they are submitted."""

    def __init__(
        self, fleet: SimulatedFleet, faults: FaultInjector, witness: EventChecks, tenants: dict[str, str]
    ) -> None:
        self._fleet = fleet
        self._rng = faults.rng
        self._witness = witness
        self._tenants = tenants
        self._count = 0

    def _attempt(self) -> tuple[str, int]:
        """A job, and an attempt that it has, had, will have or never will."""
        return self._rng.choice(sorted(self._tenants)), self._rng.choice((1, 1, 2, 3, 77))

    async def forge(self) -> None:
        """An object, and a pod, with the labels of somebody's job in a namespace of their own."""
        if not self._tenants:
            return
        member = self._fleet.any_member()
        kind = self._rng.choice(pods.KINDS)
        labels = job_labels(*self._attempt())
        if (ours := member.ours()) and self._rng.random() < 0.8:  # of what is there now
            copied = self._rng.choice(ours)
            kind = kind_of(copied)
            labels = job_labels(*member.whose(copied))
        self._count += 1
        meta = {"name": f"forged-{self._count}", "namespace": HOSTILE, "labels": labels}
        await self._there(member, kind, self._made(kind, meta, self._rng.random() < 0.5))

    async def squat(self) -> None:
        """An object under the name and with the labels that a job's first attempt will have."""
        number = len(self._witness.submitted) + self._rng.choice((0, 1, 2))
        tenant = self._rng.choice(("team-a", "team-b", "team-c"))
        kind = self._rng.choice(pods.KINDS)
        name = f"job-{number}"
        meta: Json = {"name": name, "namespace": tenant}
        meta["labels"] = job_labels(job_id(tenant, f"client-{number}", name), 1)
        made = []
        for member in self._fleet.members.values():
            if member.stored(kind, tenant, name) is None:
                self._count += 1
                manifest = field_managers.signed(FIELD_MANAGER, self._made(kind, meta, well=True), 0)
                made.append(asyncio.ensure_future(self._there(member, kind, manifest)))
        await asyncio.gather(*made)

    def _made(self, kind: str, meta: Json, well: bool) -> Json:
        """It has ended, well or not, and says so. Nothing of it runs."""
        name, _, version = kind.partition(".")
        pod = {"containers": [{"name": "pytorch", "image": "miner"}], "restartPolicy": "Never"}
        template = {"metadata": {"labels": meta["labels"]}, "spec": pod}
        spec: Json = {"template": template}
        if kind == SPARK:
            spec = {"driver": {}, "executor": {}}
        if kind == pods.PYTORCH:
            spec = {"pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": template}}}
        head = {"apiVersion": version, "kind": name, "metadata": dict(meta), "spec": spec}
        return {**head, "status": pods.ended(kind, well, self._fleet.clock.now())}

    async def _there(self, member: SimulatedMember, kind: str, manifest: Json) -> None:
        """With a pod, for a while; the object only where there is none of its name."""
        meta = manifest["metadata"]
        intruder = f"intruder-{self._count}"
        free = member.stored(kind, meta["namespace"], meta["name"]) is None
        forged = member.put(kind, manifest) if free else None
        pod = member.intrude(intruder, meta["labels"], self._rng.choice((1, 4, 8)))
        await asyncio.sleep(self._rng.choice(_LASTS))
        member.leave(pod)
        if forged is not None:
            member.withdraw(forged)

    async def lie(self) -> None:
        """What an agent says of another cluster than its own, or of the size of its own, where it may speak; or that
        its own has left, or is none."""
        own, other = self._rng.sample(sorted(self._fleet.members), 2) if len(self._fleet.members) > 1 else ("", "")
        if not own or not self._tenants:
            return
        self._count += 1
        job, attempt = self._attempt()
        strand = wire.Strand(job, attempt, "n0", "has not been ready", 999)
        rows = (*self._witness.reported(own), _HUGE)
        now = self._fleet.clock.now()
        epoch = f"lie-{self._count}"
        said = self._rng.choice(
            (
                wire.Stranded(at=now, cluster=other, attempts=(strand,)),
                wire.Report(at=now, cluster=other, epoch="lie", sequence=1, full=True, nodes=(_HUGE,)),
                wire.Report(at=now, cluster=own, epoch=epoch, sequence=1, full=True, nodes=rows),
                wire.Report(at=now, cluster=own, epoch=epoch, sequence=1, left=True),
                wire.Configured(at=now, kind="Cluster", name=own, manifest=msgspec.Raw(b"null")),
            )
        )
        place = subjects.config("Cluster", "", own)
        subject = place if isinstance(said, wire.Configured) else subjects.cluster(said.verb, own)
        await self._fleet.publish(Outgoing(f"{LIE}{self._count}", subject, _encode(said)))
