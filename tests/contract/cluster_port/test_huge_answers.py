"""A member, or whoever has taken its place, that answers without end: it is not read without end."""

import asyncio
import zlib

import msgspec
import pytest
from aiohttp import web

from fairway.adapters.kubernetes import http as kubernetes_http
from fairway.adapters.remote import messages
from fairway.runtime.ports import Unreachable
from tests.contract.cluster_port.test_odd_answers import KIND, api, config_map, lines, page, told


async def endless(request: web.BaseRequest) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(1_000):
        await response.write(b" " * 1_000)
        await asyncio.sleep(0.01)
    return response


async def test_an_answer_is_read_as_far_as_an_answer_may_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubernetes_http, "_MOST_BYTES", 10_000)
    async with api(endless) as (_, cluster):
        with pytest.raises(Unreachable, match="larger than 10000 bytes"):
            await cluster.get(KIND, "team", "a")


async def test_a_line_of_a_watch_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubernetes_http, "_MOST_LINE", 10_000)
    added = {"type": "ADDED", "object": config_map("b", "2", "43")}
    expired = {"type": "ERROR", "object": {"code": 410}}
    async with api(page(), endless, lines(added, expired), page()) as (_, cluster):
        assert await told(cluster, syncs=2) == ["synced", "+b", "-b", "synced"]


@pytest.mark.parametrize(("size", "taken"), [(10_000, True), (10_001, False)])
def test_a_few_bytes_of_a_member_in_pull_mode_do_not_stand_for_very_many(
    size: int, taken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "_MOST", 10_000)
    frame = msgspec.msgpack.encode(("call", 0, 0, zlib.compress(b"x" * size)))
    if taken:
        assert messages.Assembler().take(frame) == ("call", b"x" * size)
        return
    with pytest.raises(messages.Broken, match="more than 10000 bytes"):
        messages.Assembler().take(frame)
