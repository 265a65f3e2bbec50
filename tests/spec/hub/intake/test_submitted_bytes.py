"""How many bytes a tenant may submit by its objects on the hub, and by changing them."""

import msgspec

from fairway.domain.submission import size_of
from fairway.domain.tenancy.submission_limits import Limits
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from fairway.workloads.hub.objects import HubObject
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.hub.intake.test_what_holds import ALL, MOMENT, TRAIN, like

HOUR = 3_600_000
PADDED = like(TRAIN, annotations={"padding": "x" * 400_000})
MIB = 1 << 20


def padded(name: str) -> HubObject:
    manifest = {**PADDED.manifest, "metadata": {**PADDED.manifest["metadata"], "name": name, "uid": f"uid-{name}"}}
    return msgspec.structs.replace(PADDED, name=name, uid=f"uid-{name}", manifest=manifest)


def test_the_hub_keeps_what_is_beyond_the_bytes_of_its_tenant_until_it_may_go() -> None:
    one = HubDriver({"team-a": Limits(bytes=MIB)})
    objects = [padded(f"p{number}") for number in range(3)]
    one.apply(ALL, *objects)
    one.run(MOMENT)
    kept = [each for each in objects if one.held(each)]
    assert (len(one.said(wire.Submitted)), len(kept)) == (2, 1)
    held = one.held(kept[0])
    assert held is not None and held.why.code is Code.TOO_MANY_BYTES and "in an hour" in held.why.text
    one.run(6_000)
    assert one.events(kept[0]) == ["TooManyBytes"]
    one.run(HOUR // 2)
    assert len(one.said(wire.Submitted)) == 3
    assert one.held(kept[0]) is None


def test_what_an_owner_changes_counts_and_the_newest_is_said_when_it_may_be() -> None:
    one = HubDriver({"team-a": Limits(bytes=MIB)})
    one.apply(ALL, PADDED)
    one.run(MOMENT)
    life = one.admit(PADDED)
    one.says(life, wire.Queue, queue="gold")
    one.run(3_000)
    for number in range(1, 9):
        one.apply(like(PADDED, spec={"parallelism": number + 1}))
        one.run(1_000)
    (first,) = one.said(wire.Revise)
    assert size_of(first) > 400_000
    one.run(HOUR // 2)
    assert [b'"parallelism":9' in bytes(said.manifest) for said in one.said(wire.Revise)] == [False, True]
    one.run(HOUR)
    assert len(one.said(wire.Revise)) == 2, "it was said, and nothing is new"
