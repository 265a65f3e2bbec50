"""What the pods of a gang show is told as the status of its leader, which speaks for the job."""

from typing import Any

import msgspec
import pytest

from fairway.runtime.cluster_port import Change
from fairway.watcher.decide import decide
from fairway.watcher.gangs import GangStatuses
from fairway.watcher.object_owner import Observed
from fairway.wire.workload import PodSet, Workload
from fairway.workloads.member_copy import member_copy
from fairway.workloads.seal import Spot, sealed
from tests.spec.builders.gangs_of_pods import TENANT, pod
from tests.spec.builders.lives import T0, S, running
from tests.spec.builders.views import of, verbs
from tests.spec.builders.views import told as heard

Json = dict[str, Any]
KEY = b"a key"
UP = {"phase": "Running", "podIP": "10.0.0.1", "conditions": [{"type": "Ready", "status": "True"}]}
SHOWN = {"phase": "Running", "conditions": UP["conditions"]}


def change(name: str, version: int, owner: str = "", gone: bool = False, **status: Any) -> Change:
    """A pod of attempt 1 as a member shows it."""
    one = sealed(KEY, Spot("north", "Pod.v1", TENANT, name), ("j", 1), member_copy(pod(name), "j", 1))
    meta = {**one["metadata"], "uid": f"uid-{name}", "resourceVersion": str(version)}
    if owner:
        meta["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": owner}]
    return Change("Pod.v1", TENANT, name, {**one, "metadata": meta, "status": {**UP, **status}}, gone)


def told(*changes: Change) -> list[tuple[str, str, Any]]:
    """Of each change that is told: whose it is, its version, and what it says of the others."""
    known = GangStatuses("north", KEY)
    found = [one for each in changes if (one := known.told(each)) is not None]
    return [
        (one.name, one.manifest["metadata"]["resourceVersion"], one.manifest["status"].get("gang")) for one in found
    ]


def test_every_change_of_any_pod_is_a_newer_one_of_the_leader() -> None:
    assert told(change("a", 1), change("b", 2, "uid-a"), change("a", 3), change("b", 5, "uid-a", phase="Failed")) == [
        ("a", "1", {}),
        ("a", "2", {"b": SHOWN}),
        ("a", "3", {"b": SHOWN}),
        ("a", "5", {"b": {**SHOWN, "phase": "Failed"}}),
    ]


def test_what_came_before_the_leader_was_seen_is_told_with_it() -> None:
    assert told(change("b", 2, "uid-a"), change("a", 1)) == [("a", "2", {"b": SHOWN})]


def test_one_that_is_gone_is_there_no_more() -> None:
    assert told(change("a", 1), change("b", 2, "uid-a"), change("b", 4, "uid-a", gone=True))[-1] == ("a", "4", {})


def test_with_its_leader_a_gang_is_gone() -> None:
    known = GangStatuses("north", KEY)
    known.told(change("a", 1))
    known.told(change("b", 2, "uid-a"))
    gone = known.told(change("a", 3, gone=True))
    assert gone is not None and gone.gone
    assert known.told(change("b", 4, "uid-a", gone=True)) is None
    assert known._gangs == {}


def sealed_for(cluster: str) -> Change:
    one = change("b", 2, "uid-a")
    return msgspec.structs.replace(
        one, manifest=sealed(KEY, Spot(cluster, "Pod.v1", TENANT, "b"), ("j", 1), one.manifest)
    )


STRANGERS = {
    "it is sealed for another cluster": sealed_for("south"),
    "it is owned by another pod": change("b", 2, "uid-z"),
    "the seal was copied to another name": msgspec.structs.replace(change("b", 2, "uid-a"), name="z"),
}


@pytest.mark.parametrize("stranger", STRANGERS.values(), ids=list(STRANGERS))
def test_nobody_else_speaks_for_a_gang(stranger: Change) -> None:
    assert [others for name, _, others in told(change("a", 1), stranger, change("a", 3)) if name == "a"][-1] == {}


def test_a_pod_that_is_of_no_gang_is_told_as_it_is() -> None:
    known = GangStatuses("north", KEY)
    single = Change("Pod.v1", TENANT, "x", {"metadata": {"name": "x", "uid": "u"}, "status": UP})
    assert known.told(single) is single


GANG = Workload("v1", "Pod", "team-a", "llm", (PodSet("pod", 2, {"cpu": 1}),), 2)


def gang_shows(leader: str, other: str) -> Any:
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "llm", "uid": "u-9"}}
    status = {"phase": leader, "gang": {"other": {"phase": other}}}
    head = {"job": "llm-1", "tenant": "team-a", "attempt": 1, "cluster": "c1", "sealed": ("llm-1", 1)}
    return heard(Observed(**head, kind="Pod.v1", manifest={**body, "status": status}))


GANGS = {
    "the last attempt of a gang fails while others run": (1, gang_shows("Running", "Failed"), ["failed", "recall"]),
    "the last attempt of a gang fails when nothing runs": (1, gang_shows("Succeeded", "Failed"), ["failed"]),
    "an attempt of a gang fails": (3, gang_shows("Running", "Failed"), ["failed", "recall", "queue"]),
    "all pods of a gang have ended well": (1, gang_shows("Succeeded", "Succeeded"), ["succeeded"]),
    "its leader alone has": (1, gang_shows("Succeeded", "Running"), []),
}


@pytest.mark.parametrize(("attempts", "seen", "want"), GANGS.values(), ids=list(GANGS))
def test_what_a_gang_of_pods_shows(attempts: int, seen: Any, want: list[str]) -> None:
    life = running(attempts=attempts, workload=GANG)
    assert verbs(decide(of(life), seen, T0 + 900 * S)) == want
