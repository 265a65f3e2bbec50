"""Those who have rights in a member and use them against others: none of what they do may move anybody's job."""

import asyncio

import msgspec

from fairway.adapters.memory.cluster import Json, Key
from fairway.domain.names import job_id
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.invariants.events import LIE, EventChecks
from fairway.lab.simulation.members import field_managers, pods
from fairway.lab.simulation.members.member import HOSTILE, SimulatedMember
from fairway.lab.simulation.people.faults import FaultInjector
from fairway.runtime.ports import Outgoing
from fairway.wire import fleet as wire
from fairway.wire import subjects
from fairway.wire.capacity import Node
from fairway.workloads.member_copy import job_labels

_encode = msgspec.json.Encoder().encode
# A node that no cluster has.
_HUGE = Node("z9", {pods.GPU: 10**9, "cpu": 10**9, "memory": 10**15, "pods": 10**4})
_LASTS = (20.0, 120.0, 600.0)


class Attackers:
    """Drawn from the weather's chance. `tenants` by job, as they are submitted."""

    def __init__(
        self, fleet: SimulatedFleet, weather: FaultInjector, witness: EventChecks, tenants: dict[str, str]
    ) -> None:
        self._fleet, self._rng, self._witness, self._tenants = fleet, weather.rng, witness, tenants
        self._count = 0

    def _member(self) -> SimulatedMember:
        return self._rng.choice(list(self._fleet.members.values()))

    def _attempt(self) -> tuple[str, int]:
        """A job, and an attempt that it has, had, will have or never will."""
        return self._rng.choice(sorted(self._tenants)), self._rng.choice((1, 1, 2, 3, 77))

    async def forge(self) -> None:
        """An object, and a pod, with the labels of somebody's job in a namespace of their own."""
        if not self._tenants:
            return
        member, kind = self._member(), self._rng.choice(pods.KINDS)
        labels = job_labels(*self._attempt())
        if (ours := member.ours()) and self._rng.random() < 0.8:  # of what is there now
            copied = self._rng.choice(ours)
            kind, labels = copied[0], job_labels(*member.whose(member.objects[copied]))
        self._count += 1
        key = (kind, HOSTILE, f"forged-{self._count}")
        await self._there(member, key, self._made(key, labels, self._rng.random() < 0.5))

    async def squat(self) -> None:
        """An object under the name and with the labels that a job's first attempt will have."""
        number = len(self._witness.submitted) + self._rng.choice((0, 1, 2))
        tenant, kind = self._rng.choice(("team-a", "team-b", "team-c")), self._rng.choice(pods.KINDS)
        name = f"job-{number}"
        key = (kind, tenant, name)
        labels = job_labels(job_id(tenant, f"client-{number}", name), 1)
        made = []
        for member in self._fleet.members.values():
            if key not in member.objects:
                self._count += 1
                manifest = field_managers.applied(self._made(key, labels, well=True))
                made.append(asyncio.ensure_future(self._there(member, key, manifest)))
        await asyncio.gather(*made)

    def _made(self, key: Key, labels: dict[str, str], well: bool) -> Json:
        """It has ended, well or not, and says so. Nothing of it runs."""
        meta = {"name": key[2], "namespace": key[1], "labels": labels, "uid": f"forged-{self._count}"}
        kind, _, version = key[0].partition(".")
        container = {"name": "pytorch", "image": "miner"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        spec: Json = {"template": template}
        if key[0] == pods.PYTORCH:
            spec = {"pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": template}}}
        head = {"apiVersion": version, "kind": kind, "metadata": meta, "spec": spec}
        return {**head, "status": pods.ended(key[0], well)}

    async def _there(self, member: SimulatedMember, key: Key, manifest: Json) -> None:
        member.put(key, manifest)
        member.intrude(manifest["metadata"]["uid"], manifest["metadata"]["labels"], self._rng.choice((1, 4, 8)))
        await asyncio.sleep(self._rng.choice(_LASTS))
        member.withdraw(key, manifest["metadata"]["uid"])

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
        now, epoch = self._fleet.clock.now(), f"lie-{self._count}"
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
