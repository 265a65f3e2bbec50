"""Every stage decides the same again: in a whole pipeline in memory, with settings that change in the middle. There is
no hub in it: that one decides again, and otherwise, in tests/simulation/test_decided_again.py."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.domain.decision import NOTHING, Decision, Heard
from fairway.domain.names import job_id
from fairway.operate.replay.decisions import DecisionFilter, replay
from fairway.operate.replay.report import DecisionReport, lines
from fairway.replay.stages import STAGES
from fairway.runtime.ports import Outgoing
from fairway.wire import jobs as wire
from fairway.wire import views
from fairway.wire.fleet import Shown
from tests.scenarios.memory_fleet import Fleet, done, manifest, policy, running, runs
from tests.support.memory.cluster import Scene

ALL = DecisionFilter()
PIPELINE = [name for name in STAGES if name != "hub"]
SERVICES = list(dict.fromkeys(STAGES[name].service for name in PIPELINE))


def quota(most: int) -> dict[str, Any]:
    leaf = {"name": "a", "namespaces": ["team-a"], "max": {"nvidia.com/gpu": most}}
    root = {"name": "root", "max": {"nvidia.com/gpu": most}, "children": [leaf]}
    return {"apiVersion": "scheduling.sigs.k8s.io/v1beta1", "kind": "ElasticQuotaTree", "spec": {"root": root}}


async def lived(fleet: Fleet) -> None:
    """Jobs that run, wait, are cancelled, heard twice, and started anew on another working set."""
    fleet.configure("ElasticQuotaTree", "tree", quota(8))
    jobs = [await fleet.submit(f"first-{number}", pods=2, gpus=2) for number in range(4)]
    await fleet.quiet(0.3)
    fleet.configure("ElasticQuotaTree", "tree", quota(16))
    fleet.configure("ClusterPropagationPolicy", "all", policy())
    await fleet.cancel(jobs[0])
    await fleet.cancel(jobs[3])
    await fleet.quiet(2)
    for one in fleet.bus.stored("JOBS")[:30]:
        fleet.bus.again("JOBS", one.sequence)
    await fleet.quiet(2)
    fleet.store.wipe()
    await fleet.submit("second", pods=1, gpus=1)
    await fleet.submit("refused", pods=1, gpus=99)
    await fleet.quiet(30)
    await fleet.crash("queue")
    await fleet.submit("third", pods=1, gpus=1)
    await fleet.quiet(30)


async def recorded() -> MemoryBus:
    async with running(views=True, c1=(8, 8), c2=(8,)) as fleet:
        await lived(fleet)
        return fleet.bus


async def test_every_stage_decides_everything_again_as_it_did() -> None:
    report = await replay(await recorded(), ALL)
    assert (report.different, report.unknown, report.rows) == ([], [], [])
    assert list(report.stages) == [*SERVICES, "hub"]
    assert [name for name, stage in report.stages.items() if not stage.identical] == ["hub"]
    assert [line.partition(":")[0] for line in lines(report)] == [*SERVICES, "hub", "all"]


async def test_what_the_hub_was_told_of_a_status_is_told_again() -> None:
    async with running(views=True, c1=(8,)) as fleet:
        hub = wire.HubRef("h-1", "jobs")
        body = msgspec.Raw(msgspec.json.encode(manifest("a", 1, 1)))
        head = {"tenant": "team-a", "client": "hub:h-1", "source": "hub", "hub": hub, "at": fleet.clock.now()}
        await fleet.say("s1", wire.Submitted(job=job_id("team-a", "hub:h-1", "a"), manifest=body, **head))
        fleet.plays["a"] = [(Scene(100, {"active": 1}), Scene(300, {"active": 99, "ready": 99}), *runs()[1:])]
        await fleet.quiet(30)
        told = [msgspec.json.decode(one.data, type=Shown) for one in fleet.bus.stored("STATUS")]
        assert [one.status for one in told] == [{"active": 1}]
        events = {one.verb: one for one in fleet.record()}
        assert events["running"].status == {"active": 99, "ready": 99}
        assert events["succeeded"].status == done("Complete", "exit code 1")
        report = await replay(fleet.bus, ALL)
    assert (report.different, report.unknown, report.rows) == ([], [], [])
    assert report.stages["watcher"].identical


def forgets(name: str) -> Callable[..., Decision]:
    """A decision that comes to nothing where it said an event before."""
    decide = STAGES[name].decide

    def changed(memory: Any, heard: Heard[Any], now: int) -> Decision:
        made = decide(memory, heard, now)
        return NOTHING if any(step.events for step in made.steps) else made

    return changed


@pytest.mark.parametrize("name", PIPELINE)
async def test_a_stage_that_decides_otherwise_is_named_with_what_it_would_say_now(name: str) -> None:
    report = await replay(await recorded(), ALL, {name: forgets(name)})
    found = {service for service, stage in report.stages.items() if stage.different}
    assert found == {STAGES[name].service}
    first = report.stages[STAGES[name].service].different[0]
    assert not report.good
    assert first.fields.keys() >= {"steps"}
    assert any("would be decided otherwise" in line for line in lines(report))


async def test_another_call_is_a_difference_as_well() -> None:
    decide = STAGES["propagator"].decide

    def elsewhere(memory: Any, heard: Heard[Any], now: int) -> Decision:
        made = decide(memory, heard, now)
        calls = tuple(type(one)(one.verb, "elsewhere", one.job, one.attempt, one.body) for one in made.calls)
        return Decision(made.steps, calls, made.again_in)

    report = await replay(await recorded(), ALL, {"propagator": elsewhere})
    told, now = report.different[0].fields["calls"]
    assert told[0].cluster in ("c1", "c2")
    assert now[0].cluster == "elsewhere"


async def only(bus: MemoryBus, change: Callable[[views.Entry], views.Entry]) -> DecisionReport:
    """What is found when the entries of its views had been other ones."""
    made = MemoryBus()
    for stream in ("JOBS", "VIEWS"):
        for one in bus.stored(stream):
            data = one.data
            if stream == "VIEWS":
                piece = views.decode(data)
                entries = views.packed([change(entry) for entry in views.unpacked(piece)])
                data = views.encode(views.Piece(piece.instance, piece.number, piece.at, piece.after, entries))
            await made.publish([Outgoing(one.id, one.subject, data)])
    return await replay(made, ALL)


async def test_a_row_that_was_not_what_the_record_says_is_found_by_its_checksum() -> None:
    def spoiled(entry: views.Entry) -> views.Entry:
        if isinstance(entry, views.BatchFound) and any(entry.sums):
            sums = tuple(one ^ 1 if one else 0 for one in entry.sums)
            return views.BatchFound(entry.version, entry.counters, entry.jobs, entry.revs, sums)
        return entry

    report = await only(await recorded(), spoiled)
    assert report.different == []
    assert {row.table for row in report.rows} == {"jobs"}
    assert not report.good
    assert any("the row was not what the record says" in line for line in lines(report))


async def test_only_the_stages_that_are_asked_for_are_replayed() -> None:
    report = await replay(await recorded(), DecisionFilter(services=("propagator", "quota")))
    assert list(report.stages) == ["quota", "propagator"]
    assert (report.different, report.unknown) == ([], [])
