"""Gangs whose number of pods a PodGroup says: which are whole, and what each pod and the PodGroup are in a member."""

from typing import Any

import pytest

from fairway.workloads.gangs import pods as gangs
from fairway.workloads.kinds.registry import read
from fairway.workloads.kinds.single_pod import POD
from fairway.workloads.member_copy import member_copy
from fairway.workloads.reading.fields import Field, Problems
from tests.spec.builders.gangs_of_pods import KUEUE, VERSIONS, VOLCANO, gang, pod, pod_group, written_out

Json = dict[str, Any]
every_kind = pytest.mark.parametrize(("marks", "version"), VERSIONS, ids=[version for _, version in VERSIONS])


def reasons(manifest: Json) -> list[Any]:
    root = Field(manifest, Problems())
    gangs.check(root)
    return root.problems.reasons


@every_kind
def test_as_many_pods_as_it_says_are_one_gang(marks: Json, version: str) -> None:
    work = read(gang(marks, pod_group(version)))
    assert (work.gang_minimum, sum(one.count for one in work.pod_sets)) == (3, 3)


@every_kind
def test_in_a_member_it_is_an_object_of_the_attempt_and_its_pods_say_so(marks: Json, version: str) -> None:
    copy = member_copy(gang(marks, pod_group(version, minResources={"cpu": "4"})), "j", 1)
    leader, parts = POD.in_member(copy, "fairway-j-1")
    assert parts == {f"PodGroup.{version}": {"spec": {"minMember": 3, "minResources": {"cpu": "4"}}}}
    ((holder, named),) = marks.items()
    (mark,) = named
    assert leader["metadata"][holder][mark] == "fairway-j-1"
    assert "podGroup" not in leader
    other, none = POD.in_member(member_copy(pod("b", marks), "j", 1), "fairway-j-1")
    assert (other["metadata"][holder][mark], none) == ("fairway-j-1", {})
    assert copy["metadata"][holder][mark] == "g", "the copy is not changed"


def test_the_marks_of_others_stay_as_they_are() -> None:
    copy = member_copy(pod("a"), "j", 1)
    assert POD.in_member(copy, "fairway-j-1") == (copy, {})


def with_group(**spec: Any) -> Json:
    return gang(VOLCANO, pod_group(**spec))


def beside(**spec: Any) -> Json:
    return {"podGroup": with_group(**spec)["podGroup"]}


BOTH = {**VOLCANO, "labels": {"scheduling.x-k8s.io/pod-group": "g"}}
WRONG: dict[str, tuple[Json, str, str]] = {
    "one pod is missing": (
        {**with_group(), "gang": [pod("b", VOLCANO)]},
        "metadata.annotations['scheduling.k8s.io/group-name']",
        "2 of 3 pods of gang g are there",
    ),
    "it is not there": (
        gang(VOLCANO),
        "metadata.annotations['scheduling.k8s.io/group-name']",
        "names PodGroup g, which says how many pods there are, and is not here",
    ),
    "it is of another kind": (gang(VOLCANO, pod_group("scheduling.x-k8s.io/v1alpha1")), "podGroup", "is no PodGroup"),
    "nobody names one": ({**pod("a", {}), "podGroup": {}}, "podGroup", "the pod names none"),
    "the pods say their number": (gang(KUEUE, pod_group()), "podGroup", "the pod names none"),
    "it says no number": (with_group(minMember=None), "podGroup.spec.minMember", "is missing"),
    "it says true": (with_group(minMember=True), "podGroup.spec.minMember", "is true"),
    "none at all": (with_group(minMember=0), "podGroup.spec.minMember", "is 0"),
    "more than a job may have": (with_group(minMember=65), "podGroup.spec.minMember", "is 65"),
    "some of each task": (with_group(minTaskMember={"a": 1}), "podGroup.spec.minTaskMember", "is not done"),
    "near each other": (with_group(networkTopology={"mode": "hard"}), "podGroup.spec.networkTopology", "is not done"),
    "a queue of its own": (with_group(queue="gold"), "podGroup.spec.queue", "is 'gold'"),
    "another PriorityClass": (with_group(priorityClassName="high"), "podGroup.spec.priorityClassName", "is 'high'"),
    "two marks": (gang(BOTH, pod_group()), "metadata.labels['scheduling.x-k8s.io/pod-group']", "second mark"),
    "one in another pod": (
        {**with_group(), "gang": [pod("b", VOLCANO), {**pod("c", VOLCANO), **beside()}]},
        "gang[1].podGroup",
        "stands in a pod of a gang",
    ),
    "another pod names another": (
        {
            **with_group(),
            "gang": [pod("b", VOLCANO), pod("c", {"annotations": {"scheduling.k8s.io/group-name": "h"}})],
        },
        "gang[1].metadata",
        "pod c does not say that it is of gang g",
    ),
}


@pytest.mark.parametrize(("manifest", "field", "text"), WRONG.values(), ids=list(WRONG))
def test_what_is_no_whole_gang_says_where_and_why(manifest: Json, field: str, text: str) -> None:
    found = {one.field: one.text for one in reasons(manifest)}
    assert text in found.get(field, ""), found


FINE: dict[str, Json] = {
    "everybody's queue": with_group(queue="default"),
    "the class of its pods": {
        **written_out(*(pod(name, VOLCANO, priorityClassName="high") for name in "abc")),
        **beside(priorityClassName="high"),
    },
    "one pod": {**pod("a", VOLCANO), **beside(minMember=1)},
}


@pytest.mark.parametrize("manifest", FINE.values(), ids=list(FINE))
def test_what_is_one(manifest: Json) -> None:
    assert reasons(manifest) == []
