"""Who starts before NATS is all there waits for it; what does not pass is said at once."""

from typing import Any, cast

import pytest
from nats.js.errors import APIError

from fairway.adapters.nats.bus import NatsBus
from fairway.process.servers.streams import provisioned


class Beginning:
    """A bus that answers so for the first time."""

    def __init__(self, error: Exception) -> None:
        self.errors = [error]
        self.asked = 0

    async def provision(self, *_: Any) -> None:
        self.asked += 1
        if self.errors:
            raise self.errors.pop()


def refused(code: int, text: str) -> APIError:
    return APIError(code=400, err_code=code, description=text)


PASSING = {
    "nobody answers": TimeoutError(),
    "no leader": refused(10008, "JetStream system temporarily unavailable"),
    "servers that do not know each other": refused(10005, "no suitable peers for placement, peer offline"),
}


@pytest.mark.parametrize("name", PASSING)
async def test_a_bus_that_begins_is_asked_again(name: str) -> None:
    bus = Beginning(PASSING[name])
    await provisioned(cast(NatsBus, bus), 3)
    assert bus.asked == 2


LASTING = {
    "no room": refused(10047, "insufficient storage resources available"),
    "no room on any of three": refused(10005, "no suitable peers for placement, insufficient storage"),
    "one server for three copies": refused(10074, "replicas > 1 not supported in non-clustered mode"),
}


@pytest.mark.parametrize("name", LASTING)
async def test_what_waiting_does_not_change_is_said(name: str) -> None:
    bus = Beginning(LASTING[name])
    with pytest.raises(APIError, match=str(LASTING[name].err_code)):
        await provisioned(cast(NatsBus, bus), 3)
    assert bus.asked == 1
