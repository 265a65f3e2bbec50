"""What owners changed while nobody looked, or while what was submitted could not be read."""

import pytest

from fairway.wire import jobs as wire
from fairway.workloads.hub.objects import HubObject
from tests.spec.hub.hub_objects import JOB, policy
from tests.spec.hub.intake.test_owners_wish import SUSPENDED, WIDER, parallelism, waiting

MEANWHILE = {
    "nothing": ((), (), 0),
    "the policy": ((policy("all", {}, {"name": "more"}),), (), 0),
    "the object": ((WIDER,), (b"2",), 1),
    "both": ((policy("all", {}, {"name": "more"}), WIDER), (b"2",), 1),
}


@pytest.mark.parametrize(("edits", "want", "count"), MEANWHILE.values(), ids=list(MEANWHILE))
def test_what_was_changed_while_nobody_looked(
    edits: tuple[HubObject, ...], want: tuple[bytes, ...], count: int
) -> None:
    one, _ = waiting()
    for each in edits:
        one.hub.put(each.kind, each.manifest)
    for _ in range(2):
        one.restart()
        one.run(5_000)
    assert parallelism(one) == list(want)
    assert len(one.said(wire.Submitted)) == 1


def test_a_record_that_cannot_be_read_now_is_read_later() -> None:
    one, _ = waiting()
    one.hub.put(JOB, WIDER.manifest)
    one.hub.away = True
    one.restart()
    one.run(5_000)
    assert parallelism(one) == []
    one.hub.away = False
    one.run(5_000)
    assert parallelism(one) == [b"2"]


def test_suspended_while_nobody_looked_holds_the_job() -> None:
    one, _ = waiting()
    one.hub.put(JOB, SUSPENDED.manifest)
    one.restart()
    one.run(5_000)
    assert [said.held for said in one.said(wire.HoldJob)] == [True]
    assert one.said(wire.Revise) == []
