"""A record out of which manifests were removed: it makes the same working set, and whoever reads it goes on, and says
what is gone."""

import asyncio

import msgspec

from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.memory.user_bus import UserBus
from fairway.explain.story import Story, story_of
from fairway.keeper.service import Keeper
from fairway.operate.replay.decisions import DecisionFilter, replay
from fairway.operate.replay.report import lines
from fairway.runtime.record.rebuild import rebuild
from fairway.wire import jobs as wire
from fairway.wire.inbound import SubmitRequest
from tests.scenarios.memory_fleet import Fleet, manifest, running, runs

DAY_S = 86_400


class _Unhurried:
    """The fleet's clock, for whom nobody has to wait."""

    def __init__(self, fleet: Fleet, days: float = 0.0) -> None:
        self._fleet = fleet
        self._ms = int(days * DAY_S * 1000)

    def now(self) -> int:
        return self._fleet.clock.now() + self._ms

    async def sleep(self, seconds: float) -> None:
        return None


async def _lived(fleet: Fleet) -> dict[str, str]:
    """Jobs by what became of them. One runs on."""
    jobs = {"succeeded": await fleet.submit("good"), "too large": await fleet.submit("large", gpus=99)}
    fleet.plays["long"] = [runs(0, "")]
    jobs["running"] = await fleet.submit("long")
    jobs["cancelled"] = await fleet.submit("stopped")
    await fleet.cancel(jobs["cancelled"])
    await fleet.quiet(60)
    return jobs


async def _removed(fleet: Fleet, days: float = 31) -> int:
    """By a keeper that comes so many days later, and once more when it knows what admission has handled."""
    keeper = Keeper(UserBus(fleet.bus, "keeper"), _Unhurried(fleet, days), 30 * DAY_S * 1000, letters_ms=0)
    return await keeper.round() + await keeper.round()


async def _made(fleet: Fleet, number: int) -> tuple[object, ...]:
    """The working set that the record makes, without what counts lives of the store."""
    store = MemoryStore()
    await store.begin_rebuild("me", 1_000)
    await rebuild(fleet.bus, store, "me", number)
    rows = {table: {key: (row.rev, row.data) for key, row in rows.items()} for table, rows in store.rows.items()}
    counters = {table: {**counts} for table, counts in store.counters.items() if table in ("quota", "pending")}
    return rows, counters


def _manifests(fleet: Fleet) -> list[str]:
    return [one.job for one in fleet.record() if isinstance(one, wire.Manifested)]


async def test_the_same_working_set_is_made_and_the_auditor_finds_nothing() -> None:
    async with running(c1=(8, 8)) as fleet:
        jobs = await _lived(fleet)
        before = await _made(fleet, 1)
        asked = fleet.findings()
        assert asked.ok and {"clients", "jobs", "live", "names"} <= before[0].keys()
        assert await _removed(fleet) == 2
        assert _manifests(fleet) == [jobs["too large"], jobs["running"]]
        assert await _made(fleet, 2) == before
        after = fleet.findings()
        assert after.violations == ()
        assert (after.submitted, after.asked, after.ends) == (asked.submitted, asked.asked, asked.ends)


async def test_a_job_that_nobody_submitted_is_still_found() -> None:
    async with running(c1=(8,)) as fleet:
        await _lived(fleet)
        first = next(one for one in fleet.bus.stored("JOBS") if one.subject.startswith("fairway.job.submitted."))
        await fleet.bus.erase("JOBS", first.sequence)
        (found,) = fleet.findings().violations
        assert found.rule == "origin" and "without a submitted message" in found.text


async def _story(fleet: Fleet, job: str) -> Story:
    store = fleet.store.beside()
    await store.open()
    found = await story_of(fleet.bus, store, job)
    assert found is not None
    return found


async def test_its_story_says_when_the_manifest_was_removed_and_its_digest() -> None:
    async with running(c1=(8, 8)) as fleet:
        jobs = await _lived(fleet)
        told = (await _story(fleet, jobs["succeeded"])).lines
        digest = fleet.jobs()[jobs["succeeded"]].submitted_as.sha256
        await _removed(fleet)
        after = await _story(fleet, jobs["succeeded"])
        assert [one.what for one in after.lines] == [*(one.what for one in told[1:]), "manifests_removed"]
        assert after.missing == ()
        last = after.lines[-1]
        assert last.sentence == (
            "The manifest of this job was removed from the record on 2023-12-15 22:14:20Z, 30 d or more after its end "
            "(FAIRWAY_MANIFESTS_KEPT)."
        )
        assert last.details[0].endswith(f"its sha256 is {digest}")
        assert "submitted by team-a (on the bus) as c1" in last.details[0]
        running_on = (await _story(fleet, jobs["running"])).lines
        assert running_on[0].what == "submitted"


async def test_who_submits_once_more_under_the_same_id_is_told_of_the_same_job() -> None:
    """The row of its client is made of events; its new message goes, too."""
    async with running(c1=(8, 8)) as fleet:
        job = await fleet.submit("good")
        await fleet.quiet(60)
        assert await _removed(fleet) == 1
        events = len(fleet.said(job))
        raw = msgspec.Raw(msgspec.json.encode(manifest("good", 1, 1)))
        await fleet.ask("another-id", "team-a", SubmitRequest(manifest=raw, client="c1"))
        await fleet.quiet(60)
        assert fleet.said(job).count("submitted") == 1 and len(fleet.said(job)) == events + 1
        await fleet.submit("later")
        await fleet.quiet(60)
        assert await _removed(fleet) == 2, "the later one, and when that is read, what repeated the first"
        assert job not in _manifests(fleet)
        assert fleet.findings().violations == ()


async def test_decisions_on_what_is_gone_are_said_to_be_unknown_and_why() -> None:
    async with running(views=True, c1=(8, 8)) as fleet:
        await _lived(fleet)
        before = await replay(fleet.bus, DecisionFilter())
        assert before.complete
        await _removed(fleet)
        after = await replay(fleet.bus, DecisionFilter())
        assert after.good and not after.different and not after.rows
        others = {name for name, one in after.stages.items() if one.identical == before.stages[name].identical}
        assert others == {*after.stages} - {"admission"}
        whys = {one.why.text for one in after.stages["admission"].unknown}
        assert whys and all("was removed from the record on 2023-12-15; its sha256 is" in why for why in whys)
        assert any("FAIRWAY_MANIFESTS_KEPT" in line for line in lines(after))


async def test_a_keeper_that_runs_looks_again_and_again() -> None:
    async with running(c1=(8, 8)) as fleet:
        job = await fleet.submit("good")
        keeper = Keeper(UserBus(fleet.bus, "keeper"), fleet.clock, 600_000)
        task = asyncio.create_task(keeper.run())
        try:
            await fleet.quiet(300)
            assert job in _manifests(fleet)
            await fleet.quiet(400)
            assert job not in _manifests(fleet)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
