"""Pods whose PodGroup says how many start together: they wait for it as for each other."""

import msgspec
import pytest

from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from fairway.workloads.hub.objects import HubObject, hub_object
from tests.spec.builders.gangs_of_pods import VERSIONS, VOLCANO, Json, pod_group
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.hub.gang_objects import ALL, MOMENT, conditions, podlet

PODS = [podlet(name, VOLCANO) for name in "abc"]


def group(version: str = "scheduling.volcano.sh/v1beta1", number: int = 3, resource_version: str = "7") -> HubObject:
    made = pod_group(version, minMember=number)
    meta = {**made["metadata"], "uid": "u-g", "resourceVersion": resource_version}
    return hub_object(f"PodGroup.{version}", {**made, "metadata": meta})


def waiting(one: HubDriver, pods: list[HubObject], code: Code, text: str) -> None:
    for each in pods:
        held = one.held(each)
        assert held is not None
        assert (held.why.code, held.why.text) == (code, text)
        assert conditions(one, each) == f"{code.value}: {text}"
    assert one.said(wire.Submitted) == []


@pytest.mark.parametrize(("marks", "version"), VERSIONS, ids=[version for _, version in VERSIONS])
def test_with_as_many_as_it_says_they_are_one_job_whose_record_names_it(marks: Json, version: str) -> None:
    one = HubDriver()
    one.apply(ALL, group(version), *(podlet(name, marks) for name in "abc"))
    one.run(2 * MOMENT)
    (said,) = one.said(wire.Submitted)
    assert said.hub is not None
    assert [(each.kind, each.name, each.uid) for each in said.hub.templates] == [
        ("Pod.v1", "b", "u-b"),
        ("Pod.v1", "c", "u-c"),
        (f"PodGroup.{version}", "g", "u-g"),
    ]
    made = msgspec.json.decode(said.manifest)
    assert made["podGroup"] == {"apiVersion": version, "kind": "PodGroup", "spec": {"minMember": 3}}
    assert [each["metadata"]["name"] for each in made["gang"]] == ["b", "c"]


def test_they_wait_for_it_and_go_when_it_is_there() -> None:
    one = HubDriver()
    one.apply(ALL, *PODS)
    one.run(30_000)
    waiting(one, PODS, Code.UNKNOWN_TEMPLATE, "there is no PodGroup g in namespace team-a")
    one.apply(group())
    one.run(2 * MOMENT)
    assert len(one.said(wire.Submitted)) == 1


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (4, "3 of 4 pods of gang g are there"),
        (2, "3 pods say that they are of gang g, and that it has 2"),
    ],
)
def test_they_wait_for_as_many_as_it_says_and_follow_it_when_it_changes(number: int, text: str) -> None:
    one = HubDriver()
    one.apply(ALL, group(number=number), *PODS)
    one.run(30_000)
    waiting(one, PODS, Code.GANG_OF_PODS, text)
    one.apply(group(resource_version="8"))
    one.run(2 * MOMENT)
    assert len(one.said(wire.Submitted)) == 1


def test_one_that_is_gone_while_the_job_waits_leaves_it_as_it_is() -> None:
    one = HubDriver()
    one.apply(ALL, group(), *PODS)
    one.run(2 * MOMENT)
    life = one.admit(PODS[0])
    one.says(life, wire.Queue, queue="gold")
    one.delete(group())
    one.run(30_000)
    assert one.said(wire.Revise) == [] and one.said(wire.Cancel) == []
