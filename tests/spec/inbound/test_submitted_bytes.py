"""Bytes that a tenant may submit on the bus: what is beyond them goes no further, and its tenant reads why."""

from typing import Any

import msgspec

from fairway.admission.understand import understand
from fairway.domain.decision import Heard
from fairway.domain.tenancy.submission_limits import Limits
from fairway.inbound.decide import decide
from fairway.inbound.service import InboundMemory
from fairway.runtime.ports import ReadRows
from fairway.runtime.views.settings import Catalog
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from tests.spec.builders.views import events
from tests.spec.inbound.test_decide import MINE, NOW, asked

MIB = 1 << 20
PADDED = {**MINE, "metadata": {**MINE["metadata"], "annotations": {"padding": "x" * 1_000}}}


def memory(limit: int = MIB) -> InboundMemory:
    catalog = Catalog()
    catalog.limits = {"team-a": Limits(bytes=limit)}
    return InboundMemory(catalog)


def sized(size: int, sequence: int, **more: Any) -> Heard:
    return msgspec.structs.replace(asked(PADDED, id=f"own-{sequence}", sequence=sequence, **more), size=size)


def said(view: InboundMemory, heard: list[Heard], now: int = NOW) -> list[wire.Submitted]:
    view.take(ReadRows(), heard, now)
    return [message for one in heard for message in events(decide(view, one, now))]


def test_what_is_beyond_is_said_without_its_manifest_and_admission_refuses_it_for_that() -> None:
    view = memory()
    first, second, third = said(view, [sized(MIB // 2, number) for number in (1, 2, 3)])
    assert not first.refused and not second.refused
    assert third.refused[0].code is Code.TOO_MANY_BYTES
    assert msgspec.json.decode(third.manifest) == MINE
    assert third.policies == ()
    seen = understand(third, "m-1", 7, Catalog())
    assert (seen.spec, seen.reasons, seen.name, seen.tenant) == (None, third.refused, "train", "team-a")


def test_others_are_not_kept_out_and_an_hour_later_it_may_again() -> None:
    view = memory()
    (mine,) = said(view, [sized(MIB, 1)])
    elsewhere = {**MINE, "metadata": {"name": "train", "namespace": "team-b"}}
    theirs = msgspec.structs.replace(asked(elsewhere, "fairway.in.team-b.submit", id="own-2", sequence=2), size=MIB)
    assert not mine.refused and not said(view, [theirs])[0].refused
    assert said(view, [sized(1_000, 3)])[0].refused
    assert not said(view, [sized(1_000, 4)], NOW + 3_600_000)[0].refused


def test_the_same_message_in_hand_again_counts_once_and_gets_the_same_answer() -> None:
    view = memory()
    both = [sized(MIB * 3 // 4, 1), sized(MIB * 3 // 4, 2)]
    first = said(view, both)
    assert said(view, both) == first
    assert [bool(one.refused) for one in first] == [False, True]


def test_names_that_are_none_are_cut() -> None:
    view = memory()
    said(view, [sized(MIB, 1)])
    odd = {"kind": ["Job"], "metadata": {"name": "n" * 9_000, "namespace": "team-a"}, "spec": {"x": "y" * 9_000}}
    (message,) = said(view, [msgspec.structs.replace(asked(odd, id="own-2", sequence=2), size=20_000)])
    assert message.refused and len(bytes(message.manifest)) < 1_000
