"""A line of the log: of which job it speaks, and that no secret is in it."""

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import structlog

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.domain.decision import NOTHING, Call, Decision, Heard, Outcome
from fairway.process import log
from fairway.process.log import LEFT_OUT, log_level, without_secrets
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Outgoing, World
from fairway.runtime.service import Consumer, Service
from fairway.runtime.spoken_of import said_of
from fairway.runtime.views.jobs import JobsMemory
from fairway.wire import jobs as wire
from fairway.wire import subjects
from tests.spec.builders.lives import reserved
from tests.support.memory.clock import ManualClock, settle

ASKED = structlog.get_logger()


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Where a process's log goes."""
    written = io.StringIO()
    monkeypatch.setattr("sys.stderr", written)
    before = structlog.get_config()
    log.configure()
    yield written
    structlog.configure(**before)


def read(written: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.getvalue().splitlines()]


async def act(call: Call) -> Outcome:
    ASKED.warning("refused", cause="the member says no")
    return Outcome(call, False)


def decide(view: JobsMemory[Any], heard: Heard[wire.Reserved], now: int) -> Decision:
    if heard.message.cluster == "c9":
        raise ValueError("a mistake")
    return NOTHING if heard.outcomes else Decision(calls=(Call("apply", heard.message.cluster, heard.message.job, 3),))


async def told(written: io.StringIO, cluster: str) -> list[dict[str, Any]]:
    """The lines of a service that heard of one job that it is reserved there."""
    clock = ManualClock(1_000)
    bus = MemoryBus(clock)
    consumer = Consumer(subjects.JOBS, "s", ("fairway.job.reserved.>",), msgspec.json.Decoder(wire.Reserved))
    service = Service("mine", (consumer,), decide, JobsMemory, act=act)
    loop = asyncio.create_task(Loop(service, World(bus, MemoryStore(), clock, "o"), Meter()).run())
    _, message = reserved(cluster).said[-1]
    data = msgspec.json.encode(message)
    await bus.publish([Outgoing("m-7", subjects.job("reserved", "team-a"), data, order="llm-1")])
    for _ in range(5):
        await clock.advance(1)
        await settle(30)
    loop.cancel()
    await asyncio.gather(loop, return_exceptions=True)
    return [one for one in read(written) if one["event"] in ("refused", "handler failed")]


async def test_what_is_logged_while_a_service_acts_for_a_job_names_it(lines: io.StringIO) -> None:
    (line,) = await told(lines, "c1")
    known = {"service": "mine", "job": "llm-1", "tenant": "team-a", "attempt": 3, "cluster": "c1", "message_id": "m-7"}
    assert known.items() <= line.items()
    assert (line["level"], line["cause"]) == ("warning", "the member says no")


async def test_a_handler_that_fails_names_the_job_of_its_message_and_the_next_line_does_not(lines: io.StringIO) -> None:
    line = (await told(lines, "c9"))[0]
    known = {"service": "mine", "job": "llm-1", "tenant": "team-a", "attempt": 1, "cluster": "c9", "message_id": "m-7"}
    assert known.items() <= line.items()
    ASKED.warning("another")
    assert "job" not in read(lines)[-1]


def test_a_message_on_its_way_out_is_named_too() -> None:
    _, message = reserved().said[-1]
    sent = Outgoing("m-1", "fairway.job.reserved.team-a", msgspec.json.encode(message))
    assert said_of(sent) == {"message_id": "m-1", "job": "llm-1", "tenant": "team-a", "attempt": 1, "cluster": "c1"}
    assert said_of(Outgoing("m-2", "fairway.x", b"no json")) == {"message_id": "m-2"}


JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("given", "canary"),
    [
        pytest.param({"password": "canary-1"}, "canary-1", id="by its key"),
        pytest.param({"bearer_token": "canary-1"}, "canary-1", id="by the end of its key"),
        pytest.param({"cause": f"401 for Bearer {JWT}"}, JWT, id="a bearer token"),
        pytest.param({"cause": f"the file says {JWT}."}, JWT, id="a web token"),
        pytest.param({"cause": "nats://queue:canary-1@h:4222 is away"}, "canary-1", id="in an address"),
        pytest.param({"cause": f"key {PEM} does not fit"}, "MIIE", id="a private key"),
        pytest.param({"cause": "env DB_x password=canary-1 refused"}, "canary-1", id="behind its word"),
        pytest.param({"cause": '{"token": "canary-1"}'}, "canary-1", id="in JSON"),
        pytest.param({"body": {"a": [{"secret": "canary-1"}]}}, "canary-1", id="deep inside"),
        pytest.param({"error": ValueError("api_key: canary-1")}, "canary-1", id="in an exception"),
        pytest.param({"manifest": {"env": "canary-1"}}, "canary-1", id="a manifest"),
    ],
)
def test_what_looks_like_a_secret_is_left_out(lines: io.StringIO, given: dict[str, Any], canary: str) -> None:
    ASKED.error("refused", **given)
    assert canary not in lines.getvalue()
    assert LEFT_OUT in lines.getvalue()


def test_a_traceback_is_looked_through_too(lines: io.StringIO) -> None:
    try:
        raise ValueError("password=canary-1")
    except ValueError as error:
        ASKED.error("failed", exc_info=error)
    assert "ValueError" in lines.getvalue()
    assert "canary-1" not in lines.getvalue()


def test_what_is_no_secret_stays() -> None:
    line = {
        "event": "token not renewed",
        "secret_name": "fairway-cluster-a",
        "cause": "the token of account x is not there; see http://127.0.0.1:80/path and a@b",
        "job": "llm-1",
        "count": 3,
        "ratio": 0.5,
        "names": ["a", "b"],
        "nothing": None,
        "token": "",
    }
    assert without_secrets(None, "warning", dict(line)) == line


@pytest.mark.parametrize(
    ("text", "level"), [("", logging.INFO), ("debug", logging.DEBUG), ("WARNING", logging.WARNING)]
)
def test_the_level_is_a_word(text: str, level: int) -> None:
    assert log_level(text) == level


def test_another_word_is_no_level() -> None:
    with pytest.raises(ValueError, match="FAIRWAY_LOG_LEVEL='loud' is no level; use one of debug, info"):
        log_level("loud")


def test_a_level_keeps_what_is_below_it_out(lines: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRWAY_LOG_LEVEL", "error")
    monkeypatch.setattr("sys.stderr", lines)
    log.configure()
    ASKED.warning("a")
    ASKED.error("b")
    assert [one["event"] for one in read(lines)] == ["b"]


def test_a_command_whose_output_is_read_says_its_lines_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    before = structlog.get_config()
    try:
        log.beside_output()
        structlog.get_logger().warning("uncompiled")
    finally:
        structlog.configure(**before)
    said = capsys.readouterr()
    assert (said.out, "uncompiled" in said.err) == ("", True)
