"""propagator: room that is held for a job's pods is given to no others, whatever labels they carry."""

from typing import Any

import msgspec
import pytest

from fairway.propagator.handover import HeldPlace, Take, attempt_of, next_steps, seen
from fairway.propagator.held_room import manifests
from fairway.workloads.member_copy import GATE
from tests.spec.propagator.test_handover import ROOM, place, pod

FOREIGN = msgspec.structs.replace(pod("a"), namespace="team-evil")
HELD = msgspec.structs.replace(place("1-0"), namespace="team-a")


def test_a_pod_of_another_namespace_takes_no_placeholder() -> None:
    assert next_steps("placeholders", [HELD], [FOREIGN], GATE) == []
    assert next_steps("placeholders", [HELD], [FOREIGN, pod("b")], GATE) == [Take(pod("b"), HELD)]


def test_a_pod_of_another_namespace_does_not_stand_for_one_that_has_come() -> None:
    come = msgspec.structs.replace(FOREIGN, waits=False)
    assert next_steps("reservations", [HELD], [come], GATE) == []


@pytest.mark.parametrize("way", ["placeholders", "reservations"])
def test_what_holds_room_says_for_whose_pods(way: str) -> None:
    made = manifests(msgspec.structs.replace(ROOM, way=way), "pause")
    places = [seen(one) for one in made.values()]
    assert {one.namespace for one in places if isinstance(one, HeldPlace)} == {"team-a"} and len(places) == 4


def labelled(namespace: str, placeholder: bool) -> Any:
    labels = {"fairway.io/job": "llm-1", "fairway.io/attempt": "2", "fairway.io/hold": "placeholders"}
    more = {"fairway.io/placeholder": "true"} if placeholder else {}
    return {"metadata": {"namespace": namespace, "name": "p", "labels": {**labels, **more}}, "spec": {}}


@pytest.mark.parametrize(
    ("manifest", "counts"),
    [
        pytest.param(labelled("fairway-system", True), True, id="a placeholder in Fairway's namespace"),
        pytest.param(labelled("team-evil", True), False, id="what calls itself a placeholder elsewhere"),
        pytest.param(labelled("team-a", False), True, id="a pod of a job"),
        pytest.param(labelled("fairway-system", False), False, id="what calls itself a job's pod there"),
    ],
)
def test_what_counts_as_of_an_attempt(manifest: Any, counts: bool) -> None:
    assert attempt_of(manifest) == (("llm-1", 2, "placeholders") if counts else None)
