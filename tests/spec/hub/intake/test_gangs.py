"""Pods that start together: they wait for each other, and are one job, that of the pod whose name comes first."""

from typing import Any

import msgspec
import pytest

from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from fairway.workloads.hub.objects import HubObject
from tests.spec.builders.gangs_of_pods import KUEUE, Json
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.hub.gang_objects import ALL, KINDS_OF_MARKS, MOMENT, A, B, C, conditions, podlet, up, waiting, whole
from tests.spec.hub.hub_objects import policy


def manifest(said: wire.Submitted) -> Json:
    found: Json = msgspec.json.decode(said.manifest)
    return found


@pytest.mark.parametrize("marks", KINDS_OF_MARKS.values(), ids=list(KINDS_OF_MARKS))
def test_a_whole_gang_is_one_job_and_its_record_names_every_pod(marks: Json) -> None:
    one = whole(marks)
    (said,) = one.said(wire.Submitted)
    assert (said.client, manifest(said)["metadata"]["name"]) == ("hub:u-a", "a")
    assert [each["metadata"]["name"] for each in manifest(said)["gang"]] == ["b", "c"]
    assert said.hub is not None
    assert [(each.kind, each.name, each.uid) for each in said.hub.templates] == [
        ("Pod.v1", "b", "u-b"),
        ("Pod.v1", "c", "u-c"),
    ]


@pytest.mark.parametrize("order", ["abc", "cba", "bca"])
def test_all_wait_until_as_many_are_there_as_each_says(order: str) -> None:
    pods = {"a": A, "b": B, "c": C}
    first, second, last = (pods[name] for name in order)
    one = HubDriver()
    one.apply(ALL, first)
    one.run(30_000)
    one.apply(second)
    one.run(30_000)
    for each in (first, second):
        held = one.held(each)
        assert held is not None
        assert (held.why.code, held.why.text) == (Code.GANG_OF_PODS, "2 of 3 pods of gang g are there")
        assert conditions(one, each) == "GangOfPods: 2 of 3 pods of gang g are there"
    assert one.said(wire.Submitted) == []
    one.apply(last)
    one.run(2 * MOMENT)
    assert len(one.submissions(A)) == len(one.said(wire.Submitted)) == 1


def test_the_others_are_held_with_the_job_of_the_first() -> None:
    one, life = waiting()
    assert one.held(A) is None
    for each in (B, C):
        held = one.held(each)
        assert held is not None
        assert (held.why.code, held.holder) == (Code.GANG_OF_PODS, life.name)
        assert held.why.text == "it goes with pod a of its gang, which has the job of both"


NOT_ONE: dict[str, tuple[tuple[HubObject, ...], str]] = {
    "one pod too many": ((A, B, C, podlet("d")), "4 pods say that they are of gang g, and that it has 3"),
    "another number": (
        (A, B, podlet("c", {**KUEUE, "annotations": {"kueue.x-k8s.io/pod-group-total-count": "4"}})),
        "pod c says that gang g has 4 pods, and pod a 3",
    ),
    "no gate": ((A, B, podlet("c", schedulingGates=[])), "pod a of the gang has the gate fairway.io/fleet"),
    "a gate of others": (
        (A, B, podlet("c", schedulingGates=[{"name": "fairway.io/fleet"}, {"name": "x/y"}])),
        "pod c of the gang has the gate x/y",
    ),
    "more than a job may have": (tuple(podlet(f"p{number}") for number in range(70)), "more than 64 pods"),
    "a pod of another namespace": (
        (
            A,
            B,
            HubObject(
                "Pod.v1",
                "team-b",
                "c",
                "u-c",
                {**C.manifest, "metadata": {**C.manifest["metadata"], "namespace": "team-b"}},
            ),
        ),
        "2 of 3 pods",
    ),
    "a gang of its own": ((A, B, podlet("c", {**KUEUE, "labels": {"kueue.x-k8s.io/pod-group-name": "h"}})), "2 of 3"),
}


@pytest.mark.parametrize(("pods", "text"), NOT_ONE.values(), ids=list(NOT_ONE))
def test_what_is_no_whole_gang_waits_with_a_reason(pods: tuple[HubObject, ...], text: str) -> None:
    one = HubDriver()
    one.apply(ALL, *pods)
    one.run(30_000)
    assert one.said(wire.Submitted) == []
    held = one.held(pods[0])
    assert held is not None
    assert text in held.why.text and held.why.remedy and held.why.code is Code.GANG_OF_PODS


def test_too_many_are_one_gang_again_when_the_surplus_is_deleted() -> None:
    one = HubDriver()
    pods = [podlet(f"p{number:02}") for number in range(70)]
    one.apply(ALL, *pods)
    one.run(5_000)
    for each in pods[3:]:
        one.delete(each)
    one.run(5_000)
    (said,) = one.said(wire.Submitted)
    assert [each["metadata"]["name"] for each in manifest(said)["gang"]] == ["p01", "p02"]


def named(*names: str) -> HubObject:
    return policy("named-" + "-".join(names), *({"apiVersion": "v1", "kind": "Pod", "name": name} for name in names))


def test_one_policy_selects_all_of_them() -> None:
    one = HubDriver()
    one.apply(named("a", "b"), A, B, C)
    one.run(30_000)
    held = one.held(A)
    assert held is not None
    assert (held.why.code, held.why.text) == (
        Code.GANG_OF_PODS,
        "pod c of its gang is selected by another policy, or by none",
    )
    one.apply(named("a", "b", "c"))
    one.delete(named("a", "b"))
    one.run(10_000)
    assert len(one.submissions(A)) == 1


def changed(label: str) -> HubObject:
    return podlet("b", {**KUEUE, "labels": {**KUEUE["labels"], "seen": label}})


def test_what_changes_of_any_pod_is_taken_over_while_the_job_waits() -> None:
    one, _ = waiting()
    one.apply(changed("yes"))
    one.run(3_000)
    (said,) = one.said(wire.Revise)
    assert msgspec.json.decode(said.manifest)["gang"][0]["metadata"]["labels"]["seen"] == "yes"


def test_what_changes_of_another_pod_is_not_said_of_a_job_that_runs() -> None:
    one, _ = up()
    one.apply(changed("yes"))
    one.run(3_000)
    assert one.said(wire.Revise) == []


LATER: dict[str, HubObject] = {
    "one more pod": podlet("d"),
    "one more pod whose name comes first": podlet("0"),
    "a pod that says no more that it is of the gang": podlet("b", {}),
    "the leader says it no more": podlet("a", {}),
}


@pytest.mark.parametrize("other", LATER.values(), ids=list(LATER))
def test_once_there_is_a_job_who_is_of_it_stays(other: HubObject) -> None:
    one, _ = waiting()
    one.apply(other)
    one.run(30_000)
    assert (one.said(wire.Revise, wire.Cancel), len(one.said(wire.Submitted))) == ([], 1)
    if other.name in "0d":
        held = one.held(other)
        assert held is not None
        assert "4 pods say that they are of gang g" in held.why.text


def test_a_pod_that_has_a_job_is_not_of_another_one() -> None:
    one = HubDriver()
    single = podlet("c", {})
    one.apply(ALL, single)
    one.run(2 * MOMENT)
    one.admit(single)
    one.apply(A, B, C)
    one.run(30_000)
    held = one.held(A)
    assert held is not None
    assert "pod c of its gang is of job" in held.why.text
    assert [each.client for each in one.said(wire.Submitted)] == ["hub:u-c"]


ENDS: dict[str, Any] = {
    "deleted": lambda one, each: one.delete(each),
    "bound": lambda one, each: one.apply(podlet(each.name, nodeName="n1")),
}


@pytest.mark.parametrize("how", ENDS.values(), ids=list(ENDS))
@pytest.mark.parametrize("which", [A, B], ids=["leader", "another"])
@pytest.mark.parametrize("begin", [waiting, up], ids=["waits", "runs"])
def test_whichever_pod_goes_the_job_is_cancelled_once(begin: Any, which: HubObject, how: Any) -> None:
    one, life = begin()
    how(one, which)
    one.run(3_000)
    (said,) = one.said(wire.Cancel)
    assert (said.job, said.tenant) == (life.name, "team-a")
    one.says(life, wire.Cancelled, who="ann")
    one.run(3_000)
    for each in (A, B, C):
        if each is not which:
            assert (one.status(each)["phase"], one.status(each)["reason"]) == ("Failed", "Cancelled")
            assert one.held(each) is None
    assert len(one.said(wire.Submitted)) == 1
    assert one.inbox.open == {}


@pytest.mark.parametrize("which", [A, B], ids=["leader", "another"])
def test_a_pod_that_went_while_nobody_looked_cancels_the_job(which: HubObject) -> None:
    one, life = waiting()
    one.hub.objects.pop((which.kind, which.namespace, which.name))
    one.restart()
    one.run(3_000)
    assert [each.job for each in one.said(wire.Cancel)] == [life.name]


@pytest.mark.parametrize("begin", [waiting, up], ids=["waits", "runs"])
def test_a_restart_says_nothing_twice(begin: Any) -> None:
    one, life = begin()
    one.restart()
    one.run(30_000)
    assert (len(one.said(wire.Submitted)), one.said(wire.Cancel, wire.Revise)) == (1, [])
    one.delete(C)
    one.run(3_000)
    assert [each.job for each in one.said(wire.Cancel)] == [life.name]


def test_pods_that_have_ended_are_of_no_new_gang() -> None:
    one, life = up()
    done = {"phase": "Succeeded", "gang": {"b": {"phase": "Succeeded"}, "c": {"phase": "Succeeded"}}}
    one.says(life, wire.Succeeded, cluster="c1", status=done)
    one.run(3_000)
    one.delete(A)
    one.apply(podlet("a2"))
    one.run(30_000)
    held = one.held(podlet("a2"))
    assert held is not None
    assert held.why.text == "1 of 3 pods of gang g are there"
