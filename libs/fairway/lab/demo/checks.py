"""Plays a script on a fleet and says what came of it. Waits only for things that are said."""

import asyncio
from typing import Any

from msgspec import Struct

from fairway.domain.job import Job
from fairway.lab.demo.recorded_events import Record
from fairway.lab.demo.scenario import Act, Mark, Role, Script
from fairway.lab.demo.submitters import Submitters

# The whole demo is to end within 90 s, with half a minute of that for starting on a slow machine.
LIMIT_S = 60.0


class DemoResult(Struct, frozen=True):
    """What became of one job; `wrong` is empty when it is what was promised."""

    role: Role
    job: Job | None
    wrong: str


class Stage:
    """`answers` has what `why` said of a job at its mark."""

    def __init__(self, script: Script, doors: Submitters, record: Record) -> None:
        self._script = script
        self._doors = doors
        self._record = record
        self.answers: dict[str, dict[str, Any]] = {}
        self._sent: set[str] = set()

    async def play(self) -> bool:
        """Whether every job has ended in time."""
        acts = self._script.scenario.acts
        try:
            async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
                for act in acts:
                    group.create_task(self._act(act))
        except TimeoutError:
            return False
        except ExceptionGroup as errors:
            raise _first(errors) from errors
        return True

    async def _act(self, act: Act) -> None:
        before = next((one for one in self._script.scenario.acts if one.name == act.after), None)
        if before is not None:
            await self._record.ends(role.job for role in before.jobs)
        async with asyncio.TaskGroup() as group:
            for role in act.jobs:
                group.create_task(self._role(role))
        await self._record.ends(role.job for role in act.jobs)

    async def _role(self, role: Role) -> None:
        if role.after is not None:
            await self._record.wait(role.after)
        self._sent.add(role.job)
        await self._doors.send(self._script.pieces[role.job], role.by)
        if role.why is not None:
            await self._record.wait(role.why)
            path = f"/v1/jobs/{self._record.ids[role.job]}/why"
            tenant = self._doors.api_of(role.job.partition("/")[0])
            self.answers[role.job] = await asyncio.to_thread(tenant.get, path)
        if role.cancel is not None:
            await self._record.wait(role.cancel)
            await self._doors.command(role.job.partition("/")[0], "cancel", role.job)

    def found(self) -> list[DemoResult]:
        roles = self._script.scenario.roles
        return [_found(role, self._record.job(role.job), role.job in self._sent) for role in roles]

    def missing(self, act: Act) -> Mark | None:
        """The first mark of an act that the record does not have in its place; None when it has them all."""
        place = 0
        for mark in act.record:
            place = self._record.find(mark, place)
            if not place:
                return mark
        return None


def _first(errors: ExceptionGroup[Exception]) -> Exception:
    one = errors.exceptions[0]
    return _first(one) if isinstance(one, ExceptionGroup) else one


def _found(role: Role, job: Job | None, sent: bool) -> DemoResult:
    if job is None:
        return DemoResult(
            role, None, "it never came in" if sent else "it was not sent: what it comes after did not happen"
        )
    if job.state.value != role.end:
        return DemoResult(role, job, f"it is {job.state.value}, and {role.end} was promised")
    if job.attempt != role.attempts and role.end != "rejected":
        return DemoResult(role, job, f"it took {job.attempt} attempts, and {role.attempts} were promised")
    return DemoResult(role, job, "")


def in_words(mark: Mark) -> str:
    """`job says running in north (attempt 2)`."""
    parts = [f"{mark.job} {mark.says}"]
    parts += [f"in {mark.cluster}"] if mark.cluster else []
    parts += [f"for {mark.why}"] if mark.why else []
    parts += [f"({name}: {code})" for name, code in mark.verdicts.items()]
    parts += [f"as attempt {mark.attempt}"] if mark.attempt else []
    return " ".join(parts)
