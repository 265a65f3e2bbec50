"""A dead letter names who asked for what is in it, as far as a door has said so."""

import msgspec
import pytest

from fairway.runtime.inbox import Item
from fairway.runtime.ports import Delivery
from fairway.runtime.record.dead_letters import dead_letter
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason

ADA = Actor("ada", "http", "r-1")
JOBS = "fairway.job.cancel.team-a"


def cancel(who: Actor | None) -> bytes:
    return msgspec.json.encode(wire.Cancel(job="j", tenant="team-a", who=who))


@pytest.mark.parametrize(
    ("subject", "data", "who"),
    [
        pytest.param(JOBS, cancel(ADA), ADA, id="as it stands in the message"),
        pytest.param(JOBS, b'{"who":"ann"}', None, id="a text is nobody's word"),
        pytest.param(JOBS, b"\xff", None, id="garbage says nothing"),
        pytest.param(JOBS, b'{"who":7}', None, id="nor does a number"),
        pytest.param(JOBS, b"[" * 200_000, None, id="nor what is nested without end"),
        pytest.param("fairway.in.team-b.submit", b"{", Actor("team-b", "bus", "m-1"), id="the tenant of the subject"),
        pytest.param("fairway.in.team-b.submit", cancel(ADA), Actor("team-b", "bus", "m-1"), id="whatever it claims"),
    ],
)
def test_who_stands_in_the_letter(subject: str, data: bytes, who: Actor | None) -> None:
    item = Item(Delivery("m-1", subject, data, sequence=4))
    letter = msgspec.json.decode(dead_letter("queue", item, Reason(Code.UNDECODABLE, "x"), 5).data, type=fleet.Message)
    assert letter.who == who  # type: ignore[union-attr]  # of a dead letter
