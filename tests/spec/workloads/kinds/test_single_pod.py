"""A Pod that is a job of one: what the hub's API server wrote into it is not its owner's, and what it shows there."""

from copy import deepcopy
from typing import Any

import pytest

from fairway.workloads.hub.objects import cleaned
from fairway.workloads.hub_status import StatusWord
from fairway.workloads.kinds import registry
from fairway.workloads.kinds.single_pod import POD
from fairway.workloads.member_copy import member_copy

Json = dict[str, Any]
WRITTEN: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "one", "namespace": "team"},
    "spec": {
        "schedulingGates": [{"name": "fairway.io/fleet"}],
        "containers": [{"name": "main", "image": "x", "volumeMounts": [{"name": "own", "mountPath": "/own"}]}],
        "initContainers": [{"name": "first", "image": "x"}],
        "volumes": [{"name": "own", "emptyDir": {}}],
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "serviceAccountName": "default",
    },
}
ROOT = "/var/run/secrets/kubernetes.io/serviceaccount"
TOKEN = {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}


def stored() -> Json:
    """As an API server keeps it that gives pods tokens."""
    one = deepcopy(WRITTEN)
    spec = one["spec"]
    mount = {"name": "kube-api-access-x7b2f", "readOnly": True, "mountPath": ROOT}
    for container in (*spec["containers"], *spec["initContainers"]):
        container.setdefault("volumeMounts", []).append(mount)
    root = {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}}
    spec["volumes"].append({"name": mount["name"], "projected": {"sources": [TOKEN, root]}})
    for what in ("not-ready", "unreachable"):
        away = {"key": f"node.kubernetes.io/{what}", "operator": "Exists", "effect": "NoExecute"}
        spec["tolerations"].append({**away, "tolerationSeconds": 300})
    spec |= {"serviceAccount": "default", "priority": 0, "preemptionPolicy": "PreemptLowerPriority"}
    return one


def test_what_api_servers_write_into_every_pod_is_nobodys_wish() -> None:
    assert cleaned(stored()) == WRITTEN
    assert registry.read(cleaned(stored())).name == "one", "it asks for no token"


def test_a_token_that_its_owner_mounts_stays_and_is_refused() -> None:
    for name in ("kube-api-access-mine", "token"):
        one = deepcopy(WRITTEN)
        one["spec"]["volumes"].append({"name": name, "projected": {"sources": [TOKEN]}})
        assert cleaned(one) == one
    one = deepcopy(WRITTEN)
    one["spec"]["volumes"].append({"name": "kube-api-access-x7b2f", "emptyDir": {}})
    assert cleaned(one) == one, "it only has such a name"


@pytest.mark.parametrize("odd", [None, 7, [], {"volumes": 7, "containers": [7], "tolerations": {}}], ids=repr)
def test_what_is_no_pod_is_left_as_it_is(odd: Any) -> None:
    one = {**WRITTEN, "spec": odd}
    assert POD.as_written(one) == one
    assert (POD.suspended(one), POD.for_the_fleet(one), POD.runs_there(one)) == (False, False, False)
    assert POD.one_of_several({**one, "metadata": odd}) is None


def test_in_a_member_it_goes_without_the_hubs_gate_and_is_known_from_pods_of_jobs() -> None:
    copy = member_copy(WRITTEN, "j-1", 2)
    assert "schedulingGates" not in copy["spec"]
    labels = copy["metadata"]["labels"]
    assert (labels["fairway.io/alone"], labels["fairway.io/pod-set"]) == ("true", "pod")
    assert copy["spec"]["automountServiceAccountToken"] is False


WORD = StatusWord("StartTimeout", "not running after 5 s", "2026-01-01T00:00:00Z")
GATED = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": "blocked by gates"}
BORN = {"phase": "Pending", "qosClass": "BestEffort", "conditions": [GATED]}


def container(restarts: int = 0, **state: Any) -> Json:
    return {"name": "main", "ready": "running" in state, "restartCount": restarts, "state": state}


UP = {
    "phase": "Running",
    "qosClass": "Burstable",
    "hostIP": "10.0.0.1",
    "hostIPs": [{"ip": "10.0.0.1"}],
    "podIP": "10.1.0.1",
    "podIPs": [{"ip": "10.1.0.1"}],
    "nominatedNodeName": "n1",
    "observedGeneration": 2,
    "startTime": "2026-01-01T00:00:00Z",
    "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}],
    "containerStatuses": [container(running={})],
}


def test_the_hub_shows_what_is_true_of_a_pod_without_a_node() -> None:
    shown = POD.ends.shows(BORN, UP)
    assert shown == {
        "phase": "Running",
        "qosClass": "BestEffort",
        **{name: UP[name] for name in ("startTime", "conditions", "containerStatuses")},
    }
    assert POD.ends.shows(shown, UP) == shown


ENDED = {"terminated": {"exitCode": 1}}
AFTER = {
    "an attempt after it: first the old container has to go": (container(**ENDED), container(running={}), False),
    "the same container once more": (container(**ENDED), container(1, running={}), True),
    "it is over": (container(running={}), container(**ENDED), True),
    "it is still over": (container(**ENDED), container(**ENDED), True),
    "nonsense": (7, container(running={}), True),
}


@pytest.mark.parametrize(("before", "after", "want"), AFTER.values(), ids=list(AFTER))
def test_a_container_that_ended_does_not_run_again_in_one_step(before: Any, after: Any, want: bool) -> None:
    shown = POD.ends.shows({**UP, "containerStatuses": [before]}, {**UP, "containerStatuses": [after]})
    assert ("containerStatuses" in shown) is want


def test_between_attempts_it_is_gated_and_given_up_it_has_failed() -> None:
    between = POD.ends.waits(POD.ends.shows(BORN, UP), WORD)
    (condition,) = between["conditions"]
    assert (between["phase"], condition["reason"]) == ("Pending", "SchedulingGated")
    assert condition["message"] == "StartTimeout: not running after 5 s"
    assert between.keys() == {"phase", "conditions", "qosClass"}
    over = POD.ends.fails(between, WORD)
    assert (over["phase"], over["reason"], over["conditions"]) == ("Failed", "StartTimeout", [])
    lost = POD.ends.fails(POD.ends.shows(BORN, UP), WORD)
    assert [(one["type"], one["status"]) for one in lost["conditions"]] == [("Ready", "False")]


OTHERS = {
    "as it was born": (BORN, True),
    "Fairway says why it waits": (POD.ends.waits(BORN, WORD), True),
    "a scheduler of the hub looked for a node": ({**BORN, "conditions": [{**GATED, "reason": "Unschedulable"}]}, False),
    "it runs": (UP, False),
}


@pytest.mark.parametrize(("shown", "want"), OTHERS.values(), ids=list(OTHERS))
def test_whether_somebody_else_has_written_its_status(shown: Json, want: bool) -> None:
    assert POD.ends.untouched(shown) is want
