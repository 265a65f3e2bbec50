"""What a keeper knows of the record, message by message; and where one that starts again goes on."""

from typing import Any

import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.system_clock import SystemClock
from fairway.keeper.memory import KeeperMemory, ends
from fairway.runtime.ports import Delivery
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import spec
from tests.spec.builders.told_record import LaterClock, ToldRecord

_WHY = Reason(Code.JOB_FAILED, "exit code 1")


class Told:
    """A memory that is told of one message after the other."""

    def __init__(self) -> None:
        self.memory = KeeperMemory(0)
        self._place = 0

    def say(self, message: wire.JobMessage, at: int = 0, behind: int = 0) -> list[int]:
        """The places that may go now."""
        self._place = at or self._place + 1
        subject = subjects.job(message.verb, message.tenant)
        one = Delivery(f"m{self._place}", subject, b"", self._place, behind=behind)
        return [gone.sequence for due in self.memory.read(one, message) for gone in due.manifests]

    def submitted(self, job: str = "j", **more: int) -> list[int]:
        return self.say(wire.Submitted(job=job, tenant="team-a", manifest=b"{}"), **more)

    def revise(self, job: str = "j") -> list[int]:
        return self.say(wire.Revise(job=job, tenant="team-a", manifest=b"{}", source="hub"))

    def admitted(self, place: int, job: str = "j", **more: Any) -> list[int]:
        ref = wire.ManifestRef(place, "0" * 64, 2)
        head = {"job": job, "tenant": "team-a", "rev": 1, "cause": f"m{place}", **more}
        return self.say(wire.Admitted(**head, spec=spec(manifest=ref)))

    def cancelled(self, job: str = "j") -> list[int]:
        return self.say(wire.Cancelled(job=job, tenant="team-a", rev=2))


def test_one_on_which_two_jobs_stand_goes_with_the_last() -> None:
    told = Told()
    told.submitted()
    told.admitted(1, "one")
    told.admitted(1, "two")
    assert (told.cancelled("one"), told.cancelled("two")) == ([], [1])


def test_a_job_whose_end_was_stored_before_its_beginning_has_ended() -> None:
    told = Told()
    told.submitted()
    assert (told.cancelled(), told.admitted(1)) == ([], [1])


def test_a_change_that_was_stored_before_its_job_goes_with_it() -> None:
    told = Told()
    told.submitted()
    told.revise()
    told.admitted(1)
    assert told.cancelled() == [1, 2]


def test_what_was_stored_together_with_others_is_not_deleted() -> None:
    told = Told()
    told.submitted(at=1, behind=1)
    told.submitted(at=1)
    told.admitted(1)
    assert told.cancelled() == []


def test_who_names_a_manifest_that_was_no_cause_of_it_has_nothing_of_it() -> None:
    told = Told()
    told.submitted()
    told.admitted(1, cause="another message")
    assert told.cancelled() == []
    assert told.memory.open(1)


ENDS = {
    "it succeeded": (wire.Succeeded(tenant="t", cluster="c"), True),
    "it was cancelled": (wire.Cancelled(tenant="t"), True),
    "it was refused": (wire.Rejected(tenant="t", reasons=(_WHY,)), True),
    "its last attempt failed": (wire.Failed(tenant="t", cluster="c", why=_WHY, final=True), True),
    "its last attempt was lost": (wire.Lost(tenant="t", cluster="c", why=_WHY, final=True), True),
    "an attempt failed": (wire.Failed(tenant="t", cluster="c", why=_WHY), False),
    "somebody asks for its end": (wire.Cancel(tenant="t"), False),
    "nothing is left of an attempt": (wire.Removed(tenant="t", cluster="c"), False),
}


@pytest.mark.parametrize(("message", "over"), ENDS.values(), ids=list(ENDS))
def test_what_is_an_end(message: wire.JobMessage, over: bool) -> None:
    assert ends(message) == over


async def test_what_was_answered_far_behind_is_found_by_who_starts_again() -> None:
    """Admission was away, and 250 others came first when it was back."""
    record = ToldRecord(MemoryBus(SystemClock()), LaterClock(SystemClock()))
    asked, place = await record.submit("late", "late")
    for number in range(250):
        await record.admitted(f"job-{number}", f"c{number}")
    await record.admit(asked, wire.ManifestRef(place, asked.digest, 1))
    await record.over(await record.admitted("other", "other"))
    record.clock.days = 31
    assert await record.keeper().round() == 1
    await record.over(asked.job)
    assert await record.keeper().round() == 1
    assert place not in await record.manifests()


class _CountsReaders(MemoryBus):
    readers = 0

    def history(self, *args: Any, **more: Any) -> Any:
        self.readers += 1
        return super().history(*args, **more)


async def test_who_starts_again_where_many_jobs_run_asks_for_few_readers_and_knows_them_all() -> None:
    bus = _CountsReaders(SystemClock())
    record = ToldRecord(bus, LaterClock(SystemClock()))
    jobs = [await record.admitted(f"job-{number}", f"c{number}") for number in range(150)]
    await record.over(await record.admitted("other", "other"))
    record.clock.days = 31
    assert await record.keeper().round() == 1
    before = bus.readers
    keeper = record.keeper()
    assert await keeper.round() == 0
    assert bus.readers - before < 110
    for job in jobs:
        await record.then(job, wire.Queue, queue="q")
        await record.then(job, wire.Cancelled, who="ada")
    assert await keeper.round() == 150
    assert await record.manifests() == []
