"""Another manifest of a job that is there, through every service that looks at it."""

from typing import Any

import msgspec
import pytest

from fairway.domain.submission import Asked, revision
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code
from tests.scenarios.memory_agents import KIND
from tests.scenarios.memory_fleet import Fleet, Json, manifest, running, runs

HUB = Actor("hub:team-a", "hub", "u-1")


def small(name: str, pods: int, **more: Any) -> Json:
    """As `Fleet.submit` makes it, with another parallelism and the same number of completions."""
    body = manifest(name, 4, 1, **more)
    return {**body, "spec": {**body["spec"], "parallelism": pods}}


async def revise(fleet: Fleet, job: str, body: Json) -> str:
    """Said as the hub says it; the digest by which it is answered."""
    given = fleet.jobs()[job]
    assert given.spec is not None
    client = given.spec.client.partition("/")[2]
    asked = revision(given, Asked(body, (), client), HUB, fleet.clock.now())
    message = asked.say.message
    assert isinstance(message, wire.Revise)
    await fleet.say(asked.say.id, message)
    await fleet.quiet(1)
    return asked.digest


def said(fleet: Fleet, kind: type[Any]) -> list[Any]:
    return [one for one in fleet.record() if isinstance(one, kind)]


def live(fleet: Fleet, name: str) -> Json:
    return fleet.clusters["c1"].objects[KIND, "team-a", name]


async def four_pods(fleet: Fleet) -> str:
    fleet.plays["a"] = [runs(60_000)]
    job = await fleet.submit("a", 4)
    await fleet.quiet(1)
    assert fleet.states() == {"a": "running"}
    return job


async def ends_well(fleet: Fleet, job: str) -> None:
    await fleet.quiet(70)
    assert fleet.jobs()[job].state.value == "succeeded"
    assert fleet.findings().violations == ()
    assert not fleet.bus.stored("DLQ")


async def test_a_job_that_runs_is_made_smaller_where_it_is() -> None:
    async with running(c1=(8,)) as fleet:
        job = await four_pods(fleet)
        digest = await revise(fleet, job, small("a", 2))
        now = fleet.jobs()[job]
        assert now.spec is not None
        assert (now.state.value, now.attempt, now.spec.manifest.sha256) == ("running", 1, digest)
        assert (now.spec.workload.pods, live(fleet, "a")["spec"]["parallelism"]) == (2, 2)
        assert fleet.said(job)[-3:] == ["revise", "adjust", "amended"]
        await ends_well(fleet, job)
        assert [len(one.applied) for one in fleet.clusters.values()] == [1]


async def test_it_is_made_as_large_again_as_what_is_reserved_and_no_larger() -> None:
    async with running(c1=(8,)) as fleet:
        job = await four_pods(fleet)
        await revise(fleet, job, small("a", 2))
        await revise(fleet, job, small("a", 4))
        assert live(fleet, "a")["spec"]["parallelism"] == 4
        body = manifest("a", 5, 1)
        digest = await revise(fleet, job, body)
        (answer,) = said(fleet, wire.Unchanged)
        assert (answer.why.code, answer.digest) == (Code.NEEDS_ROOM, digest)
        assert live(fleet, "a")["spec"]["parallelism"] == 4
        await ends_well(fleet, job)


async def test_a_template_that_changed_is_refused_and_the_job_runs_on() -> None:
    async with running(c1=(8,)) as fleet:
        job = await four_pods(fleet)
        before = fleet.jobs()[job]
        body = small("a", 4)
        body["spec"]["template"]["spec"]["containers"][0]["image"] = "y"
        await revise(fleet, job, body)
        (answer,) = said(fleet, wire.Unchanged)
        assert answer.why.text.startswith("spec.template.spec.containers[0].image cannot change")
        assert fleet.jobs()[job] == before
        await ends_well(fleet, job)


async def test_a_cluster_that_refuses_the_change_is_told_of_in_its_words() -> None:
    async with running(c1=(8,)) as fleet:
        job = await four_pods(fleet)
        fleet.clusters["c1"].refuses["a"] = "Forbidden"
        await revise(fleet, job, small("a", 2))
        (answer,) = said(fleet, wire.Unchanged)
        assert (answer.why.code, "c1 does not change a" in answer.why.text) == (Code.APPLY_REFUSED, True)
        await ends_well(fleet, job)


async def test_a_cluster_that_is_away_is_asked_until_it_answers() -> None:
    async with running(c1=(8,)) as fleet:
        job = await four_pods(fleet)
        fleet.clusters["c1"].away = True
        await revise(fleet, job, small("a", 2))
        assert not said(fleet, wire.Amended)
        fleet.clusters["c1"].away = False
        await fleet.quiet(2)
        assert live(fleet, "a")["spec"]["parallelism"] == 2
        await ends_well(fleet, job)


async def test_of_a_job_that_waits_the_queue_is_told_what_was_understood() -> None:
    async with running(c1=(1,)) as fleet:
        await fleet.submit("first", 1, 1)
        await fleet.quiet(0.2)
        job = await fleet.submit("a", 4)
        await fleet.quiet(0.2)
        assert fleet.jobs()[job].state.value == "queued"
        await revise(fleet, job, small("a", 1))
        (understood,) = said(fleet, wire.Revised)
        assert (understood.job, understood.spec.workload.pods) == (job, 1)


async def test_of_a_job_that_has_ended_nothing_is_said() -> None:
    async with running(c1=(8,)) as fleet:
        job = await fleet.submit("a", 4)
        await fleet.quiet(5)
        before = fleet.jobs()[job]
        assert before.ended
        await revise(fleet, job, small("a", 2))
        assert fleet.jobs()[job] == before
        assert not said(fleet, wire.Revised) + said(fleet, wire.Unchanged) + said(fleet, wire.Adjust)


@pytest.mark.parametrize("service", ["admission", "propagator"])
async def test_whoever_falls_meanwhile_makes_it_once(service: str) -> None:
    async with running(c1=(8,)) as fleet:
        job = await four_pods(fleet)
        given = fleet.jobs()[job]
        assert given.spec is not None
        client = given.spec.client.partition("/")[2]
        say = revision(given, Asked(small("a", 2), (), client), HUB, 5).say
        assert isinstance(say.message, wire.Revise)
        await fleet.say(say.id, say.message)
        await fleet.crash(service)
        await fleet.quiet(40)
        assert len(said(fleet, wire.Amended)) == 1
        assert live(fleet, "a")["spec"]["parallelism"] == 2
        await ends_well(fleet, job)


async def test_a_working_set_that_is_lost_is_made_with_what_was_changed() -> None:
    async with running(c1=(8,)) as fleet:
        job = await four_pods(fleet)
        await revise(fleet, job, small("a", 2))
        before = fleet.jobs()[job]
        fleet.store.wipe()
        await fleet.quiet(2)
        now = msgspec.structs.replace(fleet.jobs()[job], at=before.at, rev=before.rev)
        assert (now.spec, now.first_manifest, now.state) == (before.spec, before.first_manifest, before.state)
        await ends_well(fleet, job)
