"""What holds room in a member for pods on batch resources."""

from typing import Any

import msgspec

from fairway.propagator.held_room import manifests
from tests.spec.propagator.test_handover import ROOM


def test_what_holds_room_on_batch_resources_comes_after_all_others_and_says_whose_class_it_is_of() -> None:
    """Koordinator's webhook refuses whoever asks for them and is not best effort."""
    batch = msgspec.structs.replace(ROOM.pod_sets[0], requests={"kubernetes.io/batch-cpu": 1_000})
    room = msgspec.structs.replace(ROOM, pod_sets=(batch, *ROOM.pod_sets[1:]), priority=7)
    for way in ("placeholders", "reservations"):
        made = manifests(msgspec.structs.replace(room, way=way), "pause").values()
        best_effort = {one["metadata"]["labels"]["fairway.io/pod-set"] for one in made if marked(one)}
        assert best_effort == {batch.name}
    found = {marked(one): one["spec"]["template"]["spec"]["priority"] for one in made}
    assert found[True] == -1_000
    assert found.get(False, 7) == 7


def marked(one: dict[str, Any]) -> bool:
    """Not by the label that a profile selects: it would change the class of a placeholder."""
    labels = one["metadata"]["labels"]
    return "fairway.io/batch-resources" not in labels and labels.get("koordinator.sh/qosClass") == "BE"
