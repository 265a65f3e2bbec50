"""How the parts of a process end."""

import asyncio

import pytest

from fairway.runtime.vital_tasks import ended


async def _deaf(heard: asyncio.Event, goes_on: asyncio.Event) -> None:
    """As asyncio.wait_for before Python 3.12 is, when what it waits for is there at the moment of the cancellation."""
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        heard.set()
    await goes_on.wait()


@pytest.mark.parametrize("swallowed", [pytest.param(True, id="swallows it"), pytest.param(False, id="heeds it")])
async def test_a_part_that_swallows_its_cancellation_is_not_waited_for(swallowed: bool) -> None:
    heard = asyncio.Event()
    goes_on = asyncio.Event()
    if not swallowed:
        goes_on.set()
    work = asyncio.create_task(_deaf(heard, goes_on))
    await asyncio.sleep(0)
    assert await ended(work, 0.05 if swallowed else 30.0) is not swallowed
    assert heard.is_set()
    goes_on.set()
    await work
