"""Who tries several times a second says why it waits once in ten seconds."""

import asyncio

import structlog

from fairway.lab.simulation.virtual_time import run_virtual
from fairway.runtime.retry import SeldomLog

log = structlog.get_logger()


def test_the_same_cause_is_told_again_after_ten_seconds_and_another_at_once() -> None:
    async def complaining() -> None:
        lines = SeldomLog()
        for _ in range(81):  # 20 seconds
            for cause in ("it is away", "it is full"):  # as of two servers in turn
                lines.tell(log.warning, "waiting", cause, service="quota")
            await asyncio.sleep(0.25)

    with structlog.testing.capture_logs() as lines:
        run_virtual(complaining())
    assert [line["cause"] for line in lines] == ["it is away", "it is full"] * 3
    assert lines[0] == {"event": "waiting", "cause": "it is away", "service": "quota", "log_level": "warning"}


def test_what_it_remembers_has_an_end() -> None:
    async def complaining() -> None:
        lines = SeldomLog()
        for number in range(1_000):
            lines.tell(log.warning, "waiting", f"cause {number}")
        assert len(lines._again) <= 64

    with structlog.testing.capture_logs() as lines:
        run_virtual(complaining())
    assert len(lines) == 1_000
