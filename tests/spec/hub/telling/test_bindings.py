"""What a ResourceBinding says at every station of a job's life, in Karmada's fields and our reasons."""

from typing import Any

import msgspec
import pytest

from fairway.hub.telling.bindings import Binding, binding_of, manifest_of, name_of, replacing, stamps_of, unclaimed
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.wire.workload import PodSet
from fairway.workloads.hub.objects import HubObject
from tests.spec.builders.lives import (
    RECLAIMED,
    T0,
    Life,
    admitted,
    back,
    dequeued,
    dispatched,
    evicting,
    failing,
    nominated,
    place,
    placed,
    queued,
    reserved,
    running,
)

Json = dict[str, Any]
ABOUT = HubObject("PyTorchJob.kubeflow.org/v1", "team-a", "llm", "u-1", {})
LACKS = wire.Verdict("c2", Code.NOT_ENOUGH, "nvidia.com/gpu", {"needed": 4, "by_node": 1, "by_sum": 1, "at_most": 8})
REASON = Reason(Code.INVALID, "is -1", "spec.x", "write 0 or more")


def no_room() -> Life:
    return back(dequeued(), Code.WAITING_FOR_ROOM, "none of 3 clusters can take it now", LACKS)


def ended(kind: type[wire.JobMessage], life: Life, **more: Any) -> Life:
    return life.then(kind, cluster="c1", **more)


def lost_for_good() -> Life:
    return ended(wire.Failed, running(), why=Reason(Code.JOB_FAILED, "exit code 137"), final=True)


def told(life: Life, shown: bytes = b"") -> Binding:
    return binding_of(ABOUT, life.now, shown)


@pytest.mark.parametrize(
    ("life", "queuing", "scheduled", "applied"),
    [
        pytest.param(admitted(), "+Queued", "-Queued", "-Queued", id="admitted"),
        pytest.param(queued(), "+Queued", "-Queued", "-Queued", id="its turn is to come"),
        pytest.param(no_room(), "+WaitingForRoom", "-WaitingForRoom", "-WaitingForRoom", id="no room"),
        pytest.param(dequeued(), "-Dequeued", "-Dequeued", "-Dequeued", id="its turn"),
        pytest.param(placed(), "-Dequeued", "+Success", "-Reserved", id="placed"),
        pytest.param(reserved(), "-Dequeued", "+Success", "-Reserved", id="room is held"),
        pytest.param(dispatched(), "-Dequeued", "+Success", "+FullyAppliedSuccess", id="applied"),
        pytest.param(running(), "-Dequeued", "+Success", "+FullyAppliedSuccess", id="running"),
        pytest.param(lost_for_good(), "-Dequeued", "+Success", "+FullyAppliedSuccess", id="failed for good"),
        pytest.param(failing(running()), "+WaitingForRemoval", "-WaitingForRemoval", "-WaitingForRemoval", id="again"),
        pytest.param(
            Life("j").then(wire.Rejected, reasons=(REASON,)), "-Invalid", "-Invalid", "-Invalid", id="refused"
        ),
        pytest.param(queued().then(wire.Cancelled), "-Cancelled", "-Cancelled", "-Cancelled", id="cancelled"),
    ],
)
def test_the_conditions_of_a_job(life: Life, queuing: str, scheduled: str, applied: str) -> None:
    given = {one.type: f"{'+' if one.true else '-'}{one.reason}" for one in told(life).conditions}
    assert given == {"Queuing": queuing, "Scheduled": scheduled, "FullyApplied": applied}


def again(life: Life, cluster: str = "c7") -> Life:
    """The next attempt is applied there."""
    place(life.then(wire.Removed, cluster="c1", attempt=life.now.attempt - 1).then(wire.Dequeued), cluster)
    life.then(wire.Reserved, cluster=cluster, slots=life.now.slots, expires_at=life.at + 60_000)
    return life.then(wire.Dispatched, cluster=cluster)


def runs_again() -> Life:
    return again(evicting(running())).then(wire.Running, cluster="c7")


def fails_then() -> Life:
    """What made room once is failing of its own doing now."""
    return failing(runs_again())


def given_up() -> Life:
    return evicting(running()).then(wire.Removed, cluster="c1", attempt=1).then(wire.Cancelled)


SHARE = f"attempt 1 in c1 was ended: {RECLAIMED.text}; it keeps its place, and no attempt was spent"
HIGHER = Reason(Code.PREEMPTED, "its room is for a job with priority 9 (claim-1); this one has 1")


@pytest.mark.parametrize(
    ("life", "want"),
    [
        pytest.param(evicting(running()), ("+Reclaimed", SHARE), id="made room for a guaranteed share"),
        pytest.param(evicting(running(), HIGHER), ("+Preempted", HIGHER.text), id="made room for a higher priority"),
        pytest.param(again(evicting(running())), ("+Reclaimed", SHARE), id="the next attempt does not run yet"),
        pytest.param(runs_again(), ("-Running", "evicted 1 time before"), id="the next attempt runs"),
        pytest.param(fails_then(), ("-Queued", "evicted 1 time before"), id="what ran since then has failed"),
        pytest.param(given_up(), ("-Cancelled", "evicted 1 time before"), id="cancelled before its next attempt"),
        pytest.param(evicting(runs_again()), ("+Reclaimed", "evicted 2 times by now"), id="once more"),
        pytest.param(failing(running()), None, id="never evicted: there is no such condition"),
    ],
)
def test_a_job_that_made_room_says_so_until_its_next_attempt_runs(life: Life, want: tuple[str, str] | None) -> None:
    given = [one for one in told(life).conditions if one.type == "Evicted"]
    assert [f"{'+' if one.true else '-'}{one.reason}" for one in given] == ([want[0]] if want else [])
    assert all(want and want[1] in one.message for one in given)


def test_a_job_for_which_room_is_kept_waits_for_those_who_leave() -> None:
    condition = told(nominated(no_room())).conditions[1]
    assert condition.reason == "WaitingForEvictions"
    assert condition.message.startswith("waits for 3 attempts to leave c1, until ")


def test_a_job_that_waits_says_what_each_cluster_lacks() -> None:
    binding = told(no_room())
    assert binding.body["spec"]["suspension"] == {"scheduling": True}
    assert binding.body["spec"]["clusters"] == []
    message = binding.conditions[1].message
    assert message.startswith("none of 3 clusters can take it now [WaitingForRoom]")
    assert "c2: needs 4 pods of 8 nvidia.com/gpu" in message


def test_a_job_in_a_cluster_shows_the_members_status_and_an_attempt_that_is_leaving_another() -> None:
    shown = msgspec.json.encode({"replicaStatuses": {"Worker": {"active": 4}}})
    body = told(running(), shown).body
    assert body["spec"]["clusters"] == [{"name": "c1", "replicas": 4}]
    assert body["status"]["aggregatedStatus"] == [
        {"clusterName": "c1", "applied": True, "health": "Healthy", "status": msgspec.json.decode(shown)}
    ]
    (leaving,) = told(failing(running())).body["status"]["aggregatedStatus"]
    assert (leaving["clusterName"], leaving["health"]) == ("c1", "Unhealthy")
    assert "exit code 137" in leaving["appliedMessage"]


def test_one_pod_set_is_told_as_replicas_and_several_as_components_in_exact_quantities() -> None:
    one = told(running()).body["spec"]
    assert (one["replicas"], one["replicaRequirements"]) == (4, {"resourceRequest": {"nvidia.com/gpu": "8"}})
    job = running().now
    assert job.spec is not None
    sets = (PodSet("Master", 1, {"cpu": 1_500}), PodSet("Worker", 2, {"memory": 2**30 + 1}, {"zone": "a"}))
    work = msgspec.structs.replace(job.spec.workload, pod_sets=sets, priority_class="high")
    job = msgspec.structs.replace(job, spec=msgspec.structs.replace(job.spec, workload=work))
    requests = [part["replicaRequirements"] for part in binding_of(ABOUT, job).body["spec"]["components"]]
    assert requests == [
        {"resourceRequest": {"cpu": "1500m"}, "priorityClassName": "high"},
        {
            "resourceRequest": {"memory": "1073741825"},
            "priorityClassName": "high",
            "nodeClaim": {"nodeSelector": {"zone": "a"}},
        },
    ]


def test_a_condition_keeps_its_time_until_its_status_changes() -> None:
    first, stamps = manifest_of(told(queued()), {}, T0)
    second, later = manifest_of(told(no_room()), stamps_of(first), T0 + 60_000)
    assert later == stamps == stamps_of(second)
    third, _ = manifest_of(told(running()), later, T0 + 120_000)
    assert {one["lastTransitionTime"] for one in third["status"]["conditions"]} == {"2023-11-14T22:15:20Z"}


def test_what_says_the_same_has_the_same_digest_and_what_does_not_has_another() -> None:
    assert told(running()).digest == told(running()).digest
    assert len({told(life).digest for life in (queued(), no_room(), running(), place(dequeued(), "c2"))}) == 4
    assert told(running(), b'{"active": 1}').digest != told(running()).digest


def test_a_binding_is_named_as_karmada_names_it_and_owned_by_its_job() -> None:
    manifest, _ = manifest_of(unclaimed(ABOUT, "llm-1", Reason(Code.NO_POLICY, "no policy selects it")), {}, T0)
    assert name_of(ABOUT) == manifest["metadata"]["name"] == "llm-pytorchjob"
    (owner,) = manifest["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["apiVersion"], owner["uid"]) == ("PyTorchJob", "kubeflow.org/v1", "u-1")


def test_a_binding_that_is_there_is_replaced_part_by_part_and_its_managed_fields_are_emptied() -> None:
    manifest, _ = manifest_of(told(running()), {}, T0)
    steps = {step["path"]: step["value"] for step in replacing(manifest)}
    assert steps["/spec"] == manifest["spec"]
    assert steps["/metadata/managedFields"] == [{}]
