"""Commands that read what the record holds through the gateway."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from fairway.client.failure import DENIED, NOT_FOUND
from fairway.runtime.ports import Outgoing
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.fleet import DeadLetter
from fairway.wire.reasons import Code, Reason
from tests.contract.http.test_limits import serving
from tests.support.credential_door import run, token_file
from tests.support.http_door import ADMIN, ONLOOKER, TENANT_A, WIDE, House, job, row

A = "mine-aaaaaaaaaa"
MESSAGE = {"job": "other", "word": "canary"}


class Typed:
    def __init__(self, folder: Path, port: int) -> None:
        self._folder = folder
        self._url = f"http://127.0.0.1:{port}"

    async def __call__(self, token: str, *words: str) -> tuple[int, str]:
        options = ("--url", self._url, "--token-file", token_file(self._folder, token))
        return await asyncio.to_thread(run, self._folder, *words, *options)


@pytest.fixture
async def typed(tmp_path: Path) -> AsyncIterator[Typed]:
    async with serving(WIDE) as door:
        house: House = door.house
        await house.has(row(A))
        await house.say("s", wire.Submitted(job=A, tenant="team-a", manifest=msgspec.Raw(msgspec.json.encode(job()))))
        for number in range(3):
            why = Reason(Code.HANDLER_FAILED, "it failed")
            data = msgspec.json.encode({**MESSAGE, "n": number}) if number else b"\xff canary"
            letter = DeadLetter(service="quota", subject="fairway.job.queue.team-a", why=why, data=data)
            await house.bus.publish(
                [Outgoing(f"l{number}", subjects.dead_letter("quota"), msgspec.json.encode(letter))]
            )
        yield Typed(tmp_path, door.port)


async def test_the_manifest_is_written_as_it_is_applied(typed: Typed) -> None:
    code, text = await typed(TENANT_A, "manifest", A)
    assert (code, text.splitlines()[:2]) == (0, ["apiVersion: batch/v1", "kind: Job"])
    code, text = await typed(TENANT_A, "manifest", A, "-o", "json")
    assert (code, json.loads(text)["manifest"]) == (0, job())
    code, text = await typed(ONLOOKER, "manifest", A)
    assert code == DENIED and "may not get jobs.batch" in text


async def test_letters_are_listed_and_shown_with_the_message_or_why_it_is_withheld(typed: Typed) -> None:
    code, text = await typed(ADMIN, "dlq", "list", "--http")
    assert code == 0 and len(text.splitlines()) == 4 and "canary" not in text
    code, text = await typed(ADMIN, "dlq", "show", "2", "--http", "-o", "json")
    assert (code, json.loads(text)["message"]) == (0, {**MESSAGE, "n": 1})
    code, text = await typed(ADMIN, "dlq", "show", "1", "--http")
    assert code == 0 and "bytes that are no JSON" in text
    code, text = await typed(ADMIN, "dlq", "show", "99", "--http")
    assert code == NOT_FOUND
    code, text = await typed(TENANT_A, "dlq", "list", "--http")
    assert code == DENIED
