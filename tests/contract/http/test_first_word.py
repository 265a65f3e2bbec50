"""Submitting over HTTP and waiting: whoever does hears the first word that is said of the job."""

import asyncio
from collections.abc import AsyncIterator, Callable

import httpx
import msgspec
import pytest_asyncio

from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.support.http_door import House, job, opened


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        yield one


async def waiting(house: House, answer: Callable[[wire.Submitted], wire.JobMessage]) -> httpx.Response:
    """Posts with wait=admitted, and lets `answer` be said once the submission is there."""

    async def reply() -> None:
        async for one in house.bus.history("JOBS", ["fairway.job.submitted.>"], live=True):
            if one.subject:
                await house.say("word", answer(msgspec.json.decode(one.data, type=wire.Submitted)))
                return

    async with asyncio.TaskGroup() as group:
        group.create_task(reply())
        post = house.http.post("/v1/jobs", json={"manifest": job()}, params={"wait": "admitted"})
        return await post


async def test_who_waits_hears_that_the_job_was_queued(house: House) -> None:
    got = await waiting(house, lambda said: wire.Queue(job=said.job, tenant="team-a", rev=2, queue="gold"))
    assert (got.status_code, got.json()["state"], got.json()["queue"]) == (202, "queued", "gold")


async def test_who_waits_hears_every_reason_of_a_rejection(house: House) -> None:
    reasons = (
        Reason(Code.INVALID, "is -1", "spec.parallelism", "write a number of 0 or more"),
        Reason(Code.NO_POLICY, "no policy selects Job team-a/train", "", "apply a PropagationPolicy"),
    )
    got = await waiting(house, lambda said: wire.Rejected(job=said.job, tenant="team-a", rev=1, reasons=reasons))
    assert (got.status_code, got.json()["title"]) == (422, "spec.parallelism: is -1 (and 1 more)")
    assert got.json()["reasons"] == [
        {"code": "Invalid", "field": "spec.parallelism", "text": "is -1", "remedy": "write a number of 0 or more"},
        {
            "code": "NoPolicy",
            "field": "",
            "text": "no policy selects Job team-a/train",
            "remedy": "apply a PropagationPolicy",
        },
    ]


async def test_a_rejection_under_another_job_id_is_known_by_its_cause(house: House) -> None:
    why = (Reason(Code.DUPLICATE, "is live already", "metadata.name", "choose another name"),)

    def answer(said: wire.Submitted) -> wire.JobMessage:
        cause = house.bus._log["JOBS"][0].id
        return wire.Rejected(job="another", tenant="team-a", rev=1, reasons=why, cause=cause)

    got = await waiting(house, answer)
    assert (got.status_code, got.json()["code"], got.json()["job"]) == (409, "Duplicate", "another")
