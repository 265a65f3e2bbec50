"""What holds room in a member: the objects, and how a room passes to the pod that it is held for."""

from typing import Any

import msgspec
import pytest

from fairway.propagator.handover import Clear, HeldPlace, JobPod, Take, next_steps, seen
from fairway.propagator.held_room import Room, manifests, priority_class, room_of
from fairway.wire import jobs as wire
from fairway.wire.capacity import Slot
from fairway.wire.workload import Expression, PodSet, Toleration
from tests.spec.builders.lives import GPU, SLOTS, S, placed

GATE = "fairway.io/room"
ROOM = Room(
    "placeholders",
    "llm-1",
    2,
    "team-a",
    (Slot("Master", "n1", 1), Slot("Worker", "n1", 1), Slot("Worker", "n2", 2)),
    (
        PodSet("Master", 1, {"cpu": 500}),
        PodSet(
            "Worker",
            3,
            {"cpu": 2_000, "memory": 1024, GPU: 8, "ephemeral-storage": 0},
            {"pool": "a"},
            ((Expression("zone", "In", ("z1",)), Expression("arch", "Exists")), (Expression("zone", "In", ("z2",)),)),
            (Toleration("gpu", "Exists"),),
        ),
    ),
    priority=7,
    ttl=90,
)


def test_every_pod_has_a_placeholder_of_its_size_on_its_node() -> None:
    made = manifests(ROOM, "pause")
    assert list(made) == ROOM.names == ["llm-1-2-0-0", "llm-1-2-1-0", "llm-1-2-1-1", "llm-1-2-1-2"]
    one = made["llm-1-2-1-1"]
    assert one["metadata"]["labels"] == {
        "fairway.io/job": "llm-1",
        "fairway.io/attempt": "2",
        "fairway.io/managed": "true",
        "fairway.io/pod-set": "Worker",
        "fairway.io/hold": "placeholders",
        "fairway.io/room": "1-1",
        "fairway.io/placeholder": "true",
        "fairway.io/for-namespace": "team-a",
    }
    spec = one["spec"]
    assert spec["containers"][0]["resources"] == {
        "requests": {"cpu": "2000m", "memory": "1024", GPU: "8"},
        "limits": {GPU: "8"},
    }
    assert (spec["activeDeadlineSeconds"], spec["terminationGracePeriodSeconds"]) == (90, 0)
    here = [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]
    affinity = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    zone = {"key": "zone", "operator": "In", "values": ["z1"]}
    assert affinity["nodeSelectorTerms"][0] == {
        "matchExpressions": [zone, {"key": "arch", "operator": "Exists"}],
        "matchFields": here,
    }
    assert [term["matchFields"] for term in affinity["nodeSelectorTerms"]] == [here, here]
    assert (spec["nodeSelector"], spec["tolerations"]) == ({"pool": "a"}, [{"key": "gpu", "operator": "Exists"}])


def test_room_on_a_node_has_no_term_that_names_other_nodes() -> None:
    """koord-scheduler 1.6 refuses a pod, `pod affinity terms conflict`, though another term holds."""
    elsewhere = Expression("metadata.name", "In", ("n1",), field=True)
    not_there = Expression("metadata.name", "NotIn", ("n2",), field=True)
    here = Expression("metadata.name", "NotIn", ("n1",), field=True)
    terms = ((elsewhere,), (not_there, Expression("zone", "Exists")), (here,), (Expression("zone", "Exists"),))
    pods = msgspec.structs.replace(ROOM.pod_sets[1], node_terms=terms)
    made = manifests(msgspec.structs.replace(ROOM, pod_sets=(ROOM.pod_sets[0], pods)), "pause")
    affinity = made["llm-1-2-1-1"]["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    on_n2 = {"key": "metadata.name", "operator": "In", "values": ["n2"]}
    assert affinity["nodeSelectorTerms"] == [
        {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}, on_n2]},
        {"matchExpressions": [{"key": "zone", "operator": "Exists"}], "matchFields": [on_n2]},
    ]


def test_a_placeholder_is_driven_out_by_nobody_of_its_pods_priority_and_drives_out_nobody() -> None:
    (spec,) = {one["spec"]["priorityClassName"] for one in manifests(ROOM, "pause").values()}
    made = priority_class(7)
    assert (spec, made["value"], made["preemptionPolicy"]) == (made["metadata"]["name"], 7, "Never")


def test_reservations_are_for_the_jobs_own_pods_and_in_no_gang_that_a_scheduler_could_forget() -> None:
    made = manifests(msgspec.structs.replace(ROOM, way="reservations"), "pause")
    one = made["llm-1-2-1-1"]
    assert "annotations" not in one["metadata"] and "metadata" not in one["spec"]["template"]
    assert (one["spec"]["allocateOnce"], one["spec"]["ttl"]) == (True, "90s")
    (owner,) = one["spec"]["owners"]
    assert owner["object"] == {"namespace": "team-a"}
    assert owner["labelSelector"]["matchLabels"] == {
        "fairway.io/job": "llm-1",
        "fairway.io/attempt": "2",
        "fairway.io/managed": "true",
        "fairway.io/pod-set": "Worker",
    }


@pytest.mark.parametrize(
    ("timeout", "ttl"), [(30_000, 30), (86_400_000, 600)], ids=["the start timeout", "but ten minutes at most"]
)
def test_room_that_nobody_comes_for_ends_by_itself_after(timeout: int, ttl: int) -> None:
    life = placed(start_timeout=timeout)
    life.then(wire.Reserved, cluster="c1", slots=SLOTS, expires_at=life.at + 60 * S, hold="placeholders")
    room = room_of(life.now, 1)
    assert room is not None and room.ttl == ttl


def place(room: str, on: str = "n1", ended: bool = False) -> HeldPlace:
    return HeldPlace(f"llm-1-1-{room}", room, "Worker", on, ended)


def pod(name: str, room: str = "", waits: bool = True, gates: tuple[str, ...] = (GATE,)) -> JobPod:
    return JobPod("team-a", name, f"u-{name}", "1", "Worker", room, waits, gates)


def test_a_pod_of_a_gang_takes_no_room_before_its_gang_is_there() -> None:
    held = [HeldPlace("p-0", "0-0", "Worker", "n1")]
    waits = pod("a", gates=(GATE, "fairway.io/gang"))
    assert next_steps("placeholders", held, [waits], GATE) == []
    free = pod("a")
    assert next_steps("placeholders", held, [free], GATE) == [Take(free, held[0])]


@pytest.mark.parametrize(
    ("places", "pods", "want"),
    [
        pytest.param([place("1-0")], [], [], id="its pod has not come"),
        pytest.param([place("1-0")], [pod("a")], [Take(pod("a"), place("1-0"))], id="a pod takes a room"),
        pytest.param(
            [place("1-10"), place("1-9", "n2")],
            [pod("b"), pod("a")],
            [Take(pod("a"), place("1-9", "n2")), Take(pod("b"), place("1-10"))],
            id="each its own, in order",
        ),
        pytest.param(
            [place("1-0"), place("1-1")],
            [pod("a", "1-0"), pod("b")],
            [Take(pod("a", "1-0"), place("1-0")), Take(pod("b"), place("1-1"))],
            id="begun by a propagator that died: the same room, and no other pod gets it",
        ),
        pytest.param([], [pod("a", "1-0")], [Take(pod("a", "1-0"))], id="the way was made: the gate is left to lift"),
        pytest.param([], [pod("a", "1-0", gates=())], [], id="all done but the scheduler's part"),
        pytest.param([place("1-0", on="")], [pod("a")], [], id="a room that is not held yet"),
        pytest.param([], [pod("a")], [Take(pod("a"))], id="one more than rooms, or made anew: like any other pod"),
        pytest.param([place("1-0")], [pod("a", waits=False)], [], id="a pod that is on a node takes none"),
        pytest.param([place("1-0")], [pod("a", gates=())], [Take(pod("a", gates=()), place("1-0"))], id="no gate"),
        pytest.param(
            [place("1-0", ended=True)],
            [pod("a")],
            [Clear(("llm-1-1-1-0",)), Take(pod("a"))],
            id="a placeholder whose time is over holds nothing",
        ),
    ],
)
def test_a_placeholder_gives_way_to_one_pod(places: list[HeldPlace], pods: list[JobPod], want: list[Any]) -> None:
    assert next_steps("placeholders", places, pods, GATE) == want


@pytest.mark.parametrize(
    ("pods", "want"),
    [
        pytest.param([pod("a", waits=False), pod("b")], [], id="not all have come"),
        pytest.param(
            [pod("a", waits=False), pod("b", waits=False)],
            [Clear(("llm-1-1-1-0", "llm-1-1-1-1"))],
            id="all have a node, wherever: what is left holds room for nobody",
        ),
    ],
)
def test_reservations_take_their_pods_by_themselves(pods: list[JobPod], want: list[Any]) -> None:
    assert next_steps("reservations", [place("1-0"), place("1-1")], pods, GATE) == want


LABELS = {"fairway.io/pod-set": "Worker", "fairway.io/room": "1-0"}


@pytest.mark.parametrize(
    ("manifest", "want"),
    [
        pytest.param(
            {
                "metadata": {"name": "llm-1-1-1-0", "labels": {**LABELS, "fairway.io/placeholder": "true"}},
                "spec": {"nodeName": "n1"},
                "status": {"phase": "Running"},
            },
            place("1-0"),
            id="a placeholder",
        ),
        pytest.param(
            {
                "metadata": {"name": "llm-1-1-1-0", "labels": {**LABELS, "fairway.io/placeholder": "true"}},
                "spec": {"nodeName": "n1"},
                "status": {"phase": "Failed", "reason": "DeadlineExceeded"},
            },
            place("1-0", ended=True),
            id="a placeholder past its deadline",
        ),
        pytest.param(
            {
                "metadata": {"name": "llm-1-1-1-0", "labels": LABELS},
                "spec": {"template": {}},
                "status": {"phase": "Available", "nodeName": "n1"},
            },
            place("1-0"),
            id="a Reservation",
        ),
        pytest.param(
            {"metadata": {"name": "llm-1-1-1-0", "labels": LABELS}, "spec": {"template": {}}, "status": {}},
            place("1-0", on=""),
            id="a Reservation without a node",
        ),
        pytest.param(
            {
                "metadata": {
                    "namespace": "team-a",
                    "name": "a",
                    "uid": "u-a",
                    "resourceVersion": "1",
                    "labels": LABELS,
                },
                "spec": {"schedulingGates": [{"name": "x.io/y"}, {"name": GATE}]},
            },
            pod("a", "1-0", gates=("x.io/y", GATE)),
            id="a pod that waits behind its own gate, too",
        ),
    ],
)
def test_what_is_seen_in_the_member(manifest: Any, want: HeldPlace | JobPod) -> None:
    assert seen(manifest) == want
