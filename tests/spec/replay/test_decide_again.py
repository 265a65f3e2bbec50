"""What was decided is decided again on what was seen: the same; or it is said what differs, or why nobody can tell."""

from collections.abc import Callable
from itertools import groupby

import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.domain.decision import Decision, Heard
from fairway.domain.events import Teller
from fairway.global_scheduler.decide import SERVICE, View, decide
from fairway.operate.replay.decisions import DecisionFilter, replay
from fairway.operate.replay.report import DecisionReport, lines
from fairway.placement.choose import choose
from fairway.placement.scores import Weights
from fairway.placement.verdicts.recorded import recorded
from fairway.placement.verdicts.verdict import Context
from fairway.runtime.ports import Commit, Delivery, Outgoing
from fairway.wire import jobs as wire
from fairway.wire import views
from fairway.wire.reasons import Code, Reason
from tests.spec.replay.recorded import House, open_house, said_in

ALL = DecisionFilter()


async def copied(bus: MemoryBus, keep: Callable[[Delivery], bool]) -> MemoryBus:
    """The same record with these of its views."""
    made = MemoryBus()
    for stream in ("JOBS", "VIEWS"):
        for one in bus.stored(stream):
            if stream == "JOBS" or keep(one):
                await made.publish([Outgoing(one.id, one.subject, one.data)])
    return made


def decided_in(bus: MemoryBus) -> list[Delivery]:
    """What the scheduler said."""
    return [one for one in bus.stored("JOBS") if said_in(one).is_of(SERVICE)]


def codes(report: DecisionReport) -> list[Code]:
    return [code for code, _ in groupby(one.why.code for one in report.unknown)]


@pytest.mark.parametrize("alongside", [32, 0])
@pytest.mark.parametrize("seed", range(6))
async def test_every_decision_is_the_same_again(seed: int, alongside: int) -> None:
    """Whether what it found stands in its event or apart."""
    async with open_house(seed, rounds=30, alongside=alongside) as house:
        report = await replay(house.bus, ALL)
    assert (report.different, report.unknown, report.unsaid) == ([], [], 0)
    assert report.identical == len(house.jobs())


def loosely(view: View, heard: Heard, now: int) -> Decision:
    """Another scoring: what fits is spread, not packed."""
    decided = decide(view, heard, now)
    job = view.jobs.get(heard.message.job)
    if (
        job is None
        or job.spec is None
        or not decided.steps
        or [say.message.verb for say in decided.steps[0].events] != ["placed"]
    ):
        return decided
    weights = Weights(tightness=0, spread_load=9)
    context = Context(now=now, stale_after=view.stale_after, avoid=job.avoid, weights=weights)
    choice = choose(view.clusters, job.spec.workload, job.spec.placement, context)
    assert choice.plan is not None
    teller = Teller(view, SERVICE, heard, now, heard.message.job)
    found = {"affinity": choice.affinity, "seen": view.version, "found": recorded(choice.verdict_table)}
    return Decision((teller.say(wire.Placed, cluster=choice.cluster, slots=choice.plan.slots, **found).step(),))


@pytest.mark.parametrize("alongside", [32, 0])
async def test_another_scoring_shows_field_by_field_and_only_in_what_it_decides_itself(alongside: int) -> None:
    async with open_house(1, rounds=30, alongside=alongside) as house:
        report = await replay(house.bus, ALL, {SERVICE: loosely})
    assert report.identical + len(report.different) == len(house.jobs())
    assert (len(report.different) > 20, report.unknown) == (True, [])
    fields = {name for one in report.different for name in one.fields}
    assert {"cluster", "slots", "found.east.scores.total"} <= fields
    # What was seen stays what it was: no verdict on room is another one.
    assert {name.rpartition(".")[2] for name in fields} == {"cluster", "slots", "total"}
    moved = next(one for one in report.different if "cluster" in one.fields)
    told = list(lines(report))
    before, after = moved.fields["cluster"]
    assert f'  cluster: recorded "{before}", now "{after}"' in told
    assert told[-1].startswith("all: ")
    assert told[-1].endswith(f"{len(report.different)} different")


async def test_a_replay_begins_in_the_middle_with_the_view_as_it_was() -> None:
    async with open_house(2, rounds=60, least=0) as house:
        whole = [one for one in house.bus.stored("VIEWS") if ".whole." in one.subject]
        assert len(whole) > 3
        middle = views.decode(whole[len(whole) // 2].data).at + 1
        kept = await copied(house.bus, lambda one: one.sequence >= whole[len(whole) // 2].sequence)
        report = await replay(kept, DecisionFilter(since=middle))
        assert (report.different, report.unknown) == ([], [])
        assert 0 < report.identical < len(house.jobs()) - 10
        everything = await replay(kept, ALL)
        assert (everything.different, codes(everything)) == ([], [Code.VIEW_NOT_KEPT])
        assert everything.identical >= report.identical


async def test_one_job_is_decided_again_on_what_the_others_left_it() -> None:
    async with open_house(3, rounds=20) as house:
        report = await replay(house.bus, DecisionFilter(job="job-31"))
    assert (report.identical, report.different, report.unknown) == (1, [], [])


async def test_a_piece_that_is_lost_takes_with_it_what_nobody_can_know_then() -> None:
    async with open_house(4, rounds=60, least=0) as house:
        bus = await copied(house.bus, lambda one: one.id != "s1-9")
    report = await replay(bus, ALL)
    assert (report.different, codes(report)) == ([], [Code.VIEW_NOT_STORED])
    assert report.identical + len(report.unknown) == len(house.jobs())
    assert 0 < len(report.unknown) < len(house.jobs()) - 20


async def test_what_the_bus_does_not_take_in_time_is_given_up_and_said() -> None:
    views_bus = MemoryBus()
    async with open_house(5, rounds=10, views=views_bus, most=250_000) as house:
        views_bus.connected = False
        for _ in range(40):
            await house.round()
        views_bus.connected = True
        await house.later(2)
        for _ in range(10):
            await house.round()
        await house.later(1)
        bus = await copied(house.bus, lambda one: True)
        await bus.publish([Outgoing(one.id, one.subject, one.data) for one in views_bus.stored("VIEWS")])
        report = await replay(bus, ALL)
    told = [entry for one in views_bus.stored("VIEWS") for entry in views.unpacked(views.decode(one.data))]
    (gap,) = [entry for entry in told if isinstance(entry, views.Missing)]
    assert (report.different, codes(report)) == ([], [Code.VIEW_NOT_STORED])
    assert gap.decisions == len(report.unknown) > 20
    assert {one.why for one in report.unknown} == {gap.why}
    assert report.identical + len(report.unknown) == len(house.jobs())


async def test_what_was_said_twice_or_is_none_of_the_schedulers_is_no_decision() -> None:
    async with open_house(4, rounds=30) as house:
        said = decided_in(house.bus)
        await house.clock.advance(200)  # by now the bus does not know them again
        again = [Outgoing(one.id, one.subject, one.data) for one in said]
        back = next(one for one in said if ".queue." in one.subject)
        others = [Outgoing("junk", back.subject, b"{"), Outgoing("of-another-service", back.subject, back.data)]
        await house.bus.publish([*again, *others])
        report = await replay(house.bus, ALL)
    assert (report.identical, report.different, report.unknown) == (len(said), [], [])


class Beaten(MemoryStore):
    """Whoever places a job finds that it was cancelled meanwhile, or placed elsewhere by another scheduler."""

    house: House | None = None
    first: "Beaten"

    def beside(self) -> "Beaten":
        made = Beaten(self._memory, self._clock)
        made.first = getattr(self, "first", self)
        return made

    async def commit(self, commit: Commit) -> list[bool]:
        house = self.first.house
        for step in commit.steps if house else ():
            if step.events and step.events[0].message.verb == "placed":
                job = house.job(step.writes[0].key)
                if int(job.id.rpartition("-")[2]) % 2:
                    await house.happens(job, wire.Recall, cluster="", why=Reason(Code.CANCELLED, "cancelled"))
                else:
                    await house.happens(job, wire.Placed, cluster="elsewhere", slots=())
        return await super().commit(commit)


async def test_what_was_refused_took_its_room_from_who_was_decided_after_it_and_from_nobody_later() -> None:
    store = Beaten()
    async with open_house(6, store=store) as house:
        store.house = house
        for _ in range(30):
            await house.round()
        await house.later(1)
        report = await replay(house.bus, ALL)
        back = decided_in(house.bus)
    assert (report.different, report.unknown, report.rows) == ([], [], [])
    assert (report.identical, report.unsaid > 20) == (len(back), True)


async def test_without_views_nothing_can_be_decided_again_and_it_says_so() -> None:
    async with open_house(0, rounds=3) as house:
        bus = await copied(house.bus, lambda one: False)
    report = await replay(bus, ALL)
    assert (report.identical, codes(report), len(report.unknown)) == (0, [Code.VIEW_NOT_KEPT], len(house.jobs()))
    assert "there are none" in next(lines(report))
