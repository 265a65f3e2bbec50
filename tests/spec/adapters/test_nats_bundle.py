"""What travels together, and what becomes of it at the other end."""

import msgspec
import pytest

from fairway.adapters.nats.bundle import BundleShare, bundled, delivered
from fairway.adapters.nats.connection import Arrived, Bundle
from fairway.runtime.ports import Outgoing

REPLY = b"$JS.ACK.JOBS.queue.1.77.5.1234.9"


def event(job: str, number: int = 1, verb: str = "queue", size: int = 10) -> Outgoing:
    data = msgspec.json.encode({"job": job, "text": "x" * size})
    return Outgoing(f"{job}-{number}", f"fairway.job.{verb}.team", data, "fairway.job", "/fairway/quota", job)


def arrived(one: Outgoing) -> Arrived:
    parts = f"Fairway-Bundle: {' '.join(one.parts)}\r\n" if isinstance(one, Bundle) else ""
    head = f"NATS/1.0\r\nNats-Msg-Id: {one.id}\r\n{parts}\r\n".encode()
    return Arrived(one.subject.encode(), REPLY, head, one.data)


def test_one_message_is_itself() -> None:
    assert bundled([event("a")]) == [event("a")]


def test_what_has_no_order_travels_alone() -> None:
    alone = msgspec.structs.replace(event("a"), order="")
    assert bundled([event("b"), alone, event("c")])[1] == alone


def test_messages_of_one_subject_are_one_and_come_out_as_they_went_in() -> None:
    words = [event(name) for name in "abc"]
    (one,) = bundled(words)
    got = delivered(arrived(one))
    assert [(each.id, each.data, each.sequence) for each in got] == [(each.id, each.data, 77) for each in words]
    assert [(each.left, each.behind) for each in got] == [(11, 2), (10, 1), (9, 0)]
    assert got[0].handle is got[2].handle
    assert got[0].handle == BundleShare(REPLY.decode(), 3)


def test_no_two_bundles_have_one_id() -> None:
    """Else the stream would take the second for the first said once more, and lose what only it holds."""
    sets = ["abc", "ab", "acb", "abd", "bc"]
    ids = {bundled([event(name) for name in names])[0].id for names in sets}
    assert len(ids) == len(sets)


@pytest.mark.parametrize(
    ("count", "size", "want"),
    [
        pytest.param(130, 10, [64, 64, 2], id="64 at most"),
        pytest.param(5, 100_000, [2, 2, 1], id="a quarter of a MiB at most"),
        pytest.param(2, 300_000, [1, 1], id="what is larger than that goes alone"),
    ],
)
def test_a_bundle_stays_small(count: int, size: int, want: list[int]) -> None:
    found = bundled([event(f"j{number}", size=size) for number in range(count)])
    assert [len(delivered(arrived(one))) for one in found] == want


def test_an_event_never_passes_an_earlier_one_of_its_job() -> None:
    words = [event("a", 1), event("b", 1, "failed"), event("b", 2), event("c", 1), event("a", 2, "failed")]
    found = [each.id for one in bundled(words) for each in delivered(arrived(one))]
    assert found == ["a-1", "b-1", "a-2", "b-2", "c-1"]


@pytest.mark.parametrize("data", [b'[{"a":1}]', b"{}", b"[1,2,3]", b"no json"])
def test_a_bundle_that_is_none_is_one_message_for_its_hearer_to_refuse(data: bytes) -> None:
    bundle = Bundle("b", "fairway.job.queue.team", data, parts=("a", "b"))
    (one,) = delivered(arrived(bundle))
    assert (one.id, one.data, one.behind) == ("b", data, 0)
