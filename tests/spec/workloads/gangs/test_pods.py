"""Which manifests are one whole gang of pods, and what is read of them."""

from typing import Any

import pytest

from fairway.domain.tenancy.profile import Tenancy
from fairway.wire.reasons import Code, Refused
from fairway.wire.workload import Workload
from fairway.workloads.companions.named import named
from fairway.workloads.gangs import pods as gangs
from fairway.workloads.kinds.registry import read, status
from fairway.workloads.kinds.single_pod import POD
from fairway.workloads.pod_security.check import check
from fairway.workloads.reading.fields import Field, Problems
from tests.spec.builders.gangs_of_pods import KOORDINATOR, KUEUE, gang, pod, written_out

Json = dict[str, Any]
COUNT = "kueue.x-k8s.io/pod-group-total-count"
LEAST = "gang.scheduling.koordinator.sh/min-available"


def reasons(manifest: Json) -> list[Any]:
    root = Field(manifest, Problems())
    gangs.check(root)
    return root.problems.reasons


@pytest.mark.parametrize("marks", [KUEUE, KOORDINATOR], ids=["Kueue", "Koordinator"])
def test_pods_that_are_alike_are_one_pod_set(marks: Json) -> None:
    manifest = gang(marks)
    assert reasons(manifest) == []
    sets = POD.pod_sets(Field(manifest, Problems()))
    assert [(one.name, one.count, one.requests) for one in sets] == [
        ("pod", 1, {"cpu": 2000}),
        ("pod-2", 2, {"cpu": 1000}),
    ]
    assert gangs.pod_set_names(manifest) == {"a": "pod", "b": "pod-2", "c": "pod-2"}


def marked(marks: Json, **notes: Any) -> Json:
    return {**marks, "annotations": {**marks["annotations"], **notes}}


def three(**notes: Any) -> Json:
    return gang(marked(KUEUE, **{key.replace("__", "/"): value for key, value in notes.items()}))


WRONG: dict[str, tuple[Json, str, str]] = {
    "one is missing": (written_out(pod("a"), pod("b")), "labels['kueue.x-k8s.io/pod-group-name']", "2 of 3 pods"),
    "one too many": (written_out(pod("a"), *map(pod, "bcd")), "labels['kueue.x-k8s.io/pod-group-name']", "4 pods say"),
    "alone": (pod("a"), "labels['kueue.x-k8s.io/pod-group-name']", "1 of 3 pods"),
    "no gang at all": (written_out(pod("a", {}), pod("b")), "gang", "says of no gang"),
    "another says another number": (
        written_out(pod("a"), pod("b"), pod("c", marked(KUEUE, **{COUNT: "4"}))),
        "gang[1].metadata.labels['kueue.x-k8s.io/pod-group-name']",
        "pod c says that gang g has 4 pods, and pod a 3",
    ),
    "another is of none": (written_out(pod("a"), pod("b"), pod("c", {})), "gang[1].metadata", "pod c does not say"),
    "another is of one by another mark": (
        written_out(pod("a"), pod("b"), pod("c", KOORDINATOR)),
        "gang[1].metadata",
        "pod c does not say",
    ),
    "two marks": (
        gang(marked(KUEUE, **KOORDINATOR["annotations"])),
        "metadata.annotations['gang.scheduling.koordinator.sh/name']",
        "second mark",
    ),
    "twice one name": (written_out(pod("a"), pod("b"), pod("b")), "gang[0].metadata.name", "another pod"),
    "of another namespace": (
        written_out(pod("a"), pod("b"), {**pod("c"), "metadata": {**pod("c")["metadata"], "namespace": "team-b"}}),
        "gang[1].metadata.namespace",
        "not the gang's own",
    ),
    "another priority": (
        written_out(pod("a"), pod("b", priorityClassName="high"), pod("c")),
        "gang[0].spec.priorityClassName",
        "is 'high' in pod b, and in pod a missing",
    ),
    "another queue": (
        written_out(pod("a"), pod("b", marked(KUEUE, **{"kube-queue/queue-name": "q"})), pod("c")),
        "gang[0].metadata.annotations['kube-queue/queue-name']",
        "is 'q' in pod b",
    ),
    "one without the gate of the fleet": (
        written_out(pod("a", schedulingGates=[{"name": "fairway.io/fleet"}]), pod("b"), pod("c")),
        "gang[0].spec.schedulingGates",
        "pod a of the gang has the gate fairway.io/fleet, and pod b has not",
    ),
    "no pod": (written_out(pod("a"), 7, pod("c")), "gang[0]", "not a mapping"),
    "a Job": (written_out(pod("a"), pod("b"), {**pod("c"), "kind": "Job"}), "gang[1].kind", "no Pod of v1"),
    "a gang in a gang": (written_out(pod("a"), pod("b"), gang()), "gang[1].gang", "stands in a pod"),
    "no list": ({**pod("a"), "gang": 7}, "gang", "not a list"),
    "more than a job may have": (written_out(pod("a"), *[pod("b")] * 64), "gang", "64 entries"),
    "it starts before all are there": (
        three(**{"kueue.x-k8s.io__pod-group-fast-admission": "true"}),
        "metadata.annotations['kueue.x-k8s.io/pod-group-fast-admission']",
        "not done for a gang",
    ),
    "it is served": (
        three(**{"kueue.x-k8s.io__pod-group-serving": "true"}),
        "metadata.annotations['kueue.x-k8s.io/pod-group-serving']",
        "not done for a gang",
    ),
    "pods are replaced": (
        three(**{"kueue.x-k8s.io__retriable-in-group": "true"}),
        "metadata.annotations['kueue.x-k8s.io/retriable-in-group']",
        "not done for a gang",
    ),
    "it need not be whole": (
        gang(marked(KOORDINATOR, **{"gang.scheduling.koordinator.sh/mode": "NonStrict"})),
        "metadata.annotations['gang.scheduling.koordinator.sh/mode']",
        "not done for a gang",
    ),
    "gangs of gangs": (
        gang(marked(KOORDINATOR, **{"gang.scheduling.koordinator.sh/groups": '["a/b"]'})),
        "metadata.annotations['gang.scheduling.koordinator.sh/groups']",
        "not done for a gang",
    ),
    "fewer than all": (
        gang(marked(KOORDINATOR, **{LEAST: "2"})),
        "metadata.annotations['gang.scheduling.koordinator.sh/total-number']",
        "min-available '2'",
    ),
    **{
        f"a count of {value!r}": (three(**{COUNT: value}), f"metadata.annotations['{COUNT}']", "how many there are")
        for value in ("0", "65", "-1", "1e1", "\u00b2", " 3", "9" * 400, 3, None, {})
    },
}


@pytest.mark.parametrize(("manifest", "field", "text"), WRONG.values(), ids=list(WRONG))
def test_what_is_not_one_whole_gang_is_told_by_its_field(manifest: Json, field: str, text: str) -> None:
    found = [one for one in reasons(manifest) if one.field.endswith(field) and text in one.text]
    assert found, reasons(manifest)
    assert found[0].remedy


def test_a_gang_of_one_is_a_pod() -> None:
    assert reasons(pod("a", marked(KUEUE, **{COUNT: "1"}))) == []


def test_doors_take_a_whole_gang_and_nothing_less() -> None:
    assert read(gang()).pods == 3
    for manifest in (pod("a"), written_out(pod("a", {}), pod("b", {}))):
        with pytest.raises(Refused) as refused:
            read(manifest)
        assert {one.code for one in refused.value.reasons} == {Code.GANG_OF_PODS}


GROUP = {**KUEUE, "labels": {**KUEUE["labels"], "scheduling.x-k8s.io/pod-group": "g"}}
FOLLOWERS = {
    "a mark that says no number": (pod("b", GROUP), "gang[0].metadata.labels['scheduling.x-k8s.io/pod-group']"),
    "a group of Kubernetes": (pod("b", schedulingGroup={"podGroupName": "g"}), "gang[0].spec.schedulingGroup"),
    "a gate of others": (pod("b", schedulingGates=[{"name": "x/y"}]), "gang[0].spec.schedulingGates[0]"),
}


@pytest.mark.parametrize(("other", "field"), FOLLOWERS.values(), ids=list(FOLLOWERS))
def test_what_no_pod_may_say_none_of_a_gang_may(other: Json, field: str) -> None:
    with pytest.raises(Refused) as refused:
        read(written_out(pod("a"), other, pod("c")))
    assert [one.field for one in refused.value.reasons] == [field]


def test_every_pod_is_ruled_on() -> None:
    root = Field(written_out(pod("a"), pod("b", hostNetwork=True), pod("c")), Problems())
    check(POD, root, Tenancy("team-a"))
    assert [one.field for one in root.problems.reasons] == ["gang[0].spec.hostNetwork"]


def test_what_any_pod_names_goes_along() -> None:
    manifest = written_out(pod("a"), pod("b", volumes=[{"name": "v", "secret": {"secretName": "db"}}]), pod("c"))
    assert [one.name for one in named(manifest, POD)] == ["db"]


UP: Json = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
WAITS: Json = {"phase": "Pending"}
WELL: Json = {"phase": "Succeeded"}
BADLY: Json = {"phase": "Failed", "reason": "Evicted"}
STANDS: dict[str, tuple[Json, dict[str, Json], str, str, bool]] = {
    "all are up": (UP, {"b": UP, "c": UP}, "running", "3 of 3 pods are up", False),
    "one has ended well": (UP, {"b": WELL, "c": UP}, "running", "3 of 3", False),
    "the leader has": (WELL, {"b": UP, "c": UP}, "running", "3 of 3", False),
    "all have": (WELL, {"b": WELL, "c": WELL}, "succeeded", "", False),
    "one is not up": (UP, {"b": WAITS, "c": UP}, "pending", "2 of 3 pods are up; pod b: it has no node yet", False),
    "one is not there": (UP, {"b": UP}, "pending", "2 of 3 pods of the gang are there", False),
    "only the leader is": (UP, {}, "pending", "1 of 3 pods of the gang are there", False),
    "the leader ended and one is not there": (WELL, {"b": WELL}, "pending", "2 of 3 pods", False),
    "one has failed, and others run": (UP, {"b": BADLY, "c": UP}, "failed", "pod b: Evicted", True),
    "one has failed, and the others have ended": (WELL, {"b": BADLY, "c": WELL}, "failed", "pod b", False),
    "the leader has failed": (BADLY, {"b": UP}, "failed", "pod a: Evicted", True),
    "nobody knows of one": (UP, {"b": {"phase": "Unknown"}, "c": UP}, "unknown", "pod b", True),
    "nonsense": (UP, {"b": {}, "c": UP}, "pending", "2 of 3", False),
}


@pytest.mark.parametrize(("leader", "others", "state", "text", "left"), STANDS.values(), ids=list(STANDS))
def test_how_a_gang_stands(leader: Json, others: Json, state: str, text: str, left: bool) -> None:
    sets = POD.pod_sets(Field(gang(), Problems()))
    work = Workload("v1", "Pod", "team-a", "a", sets, 3)
    found = status(pod("a"), work, {**leader, "gang": others})
    assert (found.state, found.left) == (state, left)
    assert text in found.text
