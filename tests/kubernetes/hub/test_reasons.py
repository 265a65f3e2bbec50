"""Of a job that waits `why`, the lists, the binding and the object say the same, with every gate that is shut."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.kubernetes.hub.fleet import LATE, MEMBER, HubFleet
from tests.kubernetes.hub.objects import Applied, condition_of, fairway, printed, queues, sent_to
from tests.kubernetes.hub.test_changes import in_queue
from tests.kubernetes.hub.test_suspend import suspend
from tests.kubernetes.support.fleet import until
from tests.kubernetes.support.tries import job

Json = dict[str, Any]
TREES = "scheduling.sigs.k8s.io/v1beta1/namespaces/kube-system/elasticquotatrees"
TREE = {"apiVersion": "scheduling.sigs.k8s.io/v1beta1", "kind": "ElasticQuotaTree"}
# Both nodes of the member whole.
ALL_GPUS = 16
GATES = {
    "Suspended": "suspended by its owner",
    "WaitingForQuota": "quota root/",
    "WaitingForRoom": "clusters can take it now",
}


def wants(place: str, name: str, pods: int, gpus: int) -> Json:
    made = job("Job", place, name)
    made["spec"] |= {"parallelism": pods, "completions": pods}
    limits = {"nvidia.com/gpu": str(gpus), "cpu": "100m", "memory": "64Mi"}
    made["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": limits}
    return made


@pytest.fixture
def leaf(kept: HubFleet, place: str) -> Iterator[str]:
    """The namespace is a leaf of the fleet's tree, and may have as many GPUs as there are."""
    amounts = {"nvidia.com/gpu": ALL_GPUS}
    root = {"name": "root", "max": amounts, "children": [{"name": place, "namespaces": [place], "max": amounts}]}
    kept.hub.create(TREES, {**TREE, "metadata": {"name": place}, "spec": {"root": root}})
    until(lambda: condition_of(kept.hub.get(f"{TREES}/{place}"), "Ready").get("status") == "True", "it is in force")
    yield place
    kept.hub.delete(f"{TREES}/{place}")


class Answers:
    """What each says of one job: its code, and its text."""

    def __init__(self, fleet: HubFleet, one: Applied) -> None:
        why = printed(fleet, "why", one.name, "-n", one.namespace)
        row = one.row()
        line = next(
            row for row in printed(fleet, "get", "jobs", "-n", one.namespace)["items"] if row["name"] == one.name
        )
        listed = printed(fleet, "queue", row["queue"])["items"]
        place = next(job for queue in listed for job in queue["jobs"] if job["id"] == row["id"])
        self.said = {
            "why": (why["reason"], why["because"]),
            "GET /v1/jobs": (row["reason"], row["text"]),
            "get jobs": (line["reason"], line["text"]),
            "queue": (place["reason"], place["text"]),
        }
        for kind in ("Queuing", "Scheduled", "FullyApplied"):
            found = condition_of(one.binding, kind)
            self.said[f"the binding's {kind}"] = (found.get("reason"), found.get("message", ""))
        shown = condition_of(one.on_hub, "Suspended")
        self.said["the object"] = (shown.get("reason"), shown.get("message", ""))

    def differ(self, *gates: str) -> dict[str, tuple[str, str]]:
        """Those that name another first gate, not all of these, or one more."""
        return {
            who: (code, text)
            for who, (code, text) in self.said.items()
            if code != gates[0] or {gate for gate, words in GATES.items() if words in text.lower()} != {*gates}
        }

    def sentences(self) -> dict[str, list[str]]:
        """Who leaves out what of the list's sentences. They begin with a capital where they stand alone."""
        wanted = self.said["GET /v1/jobs"][1].lower().split("; and ")
        left = {who: [part for part in wanted if part not in text.lower()] for who, (_, text) in self.said.items()}
        return {who: parts for who, parts in left.items() if parts}


def all_say(fleet: HubFleet, one: Applied, *gates: str) -> None:
    seen: dict[str, Any] = {}

    def agree() -> bool:
        answers = Answers(fleet, one)
        seen["now"] = answers.differ(*gates) or answers.sentences()
        return not seen["now"]

    try:
        until(agree, "", 20)
    except AssertionError:
        raise AssertionError(f"{one.name} lacks {gates}, and these say otherwise: {seen}") from None


def test_each_says_the_same_of_a_job_and_names_every_gate_that_is_shut(kept: HubFleet, leaf: str) -> None:
    stranger = {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    kept.members[MEMBER].create("v1/namespaces", {"metadata": {"name": f"{leaf}-strangers"}})
    path = f"v1/namespaces/{leaf}-strangers/pods"
    spec = {"nodeName": f"{MEMBER}-0", "containers": [stranger]}
    kept.members[MEMBER].create(path, {"metadata": {"name": "stranger"}, "spec": spec})
    try:
        until(lambda: used(kept) >= 1, "the stranger is counted")
        whole = sent_to(kept, wants(leaf, "whole", 2, 8), MEMBER)
        whole.waits("WaitingForRoom")
        all_say(kept, whole, "WaitingForRoom")
        until(sent_to(kept, wants(leaf, "small", 1, 1), MEMBER).runs, "another one has some of its quota")
        all_say(kept, whole, "WaitingForQuota", "WaitingForRoom")
    finally:
        kept.members[MEMBER].delete(f"{path}/stranger", gracePeriodSeconds="0")


def test_each_says_that_the_owner_holds_a_job_before_what_it_lacks_besides(kept: HubFleet, leaf: str) -> None:
    until(sent_to(kept, wants(leaf, "small", 1, 1), MEMBER).runs, "another one has some of its quota")
    whole = sent_to(kept, wants(leaf, "whole", 2, 8), MEMBER)
    whole.waits("WaitingForQuota")
    all_say(kept, whole, "WaitingForQuota")
    suspend(whole, True)
    all_say(kept, whole, "Suspended", "WaitingForQuota")
    suspend(whole, False)
    all_say(kept, whole, "WaitingForQuota")


def used(fleet: HubFleet) -> int:
    """GPUs of the member that others' pods have."""
    rows = {one["name"]: one for one in fleet.door("/v1/clusters")["items"]}
    return int(rows[MEMBER].get("used", {}).get("nvidia.com/gpu", 0))


def test_those_ahead_are_named_with_their_namespace(kept: HubFleet, place: str) -> None:
    with queues(kept.hub, place, strict="Block") as (queue,):
        first = sent_to(kept, in_queue(wants(place, "first", 1, 8), queue), MEMBER)
        until(first.runs, "the first runs")
        head = sent_to(kept, in_queue(wants(place, "head", 2, 8), queue), MEMBER)
        head.waits("WaitingForRoom")
        behind = sent_to(kept, in_queue(wants(place, "behind", 1, 1), queue), MEMBER)
        behind.waits("BehindHead")
        why = fairway(kept, "why", "behind", "-n", place)
        assert f"{place}/head" in why and head.row()["id"] not in why, why
        assert f"{place}/head" in behind.row()["text"]
        until(lambda: condition_of(behind.binding, "Scheduled").get("reason") == "BehindHead", "its binding says so")
        until(lambda: condition_of(behind.on_hub, "Suspended").get("reason") == "BehindHead", "and its object")


def test_a_job_whose_policy_names_a_cluster_that_is_not_there_goes_when_that_joins(kept: HubFleet, place: str) -> None:
    one = sent_to(kept, job("Job", place), LATE)
    one.waits("UnknownCluster")
    for said in (one.row()["text"], one.asked("why")["because"]):
        assert LATE in said and "not in the fleet" in said
    until(lambda: one.warned("UnknownCluster"), "an Event says so")
    until(lambda: condition_of(one.binding, "Scheduled").get("reason") == "UnknownCluster", "its binding says so")
    with kept.joined(LATE):
        until(lambda: one.is_in() == [LATE], "it is in the cluster that has joined")
        assert one.row()["attempt"] == 1
        one.delete()
        until(lambda: let_go(kept, one), "it is gone from there")
    assert not {"failed", "rejected"} & {*one.verbs()}


def let_go(fleet: HubFleet, one: Applied) -> bool:
    """Whether it is gone from the late cluster, which has no garbage collector: what that would do is done here."""
    there = fleet.members[LATE].job(one.kind, one.namespace, one.name)
    if there and there["metadata"].get("deletionTimestamp"):
        fleet.members[LATE].patch(one.path, {"metadata": {"finalizers": None}})
    return there is None
