"""Which pods of the hub are jobs of one: those that nobody else makes, runs or holds, and that are none of a gang."""

from typing import Any

import pytest

from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from fairway.workloads.hub.objects import HubObject, hub_object
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.hub.hub_objects import Json, policy, thing

POD = "Pod.v1"
MOMENT = 300
FLEET = {"name": "fairway.io/fleet"}
ALL = policy("all", {"apiVersion": "v1", "kind": "Pod"})


def pod(*gates: Json, metadata: Any = None, **spec: Any) -> HubObject:
    inside = {"containers": [{"name": "main", "image": "x"}], **spec}
    if gates:
        inside["schedulingGates"] = list(gates)
    return hub_object(POD, thing(POD, "note", spec=inside, metadata=metadata or {}))


def test_a_bare_pod_that_a_policy_selects_is_a_job() -> None:
    one = HubDriver()
    one.apply(ALL, pod(FLEET))
    one.run(2 * MOMENT)
    (said,) = one.submissions(pod())
    assert said.hub is not None
    assert said.hub.plural == "pods"


NOBODYS = {
    "its owner is any controller": pod(
        FLEET, metadata={"ownerReferences": [{"kind": "ReplicaSet", "controller": True}]}
    ),
    "the hub runs it": pod(nodeName="n1"),
}


@pytest.mark.parametrize("other", NOBODYS.values(), ids=list(NOBODYS))
def test_what_is_somebody_else_s_is_nothing_of_fairways(other: HubObject) -> None:
    one = HubDriver()
    one.apply(ALL, other)
    one.run(30_000)
    assert (one.said(wire.Submitted), one.held(other), one.events(other)) == ([], None, [])


def test_a_pod_that_the_hub_begins_to_run_is_no_job_any_more() -> None:
    one = HubDriver()
    one.apply(ALL, pod())
    one.run(2 * MOMENT)
    one.admit(pod())
    one.apply(pod(nodeName="n1"))
    one.run(2 * MOMENT)
    assert len(one.said(wire.Cancel)) == 1


def test_without_a_policy_only_the_gate_says_that_it_is_for_the_fleet() -> None:
    one = HubDriver()
    one.apply(pod())
    one.run(30_000)
    assert (one.held(pod()), one.events(pod()), one.status(pod())) == (None, [], {})
    one.apply(pod(FLEET))
    one.run(30_000)
    held = one.held(pod())
    assert held is not None
    assert held.why.code is Code.NO_POLICY


GANG = {"labels": {"pod-group.scheduling.sigs.k8s.io/name": "g"}}
IN_GROUP = {"labels": {"scheduling.x-k8s.io/pod-group": "g"}}
OTHERS = {"name": "kueue.x-k8s.io/admission"}
HELD = {
    "of a gang": (
        pod(FLEET, metadata=GANG),
        Code.GANG_OF_PODS,
        "metadata.labels['pod-group.scheduling.sigs.k8s.io/name']",
    ),
    "of a gang of KAI": (
        pod(FLEET, metadata={"annotations": {"pod-group-name": "g"}}),
        Code.GANG_OF_PODS,
        "metadata.annotations.pod-group-name",
    ),
    "of a PodGroup that is not there": (
        pod(FLEET, metadata=IN_GROUP),
        Code.UNKNOWN_TEMPLATE,
        "metadata.labels['scheduling.x-k8s.io/pod-group']",
    ),
    "behind a gate of others": (
        pod(FLEET, {"name": "kueue.x-k8s.io/admission"}),
        Code.SUSPENDED,
        "spec.schedulingGates",
    ),
}


@pytest.mark.parametrize(("given", "code", "field"), HELD.values(), ids=list(HELD))
def test_it_waits_on_the_hub_until_it_stands_alone(given: HubObject, code: Code, field: str) -> None:
    one = HubDriver()
    one.apply(ALL, given)
    one.run(30_000)
    held = one.held(given)
    assert held is not None
    assert (held.why.code, held.why.field) == (code, field)
    assert one.said(wire.Submitted) == []
    (condition,) = one.status(given)["conditions"]
    assert (condition["reason"], condition["message"].partition(":")[0]) == ("SchedulingGated", code.value)
    one.apply(pod(FLEET))
    one.run(2 * MOMENT)
    assert len(one.submissions(pod())) == 1
