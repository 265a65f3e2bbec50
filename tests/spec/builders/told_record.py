"""A record as the services would have said it, and a keeper that looks at it some time later."""

from typing import Any

import msgspec

from fairway.adapters.memory.user_bus import UserBus
from fairway.domain.submission import Asked, Submission, revision, submission
from fairway.keeper.service import Keeper
from fairway.runtime.ports import Bus, Outgoing
from fairway.wire import flow, subjects
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from tests.spec.builders.lives import Life, spec

DAY_MS = 86_400_000
SECRET = "hunter2"
_message = msgspec.json.Decoder(wire.Message).decode


class LaterClock:
    """So many days later than the bus; nobody waits by it."""

    def __init__(self, real: Any, days: float = 0.0) -> None:
        self._real = real
        self.days = days

    def now(self) -> int:
        return int(self._real.now() + self.days * DAY_MS)

    async def sleep(self, seconds: float) -> None:
        return None


def manifest(name: str, secret: str = SECRET) -> dict[str, Any]:
    env = [{"name": "PASSWORD", "value": secret}]
    pod = {"containers": [{"name": "main", "image": "x", "env": env}], "restartPolicy": "Never"}
    spec = {"template": {"spec": pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "team-a"}, "spec": spec}


class ToldRecord:
    """What is said is stored at once. Admission has handled what it was given by `handled`."""

    def __init__(self, bus: Bus, clock: LaterClock) -> None:
        self.bus = bus
        self.clock = clock
        self.lives: dict[str, Life] = {}

    def keeper(self, days: float = 30, letters: float = 0) -> Keeper:
        """With the rights of its own credential; dead letters are kept for as many days."""
        return Keeper(UserBus(self.bus, "keeper"), self.clock, int(days * DAY_MS), int(letters * DAY_MS))

    async def say(self, message: wire.JobMessage, name: str) -> int:
        """Its place."""
        subject = subjects.job(message.verb, message.tenant)
        await self.bus.publish([Outgoing(name, subject, msgspec.json.encode(message), f"fairway.job.{message.verb}")])
        return (await self.places())[-1]

    async def submit(self, name: str, client: str, secret: str = SECRET) -> tuple[Submission, int]:
        asked = submission(Asked(manifest(name, secret), client=client), Actor("ada", "http"), self.clock.now())
        return asked, await self.say(asked.say.message, asked.say.id)

    async def once_more(self, asked: Submission) -> int:
        """The same client says the same again, when the bus does not know its id any more."""
        return await self.say(asked.say.message, f"{asked.say.id}-again-{len(await self.places())}")

    async def admitted(self, name: str, client: str, secret: str = SECRET) -> str:
        """The job that was made of it."""
        asked, place = await self.submit(name, client, secret)
        await self.admit(asked, wire.ManifestRef(place, asked.digest, 1))
        return asked.job

    async def admit(self, asked: Submission, ref: wire.ManifestRef) -> None:
        life = self.lives[asked.job] = Life(asked.job)
        life.at = self.clock.now()
        life.then(wire.Admitted, attempt=1, spec=spec(asked.job, manifest=ref, client=asked.key), cause=asked.say.id)
        await self._told(life)

    async def then(self, job: str, kind: type[wire.JobMessage], **fields: Any) -> None:
        await self._told(self.lives[job].then(kind, **fields))

    async def revised(self, job: str, secret: str) -> int:
        life = self.lives[job]
        asked = revision(life.job, Asked(manifest(job, secret)), Actor("ada", "http"), self.clock.now())
        return await self.say(asked.say.message, asked.say.id)

    async def over(self, job: str) -> None:
        await self.then(job, wire.Queue, queue="q")
        await self.then(job, wire.Cancelled, who="ada")

    async def _told(self, life: Life) -> None:
        message = life.said[-1][1]
        await self.say(message, f"{message.job}-{message.rev}")

    async def handled(self) -> None:
        """Admission has acknowledged all that it was given."""
        source = await self.bus.consume(*flow.consumer("admission"))
        wanted = [one async for one in self.bus.history(subjects.JOBS, flow.filters(wire.Submitted, wire.Revise))]
        taken = 0
        while taken < len(wanted):
            some = await source.batch(100)
            taken += len(some)
            source.ack(some)
        await source.close()

    async def places(self) -> list[int]:
        return [one.sequence async for one in self.bus.history(subjects.JOBS)]

    async def manifests(self) -> list[int]:
        """Where some are."""
        where = flow.filters(wire.Submitted, wire.Revise)
        return [one.sequence async for one in self.bus.history(subjects.JOBS, where)]

    async def told(self) -> list[wire.ManifestsRemoved]:
        where = flow.filters(wire.ManifestsRemoved)
        return [_message(one.data) async for one in self.bus.history(subjects.JOBS, where)]

    async def secrets(self) -> int:
        """In how many messages of the record the secret stands."""
        return sum([SECRET.encode() in one.data async for one in self.bus.history(subjects.JOBS)])
