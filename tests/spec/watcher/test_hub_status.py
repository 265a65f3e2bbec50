"""What the hub's objects show, attempt by attempt: the mirror against an API server over real HTTP."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from fairway.domain.decision import NOTHING, Call
from fairway.watcher.hub_status import final
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.cases.job_statuses import LATER, START, on
from tests.spec.builders.hub_mirror import JOB, House, opened
from tests.spec.builders.lives import Life, dispatched, failing, running

Json = dict[str, Any]
TORCH = "PyTorchJob.kubeflow.org/v1"
WORKFLOW = "Workflow.argoproj.io/v1alpha1"
WHY = Reason(Code.JOB_FAILED, "its pod failed")
UP = {"startTime": START, "active": 1, "ready": 1}
FAILED = {"startTime": START, "failed": 1, "conditions": on("FailureTarget", "Failed")}
DONE = {"startTime": LATER, "completionTime": LATER, "succeeded": 1, "conditions": on("SuccessCriteriaMet", "Complete")}


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as house:
        yield house


def conditions(status: Json) -> list[str]:
    return [one["type"] for one in status.get("conditions", ()) if one["status"] == "True"]


def ended(life: Life, verb: type[wire.Failed] | type[wire.Lost], code: Code = Code.JOB_FAILED) -> Life:
    return life.then(verb, cluster="c1", why=Reason(code, "as it is"), final=True)


async def test_a_change_is_one_call_and_what_is_the_same_is_none(house: House) -> None:
    job = house.job(running())
    house.saw(job, UP)
    assert await house.shows(active=1) == UP
    house.saw(job, UP)
    house.saw(job, UP | {"ready": 0})
    await house.shows(ready=0)
    assert house.hub.calls == ["patch", "patch"]


async def test_changes_of_one_moment_are_one_call_and_the_newest_wins(house: House) -> None:
    job = house.job(running())
    for ready in range(5):
        house.saw(job, UP | {"active": 4, "ready": ready})
    await house.shows(ready=4)
    assert house.hub.calls == ["patch"]


async def test_a_failed_attempt_is_no_end_and_the_end_is_shown_when_it_comes(house: House) -> None:
    first = running()
    house.saw(house.job(first), UP)
    await house.shows(active=1)
    house.saw(house.job(first), FAILED)
    failing(first)
    (failed, *_) = [one for _, one in first.said if one.verb == "failed"]
    assert await house.told(house.job(first), failed) == NOTHING
    between = await house.shows()
    assert (between["active"], between["ready"], conditions(between)) == (0, 0, [])
    again = msgspec.structs.replace(house.job(running()), attempt=2)
    house.saw(again, {"startTime": LATER, "active": 1, "ready": 1})
    await house.shows(active=1, startTime=START)
    house.saw(again, DONE)
    assert conditions(await house.shows(succeeded=1)) == ["SuccessCriteriaMet", "Complete"]


async def test_a_failure_is_the_end_when_the_record_says_so_in_the_members_words(house: House) -> None:
    life = running(attempts=1)
    house.saw(house.job(life), UP)
    house.saw(house.job(life), FAILED)
    await house.shows(active=1)
    assert await house.told(house.job(ended(life, wire.Failed)), life.said[-1][1]) == NOTHING
    assert await house.shows() == FAILED | {"ready": 0}


@pytest.mark.parametrize(("of_another", "said"), [("", 7), ("made by somebody else", None)])
async def test_a_failure_that_nobody_saw_is_looked_up_in_the_member(house: House, of_another: str, said: Any) -> None:
    there = await house.member.apply(JOB, {"metadata": {"name": "a", "namespace": "team-a"}})
    house.member.show((JOB, "team-a", "a"), FAILED | {"failed": 7})
    life = ended(dispatched(attempts=1, uid=of_another or there.uid), wire.Failed)
    await house.told(house.job(life), life.said[-1][1])
    assert (await house.shows()).get("failed") == said


ENDS = {
    "never started": (ended(running(), wire.Lost, Code.START_TIMEOUT), "StartTimeout"),
    "failed, and its object is gone": (ended(running(), wire.Failed), "JobFailed"),
    "cancelled": (running().then(wire.Cancelled, who="ann"), "Cancelled"),
}


@pytest.mark.parametrize(("life", "code"), ENDS.values(), ids=list(ENDS))
async def test_an_end_that_no_member_shows_is_shown_with_its_reason(house: House, life: Life, code: str) -> None:
    await house.told(house.job(life), life.said[-1][1])
    status = await house.shows()
    assert conditions(status) == ["FailureTarget", "Failed"]
    assert {one["reason"] for one in status["conditions"]} == {code}


async def test_a_refused_job_fails_on_the_hub_with_the_reason(house: House) -> None:
    why = (Reason(Code.EXCEEDS_MAX_QUOTA, "asks for more than there is"),)
    hub = wire.HubRef(house.uids["a"], "jobs")
    head = {"job": "a-1", "tenant": "team-a", "attempt": 1, "rev": 1, "kind": "Job", "api_version": "batch/v1"}
    said = wire.Rejected(**head, reasons=why, name="a", hub=hub)
    await house.told(house.job(running(), name="a"), said)
    (_, failed) = (await house.shows())["conditions"]
    assert (failed["reason"], failed["message"]) == ("ExceedsMaxQuota", "asks for more than there is")


async def test_after_a_restart_nothing_is_written_again(house: House) -> None:
    await house.make("b")
    await house.make("c")
    job = house.job(running())
    over = house.job(running().then(wire.Succeeded, cluster="c1"), "b")
    house.saw(job, UP)
    house.saw(over, DONE)
    await asyncio.gather(house.shows("a", active=1), house.shows("b", succeeded=1))
    await house.restart()
    house.saw(job, UP)
    house.saw(over, DONE)
    house.saw(house.job(running(), "c"), UP)
    await house.shows("c", active=1)
    assert house.hub.calls == ["patch"]


async def test_an_end_stays_whatever_is_said_later(house: House) -> None:
    house.saw(house.job(running()), DONE)
    await house.shows(succeeded=1)
    await house.restart()
    life = running().then(wire.Cancelled, who="ann")
    await house.told(house.job(life), life.said[-1][1])
    assert conditions(await house.shows()) == ["SuccessCriteriaMet", "Complete"]
    assert house.hub.calls == []


async def test_the_last_pods_are_counted_after_the_end_and_the_end_stays_that_end(house: House) -> None:
    await house.make("t", TORCH)
    over = house.job(running().then(wire.Succeeded, cluster="c1"), "t", TORCH)
    for worker in ({"active": 1}, {"succeeded": 1}):
        house.saw(over, {"conditions": on("Succeeded"), "replicaStatuses": {"Worker": worker}})
        await house.shows("t", TORCH, replicaStatuses={"Worker": worker})
    house.saw(over, {"conditions": on("Failed"), "replicaStatuses": {"Worker": {"failed": 1}}})
    await house.restart()
    house.saw(over, {"conditions": on("Failed"), "replicaStatuses": {"Worker": {"failed": 1}}})
    house.saw(house.job(running()), UP)
    await house.shows(active=1)
    assert conditions(await house.shows("t", TORCH)) == ["Succeeded"]


OLD = {
    "an attempt before": (running(), {"attempt": 2}, 1),
    "one in another cluster": (running(), {"cluster": "c2"}, 1),
    "one that is being taken out": (running(), {"removing": "c1"}, 1),
}


@pytest.mark.parametrize(("life", "changed", "attempt"), OLD.values(), ids=list(OLD))
async def test_what_does_not_speak_for_the_job_is_not_shown(
    house: House, life: Life, changed: Json, attempt: int
) -> None:
    await house.make("b")
    house.saw(msgspec.structs.replace(house.job(life), **changed), UP, attempt)
    house.saw(house.job(running(), "b"), UP)
    await house.shows("b", active=1)
    assert await house.shows() == {}


async def test_late_news_of_a_failed_attempt_does_not_touch_the_next_one(house: House) -> None:
    house.saw(msgspec.structs.replace(house.job(running()), attempt=2), UP)
    await house.shows(active=1)
    word = final.FinalWord(final.HubPlace(JOB, "team-a", "a", house.uids["a"]), WHY, 0)
    await house.mirror(Call(final.SHOW, "c1", house.job(running()).id, 1, word))
    assert house.hub.calls == ["patch"]


async def test_an_object_that_was_refused_and_then_edited_shows_the_job_it_stands_for_now(house: House) -> None:
    await house.make("w", WORKFLOW)
    word = final.FinalWord(final.HubPlace(WORKFLOW, "team-a", "w", house.uids["w"]), WHY, 0, final=True)
    await house.mirror(Call(final.SHOW, "", "refused-1", 0, word))
    await house.shows("w", WORKFLOW, phase="Failed")
    house.saw(house.job(running(), "w", WORKFLOW), {"phase": "Running"})
    await house.shows("w", WORKFLOW, phase="Running")


async def test_a_kind_without_status_subresource_is_asked_twice_only_once(house: House) -> None:
    await house.make("w", WORKFLOW)
    job = house.job(running(), "w", WORKFLOW)
    house.saw(job, {"phase": "Running"})
    await house.shows("w", WORKFLOW, phase="Running")
    house.saw(job, {"phase": "Succeeded"})
    await house.shows("w", WORKFLOW, phase="Succeeded")
    assert house.hub.calls == ["patch", "patch", "patch"]


async def test_an_object_made_anew_under_the_name_is_left_alone(house: House) -> None:
    job = house.job(running())
    steps = [{"op": "add", "path": "/metadata/labels", "value": {"by": "test"}}]
    await house.hub.patch(JOB, "team-a", "a", steps)
    assert await house.hub.delete(JOB, "team-a", "a", {"by": "test"}, 5.0)
    await house.make()
    house.saw(job, UP)
    assert await house.told(job, ended(running(), wire.Lost).said[-1][1]) == NOTHING
    assert await house.shows() == {}


async def test_what_somebody_else_wrote_is_reckoned_with(house: House) -> None:
    house.saw(house.job(running()), UP)
    await house.shows(active=1)
    value = UP | {"failed": 3}
    await house.hub.patch(JOB, "team-a", "a", [{"op": "add", "path": "/status", "value": value}], "status")
    house.saw(house.job(running()), UP | {"ready": 0, "failed": 1})
    assert (await house.shows(ready=0))["failed"] == 3


async def test_a_hub_that_is_away_gets_the_newest_word_when_it_is_back(house: House) -> None:
    house.control.refuse("503")
    house.saw(house.job(running()), UP)
    life = ended(running(), wire.Lost)
    waiting = asyncio.create_task(house.told(house.job(life), life.said[-1][1]))
    house.control.restore()
    assert await waiting == NOTHING
    assert conditions(await house.shows()) == ["FailureTarget", "Failed"]


async def test_sixteen_objects_are_written_at_once_and_each_in_order(house: House) -> None:
    names = [f"j{number}" for number in range(20)]
    for name in names:
        await house.make(name)
    house.hub.gate.clear()
    for name in names:
        house.saw(house.job(running(), name), UP)
    await asyncio.wait_for(house.hub.full.wait(), 5)
    for name in names:
        house.saw(house.job(running(), name), UP | {"ready": 0})
    assert house.hub.in_flight == 16
    house.hub.gate.set()
    await asyncio.gather(*(house.shows(name, ready=0) for name in names))
