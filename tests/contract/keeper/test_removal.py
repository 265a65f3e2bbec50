"""The keeper of manifests, with the rights of its credential, on every bus."""

import asyncio

import msgspec
import pytest

from fairway.adapters.system_clock import SystemClock
from fairway.domain.submission import Asked, submission
from fairway.runtime.ports import Bus, Outgoing, Unreachable
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import Life
from tests.spec.builders.told_record import LaterClock, ToldRecord, manifest

_WHY = Reason(Code.DUPLICATE, "client id c1 was used before")


@pytest.fixture
def record(bus: Bus) -> ToldRecord:
    return ToldRecord(bus, LaterClock(SystemClock()))


async def test_of_a_job_that_ended_long_ago_the_manifest_goes_and_what_it_was_stays(record: ToldRecord) -> None:
    job = await record.admitted("train", "c1")
    await record.over(job)
    record.clock.days = 31
    assert await record.keeper().round() == 1
    assert (await record.secrets(), await record.manifests()) == (0, [])
    (told,) = await record.told()
    (gone,) = told.removed
    ref = record.lives[job].job.submitted_as
    assert (told.job, told.tenant, told.kept) == (job, "team-a", 30 * 86_400_000)
    assert (gone.sequence, gone.sha256, gone.client) == (ref.sequence, ref.sha256, "c1")
    assert (str(gone.who), gone.size) == ("ada (over HTTP)", len(msgspec.json.encode(manifest("train"))))


async def test_before_the_time_that_is_set_nothing_goes(record: ToldRecord) -> None:
    await record.over(await record.admitted("train", "c1"))
    record.clock.days = 29
    assert await record.keeper().round() == 0
    assert (await record.secrets(), await record.told()) == (1, [])


async def test_of_a_job_that_has_not_ended_nothing_goes_however_old_it_is(record: ToldRecord) -> None:
    job = await record.admitted("train", "c1")
    await record.revised(job, "hunter2 too")
    await record.then(job, wire.Queue, queue="q")
    await record.over(await record.admitted("other", "c2"))
    record.clock.days = 3_650
    keeper = record.keeper()
    assert [await keeper.round(), await keeper.round(), await record.keeper().round()] == [1, 0, 0]
    assert len(await record.manifests()) == 2
    await record.then(job, wire.Cancelled, who="ada")
    assert await record.keeper().round() == 2, "both that were its own"
    assert await record.secrets() == 0


async def test_what_admission_may_still_have_to_answer_stays(record: ToldRecord) -> None:
    """It was away for longer than manifests are kept."""
    _, place = await record.submit("train", "c1")
    await record.over(await record.admitted("other", "c2"))
    record.clock.days = 365
    keeper = record.keeper()
    assert [await keeper.round() for _ in range(3)] == [1, 0, 0]
    assert await record.manifests() == [place]


async def test_what_repeats_another_goes_when_a_word_of_later_shows_that_nobody_answers_it(record: ToldRecord) -> None:
    asked, place = await record.submit("train", "c1")
    ref = wire.ManifestRef(place, asked.digest, 1)
    life = record.lives[asked.job] = Life(asked.job)
    life.then(wire.Rejected, attempt=1, reasons=(_WHY,), manifest=ref, cause=asked.say.id)
    await record.say(life.said[-1][1], "refused")
    again = await record.once_more(asked)
    await record.handled()
    record.clock.days = 31
    keeper = record.keeper()
    assert await keeper.round() == 1
    assert await record.manifests() == [again], "who has not read its own word does not know yet"
    assert await keeper.round() == 1
    assert await record.secrets() == 0


async def test_what_may_be_a_dead_letter_stays_for_as_long_as_that_can_be_said_again(record: ToldRecord) -> None:
    _, place = await record.submit("buried", "c1")
    await record.over(await record.admitted("other", "c2"))
    await record.handled()
    record.clock.days = 365
    keeper = record.keeper(letters=14)
    assert [await keeper.round() for _ in range(3)] == [1, 0, 0]
    assert await record.manifests() == [place]


async def test_another_manifest_under_a_used_client_id_goes_and_the_job_keeps_its_own(record: ToldRecord) -> None:
    job = await record.admitted("train", "c1")
    asked = submission(Asked(manifest("train", "hunter2 anew"), client="c1"), Actor("ada", "http"), record.clock.now())
    place = await record.say(asked.say.message, asked.say.id)
    refused = Life("train-anew")
    ref = wire.ManifestRef(place, asked.digest, 1)
    refused.then(wire.Rejected, attempt=1, reasons=(_WHY,), manifest=ref, cause=asked.say.id)
    await record.say(refused.said[-1][1], "refused")
    record.clock.days = 31
    assert await record.keeper().round() == 1
    assert await record.manifests() == [record.lives[job].job.submitted_as.sequence]


async def test_an_end_that_came_too_late_for_its_working_set_is_none(record: ToldRecord) -> None:
    job = await record.admitted("train", "c1")
    begun = await record.say(wire.Rebuild(owner="o"), "begins")
    await record.say(wire.Rebuild(owner="o", begun=begun), "over")
    await record.over(job)
    record.clock.days = 31
    assert await record.keeper().round() == 0
    assert await record.secrets() == 1


async def test_an_end_that_another_tenant_says_is_none(record: ToldRecord) -> None:
    job = await record.admitted("train", "c1")
    await record.say(wire.Cancelled(job=job, tenant="team-b", rev=2, attempt=1), "forged")
    record.clock.days = 31
    assert await record.keeper().round() == 0
    assert await record.secrets() == 1


class _Breaks:
    """A bus on which so many messages are deleted, and then nobody answers."""

    def __init__(self, bus: Bus, lets: int) -> None:
        self._bus = bus
        self._lets = lets

    def __getattr__(self, name: str) -> object:
        return getattr(self._bus, name)

    async def erase(self, stream: str, sequence: int) -> None:
        self._lets -= 1
        if self._lets < 0:
            raise Unreachable("the bus is away")
        await self._bus.erase(stream, sequence)


@pytest.mark.parametrize("lets", [0, 1])
async def test_who_dies_between_saying_and_deleting_is_followed_by_one_who_does_it(
    record: ToldRecord, lets: int
) -> None:
    job = await record.admitted("train", "c1")
    await record.revised(job, "hunter2 too")
    await record.over(job)
    live = await record.admitted("other", "c2")
    record.clock.days = 31
    with pytest.raises(Unreachable):
        await ToldRecord(_Breaks(record.bus, lets), record.clock).keeper().round()
    assert await record.secrets() == 3 - lets
    await record.keeper().round()
    assert await record.manifests() == [record.lives[live].job.submitted_as.sequence]
    assert {one.sequence for told in await record.told() for one in told.removed} == {1, 3}


async def test_a_keeper_whose_bus_was_away_goes_on(record: ToldRecord) -> None:
    for name in ("one", "two", "three"):
        await record.over(await record.admitted(name, name))
    record.clock.days = 31
    keeper = ToldRecord(_Breaks(record.bus, 1), record.clock).keeper()
    for _ in range(2):
        with pytest.raises(Unreachable):
            await keeper.round()
    assert await record.secrets() == 2
    await record.keeper().round()
    assert await record.secrets() == 0


async def test_two_at_once_are_as_good_as_one(record: ToldRecord) -> None:
    for number in range(10):
        await record.over(await record.admitted(f"job-{number}", f"c{number}"))
    live = await record.admitted("other", "c")
    record.clock.days = 31
    await asyncio.gather(*(record.keeper().round() for _ in range(2)))
    assert await record.manifests() == [record.lives[live].job.submitted_as.sequence]
    assert {told.job for told in await record.told()} == {*record.lives} - {live}


class _Counts(_Breaks):
    """Counts what was read of the record."""

    def __init__(self, bus: Bus) -> None:
        super().__init__(bus, 1_000)
        self.read = 0

    def history(self, *args: object, **more: object) -> object:
        return self._counted(self._bus.history(*args, **more))

    async def _counted(self, past: object) -> object:
        async for one in past:
            self.read += 1
            yield one


async def test_who_starts_again_does_not_read_again_what_is_done(record: ToldRecord) -> None:
    long = await record.admitted("long", "c0")
    for number in range(30):
        await record.over(await record.admitted(f"job-{number}", f"c{number + 1}"))
    record.clock.days = 31
    assert await record.keeper().round() == 30
    before = len(await record.places())
    counting = _Counts(record.bus)
    assert await ToldRecord(counting, record.clock).keeper().round() == 0
    assert counting.read < 45 < before, "the words of the keeper, one manifest that is left, and what answered it"
    await record.then(long, wire.Queue, queue="q")
    await record.then(long, wire.Cancelled, who="ada")
    assert await record.keeper().round() == 1
    assert await record.secrets() == 0


class _Meanwhile(_Breaks):
    """Another keeper deletes the last manifests as soon as this one has begun to read them."""

    def __init__(self, bus: Bus, places: list[int]) -> None:
        super().__init__(bus, 1_000)
        self._left = places

    def history(self, *args: object, **more: object) -> object:
        return self._read(self._bus.history(*args, **more))

    async def _read(self, past: object) -> object:
        async for one in past:
            while self._left and one.subject.startswith("fairway.job.submitted."):
                await self._bus.erase("JOBS", self._left.pop())
            yield one


async def test_who_starts_while_another_one_deletes_does_not_wait_for_what_that_has_deleted(record: ToldRecord) -> None:
    await record.bus.publish([_submission(record, number) for number in range(4_000)])
    await record.over(await record.admitted("last", "last"))
    record.clock.days = 31
    assert await record.keeper().round() == 1
    there = await record.manifests()
    reader = ToldRecord(_Meanwhile(record.bus, there[-50:]), record.clock)
    async with asyncio.timeout(60):
        assert await reader.keeper().round() == 0
    assert len(await record.manifests()) == len(there) - 50


def _submission(record: ToldRecord, number: int) -> Outgoing:
    asked = submission(Asked(manifest(f"job-{number}"), client=f"c{number}"), Actor("ada", "http"), record.clock.now())
    return Outgoing(asked.say.id, asked.say.subject, msgspec.json.encode(asked.say.message), "fairway.job.submitted")
