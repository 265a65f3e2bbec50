"""Faults from a seed: what may go wrong does, in an order that the seed gives; then it clears up."""

import random

from fairway.domain.job import State
from tests.scenarios.memory_agents import GPU
from tests.scenarios.memory_fleet import Fleet, policy, runs
from tests.support.memory.clock import settle
from tests.support.memory.cluster import Scene

TREE = {
    "apiVersion": "scheduling.sigs.k8s.io/v1beta1",
    "kind": "ElasticQuotaTree",
    "metadata": {"name": "tree", "namespace": "kube-system"},
    "spec": {
        "root": {
            "name": "root",
            "min": {GPU: 20},
            "max": {GPU: 20},
            "children": [
                {"name": "a", "namespaces": ["team-a"], "min": {GPU: 8}, "max": {GPU: 14}},
                {"name": "b", "namespaces": ["team-b"], "min": {GPU: 8}, "max": {GPU: 10}},
            ],
        }
    },
}
BLOCK = {
    "apiVersion": "scheduling.x-k8s.io/v1alpha1",
    "kind": "Queue",
    "metadata": {"name": "strict", "annotations": {"fairway.io/allow-namespaces": "team-a,team-b"}},
    "spec": {"queuePolicy": "Block"},
}
PLAYS = (
    [runs()],
    [runs(3_000)],
    [runs(500, "Failed"), runs()],
    [(Scene(200, None),), runs()],
    [(), runs()],
    [runs(300, "Failed"), runs(300, "Failed"), runs(300, "Failed")],
)


class Faults:
    """`kinds` names what may happen; every call of `blow` lets one of it happen."""

    def __init__(self, fleet: Fleet, seed: int, kinds: tuple[str, ...]) -> None:
        self.fleet = fleet
        self.rng = random.Random(seed)
        self.kinds = kinds
        self.ids: list[str] = []
        self.tenants: dict[str, str] = {}

    async def job(self) -> None:
        rng = self.rng
        fleet = self.fleet
        name = f"j{len(self.ids)}"
        fleet.plays[name] = list(rng.choice(PLAYS))
        more = {"annotations": {"kube-queue/queue-name": "strict"}} if rng.random() < 0.3 else {}
        pods, gpus = rng.choice([(1, 1), (1, 4), (2, 4), (1, 8), (2, 8), (3, 2)])
        tenant = rng.choice(["team-a", "team-b"])
        self.ids.append(await fleet.submit(name, pods, gpus, namespace=tenant, **more))
        self.tenants[self.ids[-1]] = tenant

    async def wait(self) -> None:
        """Until nothing more happens by itself, some time longer, or only a few steps: then what follows comes in
        the middle of something."""
        if self.rng.random() < 0.4:
            await settle(self.rng.randint(0, 25))
        else:
            await self.fleet.quiet(self.rng.choice([0, 0, 0.05, 0.3, 1.1]))

    async def blow(self) -> None:
        await getattr(self, self.rng.choice(self.kinds))()

    async def calm(self) -> None:
        return None

    async def cancel(self) -> None:
        job = self.rng.choice(self.ids)
        await self.fleet.cancel(job, self.tenants[job], name=f"cancel-{job}-{self.fleet.clock.now()}")

    async def crash(self) -> None:
        await self.fleet.crash(self.rng.choice(sorted(self.fleet.loops)))

    async def wipe(self) -> None:
        self.fleet.store.wipe()

    async def refuse(self) -> None:
        self.fleet.bus.refusals += 1

    async def again(self) -> None:
        stored = self.fleet.bus.stored("JOBS")
        for one in self.rng.sample(stored, min(len(stored), 5)):
            self.fleet.bus.again("JOBS", one.sequence)

    async def away(self) -> None:
        self.rng.choice(list(self.fleet.clusters.values())).away = True

    async def back(self) -> None:
        for cluster in self.fleet.clusters.values():
            cluster.away = False

    async def lose(self) -> None:
        self.rng.choice(list(self.fleet.clusters.values())).lost_answers += 1

    async def slow(self) -> None:
        self.rng.choice(list(self.fleet.clusters.values())).slow_s = 7

    async def clear(self) -> None:
        """From here on nothing goes wrong; all that may still happen, happens."""
        await self.back()
        for cluster in self.fleet.clusters.values():
            cluster.lost_answers = 0
            cluster.slow_s = 0
        self.fleet.bus.refusals = 0
        for _ in range(20):
            await self.fleet.quiet(10)
            if all(job.ended and not job.removing for job in self.fleet.jobs().values()):
                return

    def complaints(self) -> list[str]:
        """What is not as it must be once the faults are over."""
        fleet = self.fleet
        jobs = fleet.jobs()
        found = [f"{job.id} is {job.state}: {job.why}" for job in jobs.values() if not job.ended]
        found += [f"{name} was never answered" for name in self.ids if name not in jobs]
        found += [
            f"{key} is still charged {amount}"
            for key, amount in fleet.store.counters.get("quota", {}).items()
            if amount
        ]
        found += [f"{one.rule}: {one.text} ({one.job})" for one in fleet.findings().violations]
        found += [f"pods of {key} found no node" for agent in fleet.agents.values() for key in agent.homeless]
        for table, rows in fleet.store.rows.items():
            if table.startswith("ledger/") or table in ("live", "names"):
                found += [f"{table} still has {key}" for key in rows]
        alive = {f"{job.id}/{job.attempt}" for job in jobs.values() if job.state in (State.SUCCEEDED, State.FAILED)}
        for cluster in fleet.clusters.values():
            for manifest in cluster.objects.values():
                labels = manifest["metadata"]["labels"]
                key = f"{labels['fairway.io/job']}/{labels['fairway.io/attempt']}"
                if key not in alive:
                    found.append(f"{key} is left in {cluster.name}")
        folded = fleet.folded()
        for table in ("jobs", "clients"):
            rows = {key: (row.rev, row.data) for key, row in fleet.store.rows.get(table, {}).items()}
            found += [
                f"{table} {key} is not what the record makes of it: {rows.get(key, '')[:300]!r} {row[:300]!r}"
                for key, row in folded.rows.get(table, {}).items()
                if rows.get(key) != row
            ]
        if wakes := fleet.meter.sweep_wakes.labels("queue")._value.get():
            found.append(f"the sweep woke {wakes}")
        found += [
            f"{name} is no longer running: {task.exception()!r}" for name, task in fleet.loops.items() if task.done()
        ]
        found += [f"dead letter {one.data[:500]!r}" for one in fleet.bus.stored("DLQ")]
        return found


async def storm(fleet: Fleet, seed: int, kinds: tuple[str, ...], jobs: int = 12, clears: bool = True) -> Faults:
    """Submits jobs while it storms, and lets it clear if it does."""
    faults = Faults(fleet, seed, kinds)
    fleet.configure("ElasticQuotaTree", "tree", TREE)
    fleet.configure("Queue", "strict", BLOCK)
    fleet.configure("ClusterPropagationPolicy", "all", policy(start_timeout="5s", avoid_failed_for="4s"))
    for _ in range(jobs):
        await faults.job()
        await faults.wait()
        for _ in range(faults.rng.randint(0, 2)):
            await faults.blow()
            await faults.wait()
    if clears:
        await faults.clear()
    return faults
