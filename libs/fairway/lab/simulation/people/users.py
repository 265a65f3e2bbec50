"""Those around the fleet: users who submit, submit twice and cancel; fate, with nodes and networks."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from fairway.domain.names import job_id
from fairway.lab.simulation.evictions.jobs import EvictionJobs
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.idle.jobs import IdleJobs
from fairway.lab.simulation.invariants.events import EventChecks
from fairway.lab.simulation.members import pods
from fairway.lab.simulation.members.controllers import Fate
from fairway.lab.simulation.members.pods import GPU
from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.people.administrators import Administrators
from fairway.lab.simulation.people.attackers import Attackers
from fairway.lab.simulation.people.faults import FaultInjector
from fairway.runtime.ports import Outgoing
from fairway.wire import inbound as wire
from fairway.wire import subjects

Json = dict[str, Any]
TENANTS = ("team-a", "team-b", "team-c")
_encode = msgspec.json.Encoder().encode
_HOUR = 3600.0


class People:
    """Everything that comes from outside, drawn from the chance of the faults. Where there are `idle` resources, who
    makes the jobs that ask for them; where jobs evict others, who says what each may."""

    def __init__(self, fleet: SimulatedFleet, faults: FaultInjector, witness: EventChecks, plan: RunPlan) -> None:
        self._fleet = fleet
        self._faults = faults
        self._rng = faults.rng
        self._witness = witness
        self._plan = plan
        self.idle: IdleJobs | None = None
        self.evictions: EvictionJobs | None = None
        self.drawn = Counter[str]()
        self._tenants: dict[str, str] = {}
        self._fates: dict[tuple[str, int], Fate] = {}

    async def live(self, above: Administrators) -> None:
        """Returns when the time of trouble is over."""
        profile = self._faults.profile
        start = asyncio.get_running_loop().time()
        hours = self._plan.hours
        intruders = Attackers(self._fleet, self._faults, self._witness, self._tenants)
        rates: list[tuple[float, Callable[[], Awaitable[None]]]] = [
            (self._most / hours, self._submit),
            (self._most / 8 / min(1, hours), self._cancel),
            (profile.kills, self._kill),
            (profile.pauses, self._pause),
            (profile.wipes, self._wipe),
            (profile.silences, self._silence),
            (profile.failovers, self._failover),
            (profile.outages, self._outage),
            (profile.api_losses, self._api_loss),
            (profile.node_losses, self._node_loss),
            (profile.strangers, self._stranger),
            (profile.hands, self._hand),
            (profile.trees, above.change_tree),
            (profile.moves, above.move),
            (profile.forgers, intruders.forge),
            (profile.squatters, intruders.squat),
            (profile.liars, intruders.lie),
        ]
        total = sum(rate for rate, _ in rates)
        events = set()
        while True:
            await asyncio.sleep(self._rng.expovariate(total / _HOUR))
            if asyncio.get_running_loop().time() - start > hours * _HOUR:
                break
            (act,) = self._rng.choices([one for _, one in rates], [rate for rate, _ in rates])
            self.drawn[act.__name__.strip("_")] += 1
            # Some of them last: a pause, an outage.
            event = asyncio.ensure_future(act())
            events.add(event)
            event.add_done_callback(events.discard)
        while events:
            await asyncio.sleep(1)
        await above.restore()

    # Users.

    @property
    def _most(self) -> int:
        """So many jobs in all."""
        return self._plan.jobs - self._plan.on_hub

    async def _submit(self) -> None:
        if len(self._witness.submitted) < self._most:
            await self.submit(self._rng.choice(TENANTS))

    async def submit(self, tenant: str) -> None:
        """One more job of a tenant, as long as there are to be more."""
        number = len(self._witness.submitted)
        if number >= self._most:
            return
        rng = self._rng
        client = f"client-{number}"
        job = self._witness.submitted[client] = job_id(tenant, client, f"job-{number}")
        idle = self.idle if self.idle is not None and self.idle.asks(job) else None
        name = f"job-{number}"
        manifest = idle.manifest(name, tenant, job) if idle is not None else self.manifest(name, tenant)
        manifest = self.evictions.marked(manifest) if self.evictions is not None else manifest
        self._tenants[job] = tenant
        raw = msgspec.Raw(_encode(manifest))
        message = wire.SubmitRequest(manifest=raw, client=client, at=self._fleet.clock.now())
        said = Outgoing(client, subjects.inbound(message.verb, tenant), _encode(message))
        await self._fleet.publish(said)
        if rng.random() < 0.1:  # somebody was not sure, or did not wait
            await asyncio.sleep(rng.choice((0.0, 1.0, 200.0)))
            await self._fleet.publish(msgspec.structs.replace(said, id=f"{client}-again"))

    def manifest(self, name: str, tenant: str) -> Json:
        rng = self._rng
        count, gpus = rng.choice(((1, 1), (1, 1), (1, 4), (2, 2), (2, 4), (4, 1), (1, 8), (2, 8), (3, 8)))
        meta: Json = {"name": name, "namespace": tenant}
        if rng.random() < 0.15:
            meta["annotations"] = {"kube-queue/queue-name": "strict"}
        container = {"name": "pytorch", "image": "x", "resources": {"limits": {GPU: gpus}}}
        template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
        if rng.random() < 0.5:
            spec = {"parallelism": count, "completions": count, "template": template}
            return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}
        roles: Json = {"Master": {"replicas": 1, "template": template}}
        if count > 1:
            roles["Worker"] = {"replicas": count - 1, "template": template}
        spec = {"pytorchReplicaSpecs": roles}
        return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": meta, "spec": spec}

    async def _cancel(self) -> None:
        if not self._witness.submitted:
            return
        job, tenant = self._rng.choice(sorted(self._tenants.items()))
        message = wire.CancelRequest(job=job, at=self._fleet.clock.now())
        name = f"cancel-{job}-{self._rng.randrange(10**9)}"
        await self._fleet.publish(Outgoing(name, subjects.inbound(message.verb, tenant), _encode(message)))

    def fate(self, job: str, attempt: int) -> Fate:
        """The last attempts of a job go well, so that every job has an end."""
        if (job, attempt) not in self._fates:
            self._fates[job, attempt] = self._drawn(attempt)
        return self._fates[job, attempt]

    def _drawn(self, attempt: int) -> Fate:
        rng = self._rng
        up = rng.choice((0.2, 2.0, 20.0))
        run = rng.choice((1.0, 20.0, 120.0, 600.0))
        luck = 1.0 if self._faults.clears or attempt > 4 else rng.random()
        for end, share in (("failed", 0.12), ("stuck", 0.16), ("vanished", 0.18)):
            if luck < share:
                return Fate(up, run, end)
        return Fate(up, run)

    # Fate.

    async def _kill(self) -> None:
        self._rng.choice(sorted(self._fleet.processes.there.items()))[1].kill()

    async def _pause(self) -> None:
        """Longer than a lease, and at times than the bus waits."""
        _, process = self._rng.choice(sorted(self._fleet.processes.there.items()))
        process.pause()
        await asyncio.sleep(self._rng.choice((2.0, 30.0, 60.0, 200.0)))
        process.resume()

    async def _silence(self) -> None:
        """The agents stand still, and one of them perhaps does not; those that are killed meanwhile come back."""
        agents = [one for name, one in sorted(self._fleet.processes.there.items()) if name.startswith("agent-")]
        still = self._rng.sample(agents, len(agents) - self._rng.choice((0, 1)))
        for one in still:
            one.pause()
        await asyncio.sleep(self._rng.choice((60.0, 200.0, 400.0)))
        for one in still:
            one.resume()

    async def _wipe(self) -> None:
        self._fleet.store.wipe()

    async def _failover(self) -> None:
        """To a replica that is behind: what was written last is gone."""
        kept = self._fleet.store.keep()
        await asyncio.sleep(self._rng.choice((0.05, 0.5, 5.0)))
        self._fleet.store.fail_over(kept)

    async def _outage(self) -> None:
        """Of the bus or of the store."""
        seconds = self._rng.choice((1.0, 10.0, 90.0))
        if self._rng.random() < 0.5:
            self._fleet.bus.connected = False
            await asyncio.sleep(seconds)
            self._fleet.bus.connected = True
        else:
            self._fleet.reach.away = True
            await asyncio.sleep(seconds)
            self._fleet.reach.away = False

    async def _api_loss(self) -> None:
        member = self._fleet.any_member()
        if member.away:
            return
        member.away = True
        member.lost = member.lost + 1
        began = self._fleet.clock.now()
        await asyncio.sleep(self._rng.choice((1.0, 20.0, 120.0, 600.0)))
        member.away = False
        member.away_since.append((began, self._fleet.clock.now()))

    async def _node_loss(self) -> None:
        """Its kubelet is silent; after some minutes what was there is taken away, and later it is back."""
        member = self._fleet.any_member()
        node = self._rng.choice(sorted(one.key.name for one in member.every(pods.NODE)))
        member.silence(node, ready=False)
        await asyncio.sleep(self._rng.choice((5.0, 90.0, 400.0)))
        member.evict(node)
        await asyncio.sleep(self._rng.choice((1.0, 60.0)))
        member.silence(node, ready=True)

    async def _stranger(self) -> None:
        self._fleet.any_member().stranger(self._rng.choice((1, 4, 8)), self._rng.choice((5.0, 60.0, 300.0)))

    async def _hand(self) -> None:
        """Somebody deletes an object of ours in a member, writes to its spec, or takes its labels off."""
        member = self._fleet.any_member()
        if ours := member.ours():
            self._rng.choice((member.remove, member.edit, member.strip))(self._rng.choice(ours))
