"""What somebody changes of an object on the hub is taken over, or answered on the object with the reason why not."""

from collections.abc import Callable

import pytest

from tests.kubernetes.hub.objects import QUEUE, Applied, applied, queues, sent_to
from tests.kubernetes.support.fleet import RealFleet, until
from tests.kubernetes.support.pool import pool
from tests.kubernetes.support.tries import API, Json, job, policy, template
from tests.kubernetes.test_revisions import another_image, elastic, more, one_of_the_task, one_pod, one_worker, volcano

Change = Callable[[Json], None]
# So many pods of a tenth of a CPU that no cluster of the fleet ever holds them.
TOO_MANY = 5_000


def many_pods(tenant: str) -> Json:
    made = job("Job", tenant)
    made["spec"] |= {"parallelism": TOO_MANY, "completions": None}
    return made


def many_workers(tenant: str) -> Json:
    made = job("PyTorchJob", tenant)
    made["spec"]["pytorchReplicaSpecs"]["Worker"] = {
        **made["spec"]["pytorchReplicaSpecs"]["Worker"],
        "replicas": TOO_MANY,
    }
    return made


def two_pods(body: Json) -> None:
    body["spec"]["parallelism"] = 2


@pytest.mark.parametrize(
    ("made", "smaller"),
    [pytest.param(many_pods, two_pods, id="a Job"), pytest.param(many_workers, one_worker, id="a PyTorchJob")],
)
def test_a_job_that_waits_takes_over_another_size_and_runs_with_it(
    fleet: RealFleet, tenant: str, made: Callable[[str], Json], smaller: Change
) -> None:
    one = sent_to(fleet, made(tenant), "north")
    until(lambda: one.lacks("NoClusterEver") or one.lacks("WaitingForRoom"), "it waits for room")
    one.change(smaller)
    until(lambda: one.runs(pods=2), "it runs with two pods", 90)
    assert one.verbs().count("amended") == 1
    there = fleet.members["north"].job(one.kind, tenant, "try")
    assert str(TOO_MANY) not in str((there or {})["spec"])
    until(lambda: (one.binding.get("spec") or {}).get("replicas") == 2, "its binding says how many")
    assert "unchanged" not in one.verbs()


def endless(tenant: str) -> Json:
    """A Job whose number of completions does not stand against another parallelism."""
    made = job("Job", tenant)
    del made["spec"]["completions"]
    return made


def serving(tenant: str) -> Json:
    """Two groups of a leader alone."""
    pod = template()
    del pod["spec"]["restartPolicy"]
    return service("LeaderWorkerSet", tenant, {"replicas": 2, "leaderWorkerTemplate": {"workerTemplate": pod}})


def ray(tenant: str) -> Json:
    """A head and two workers."""
    one = {"rayStartParams": {}, "template": template("ray")}
    worker = {**one, "groupName": "one", "replicas": 2, "minReplicas": 1, "maxReplicas": 4}
    return service("RayCluster", tenant, {"headGroupSpec": one, "workerGroupSpecs": [worker]})


def service(kind: str, tenant: str, spec: Json) -> Json:
    return {"apiVersion": API[kind], "kind": kind, "metadata": {"name": "try", "namespace": tenant}, "spec": spec}


def one_group(body: Json) -> None:
    body["spec"]["replicas"] = 1


def one_of_the_group(body: Json) -> None:
    body["spec"]["workerGroupSpecs"][0]["replicas"] = 1


# How it is made, with how many pods, where it runs, how it is made smaller by one pod, and whether the hub's API lets
# its template change.
RUNNING: dict[str, tuple[Callable[[str], Json], int, str, Change, bool]] = {
    "a Job": (endless, 2, "north", one_pod, False),
    "an elastic PyTorchJob": (elastic, 2, "north", one_worker, True),
    "a Volcano job": (volcano, 2, "south", one_of_the_task, True),
    "a LeaderWorkerSet": (serving, 2, "north", one_group, True),
    "a RayCluster": (ray, 3, "north", one_of_the_group, True),
}


@pytest.mark.parametrize("case", RUNNING)
def test_a_job_that_runs_is_changed_where_its_kind_allows_it_and_answers_where_not(
    fleet: RealFleet, tenant: str, case: str
) -> None:
    made, pods, member, smaller, open_template = RUNNING[case]
    one = sent_to(fleet, made(tenant), member)
    until(lambda: one.runs(pods), "all of its pods run", 90)
    was = one.on_hub["spec"]
    uid = (fleet.members[member].job(one.kind, tenant, "try") or {})["metadata"]["uid"]

    refused_and_taken_back(one, more, "NeedsRoom", was, pods)
    if open_template:
        refused_and_taken_back(one, another_image, "NotChangeable", was, pods)
    one.change(smaller)
    until(lambda: one.runs(pods - 1), "one pod fewer is left")
    one.answered("True")
    until(lambda: "amended" in one.verbs(), "the record says so")

    there = fleet.members[member].job(one.kind, tenant, "try") or {}
    assert there["metadata"]["uid"] == uid
    images = {pod["spec"]["containers"][0]["image"] for pod in fleet.members[member].pods(tenant)}
    assert (images, one.row()["attempt"]) == ({"x"}, 1)


def refused_and_taken_back(one: Applied, change: Change, code: str, was: Json, pods: int) -> None:
    one.change(change)
    answer = one.answered("False", code)
    until(lambda: one.warned(code), f"an Event warns of {code}; there are {one.told()}")
    assert answer["message"] in one.warned(code) or one.warned(code) in answer["message"]
    assert one.runs(pods)

    def back(body: Json) -> None:
        body["spec"] = was

    one.change(back)
    one.answered("True")


def test_a_change_that_is_taken_over_answers_for_one_that_was_refused(fleet: RealFleet, tenant: str) -> None:
    one = sent_to(fleet, endless(tenant), "north")
    until(lambda: one.runs(pods=2), "two pods run")
    one.change(more)
    one.answered("False", "NeedsRoom")
    one.change(one_pod)
    one.answered("True")
    until(lambda: one.runs(pods=1), "one pod is left")
    assert one.told().count("NeedsRoom") == 1


def test_another_queue_annotation_counts_at_once_for_a_job_that_waits(fleet: RealFleet, tenant: str) -> None:
    with (
        pool(fleet.members["north"], tenant, 1) as own,
        queues(fleet.hub, tenant, strict="Block", free="Priority") as (strict, free),
    ):
        whole_node = {"resources": {"limits": {"nvidia.com/gpu": "4", "cpu": "100m", "memory": "64Mi"}}}
        first, head, behind = (in_queue(job("Job", tenant, name), strict) for name in ("first", "head", "behind"))
        for one in (first, head):
            one["spec"] |= {"parallelism": 1, "completions": 1}
            one["spec"]["template"]["spec"] |= own.pod_rules
            one["spec"]["template"]["spec"]["containers"][0] |= whole_node
        running = sent_to(fleet, first, "north")
        until(running.runs, "the first job has the node")
        sent_to(fleet, head, "north").waits("WaitingForRoom")
        waiting = sent_to(fleet, behind, "north")
        assert waiting.waits("BehindHead")["queue"] == strict
        fleet.hub.kubectl("-n", tenant, "annotate", "--overwrite", "job/behind", f"{QUEUE}={free}")
        until(waiting.runs, "it has gone past the head of the other queue")
        assert (waiting.row()["queue"], waiting.verbs().count("amended")) == (free, 1)


def in_queue(what: Json, queue: str) -> Json:
    what["metadata"]["annotations"] = {QUEUE: queue}
    return what


def test_another_policy_counts_at_once_for_a_job_that_waits(fleet: RealFleet, tenant: str) -> None:
    """By a label, which another policy selects."""
    what = job("Job", tenant)
    what["metadata"]["labels"] = {"team": "one"}
    policies = []
    for team, cluster in (("one", "nowhere"), ("two", "west")):
        made = policy(what, cluster)
        made["metadata"]["name"] = team
        selector = {"apiVersion": "batch/v1", "kind": "Job", "labelSelector": {"matchLabels": {"team": team}}}
        made["spec"]["resourceSelectors"] = [selector]
        policies.append(made)
    one = applied(fleet, what, *policies)
    one.waits("UnknownCluster")
    fleet.hub.kubectl("-n", tenant, "label", "--overwrite", "job/try", "team=two")
    until(one.runs, "it runs where the other policy says")
    assert one.is_in() == ["west"]
