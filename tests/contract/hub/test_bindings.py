"""What the hub is told of its jobs besides their status: ResourceBindings over real HTTP, each written when it says
something new, and gone with its object."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest_asyncio

from fairway.domain.job import Job
from fairway.hub.telling.bindings import KIND
from fairway.wire import jobs as wire
from fairway.wire.capacity import Slot
from fairway.wire.reasons import Code, Reason
from tests.support.simulated_hub import JOB, PP, House, admitted, opened

Json = dict[str, Any]
TORCH = "PyTorchJob.kubeflow.org/v1"
HEAD: Json = {"tenant": "team-a", "attempt": 1}
SLOTS = (Slot("pod", "n1", 1),)


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        yield one


async def bound(house: House, want: Callable[[Json], bool] = lambda one: True, name: str = "train-job") -> Json:
    """The binding of that name as soon as it is as wanted."""
    return await house.seen(KIND, lambda one: one["metadata"]["name"] == name and want(one))


def condition(binding: Json, name: str) -> Json:
    found: Json = next(one for one in binding["status"]["conditions"] if one["type"] == name)
    return found


def reason(code: str) -> Callable[[Json], bool]:
    return lambda one: condition(one, "Scheduled")["reason"] == code


async def dispatch(house: House, uid: str) -> Job:
    job = await house.tell(None, admitted(uid))
    head = {**HEAD, "job": job.id}
    for message in (
        wire.Queue(**head, rev=2, queue="gold"),
        wire.Dequeued(**head, rev=3),
        wire.Placed(**head, rev=4, cluster="c1", slots=SLOTS),
        wire.Reserved(**head, rev=5, cluster="c1", slots=SLOTS, expires_at=0),
        wire.Dispatched(**head, rev=6, cluster="c1"),
    ):
        job = await house.tell(job, message)
    return job


async def test_a_job_that_flies_through_is_written_once_where_it_is(house: House) -> None:
    await house.policy()
    uid = await house.job()
    await house.said(wire.Submitted)
    job = await dispatch(house, uid)
    binding = await bound(house)
    assert binding["spec"]["clusters"] == [{"name": "c1", "replicas": 1}]
    assert binding["spec"]["resource"] == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "namespace": "team-a",
        "name": "train",
        "uid": uid,
    }
    assert binding["metadata"]["labels"] == {"fairway.io/job": job.id}
    assert [one["status"] for one in binding["status"]["conditions"]] == ["False", "True", "True"]
    assert binding["status"]["aggregatedStatus"] == [{"clusterName": "c1", "applied": True, "health": "Unknown"}]
    assert house.writes(KIND) == {"create": 1, "patch": 0}


async def test_a_job_that_waits_says_what_for_and_its_conditions_keep_their_times(house: House) -> None:
    await house.policy()
    uid = await house.job()
    await house.said(wire.Submitted)
    job = await house.tell(None, admitted(uid))
    head = {**HEAD, "job": job.id}
    full = Reason(Code.WAITING_FOR_ROOM, "none of 3 clusters can take it now")
    job = await house.tell(job, wire.Queue(**head, rev=2, queue="gold", why=full))
    first = await bound(house, reason("WaitingForRoom"))
    assert condition(first, "Queuing")["status"] == "True"
    assert "none of 3 clusters" in condition(first, "Scheduled")["message"]
    job = await house.tell(job, wire.Blocked(**head, rev=3, why=Reason(Code.BEHIND_HEAD, "big-1 stands before it")))
    second = await bound(house, reason("BehindHead"))
    assert condition(second, "Queuing")["lastTransitionTime"] == condition(first, "Queuing")["lastTransitionTime"]


async def test_a_job_without_a_policy_has_a_binding_that_says_so(house: House) -> None:
    await house.job()
    waiting = await bound(house)
    assert condition(waiting, "Scheduled") == {
        **condition(waiting, "Queuing"),
        "type": "Scheduled",
        "status": "False",
        "reason": "NoPolicy",
    }
    assert "apply a PropagationPolicy in team-a" in condition(waiting, "Queuing")["message"]


async def test_the_members_status_stands_in_the_binding_of_a_running_and_of_an_ended_job(house: House) -> None:
    await house.policy()
    uid = await house.job()
    await house.said(wire.Submitted)
    job = await dispatch(house, uid)
    await house.hub.patch(JOB, "team-a", "train", {"status": {"active": 1}}, "status")
    head = {**HEAD, "job": job.id, "cluster": "c1"}
    job = await house.tell(job, wire.Running(**head, rev=7))
    running = await bound(house, lambda one: bool(one["status"]["aggregatedStatus"][0].get("status")))
    assert running["status"]["aggregatedStatus"][0]["status"] == {"active": 1}
    assert running["status"]["aggregatedStatus"][0]["health"] == "Healthy"
    await house.tell(job, wire.Succeeded(**head, rev=8))
    await house.events(lambda one: one["reason"] == "Succeeded")
    # Its last status comes after everything else was said.
    await house.hub.patch(JOB, "team-a", "train", {"status": {"active": 0, "succeeded": 1}}, "status")
    await bound(house, lambda one: one["status"]["aggregatedStatus"][0]["status"].get("succeeded") == 1)


async def test_the_binding_goes_with_its_object(house: House) -> None:
    await house.policy()
    uid = await house.job()
    await house.said(wire.Submitted)
    await dispatch(house, uid)
    await bound(house)
    await house.delete(JOB, "train")
    await house.vanished(KIND, "train-job")
    # None, where the hub collects what belonged to the job.
    assert house.writes(KIND).get("drop", 0) <= 1


async def test_a_restart_rewrites_nothing_and_removes_what_belongs_to_no_object_any_more(house: House) -> None:
    await house.policy()
    uid = await house.job()
    await house.said(wire.Submitted)
    job = await house.tell(None, admitted(uid))
    full = Reason(Code.WAITING_FOR_ROOM, "none of 3 clusters can take it now")
    await house.tell(job, wire.Queue(**HEAD, job=job.id, rev=2, queue="gold", why=full))
    binding = await bound(house)
    await house.stop()
    before = house.writes(KIND)
    owner = {**binding["metadata"]["ownerReferences"][0], "name": "gone", "uid": "u-gone"}
    meta = {"name": "gone-job", "namespace": "team-a", "labels": {"fairway.io/job": "gone-1"}}
    await house.hub.create(KIND, {**binding, "metadata": {**meta, "ownerReferences": [owner]}})
    house.start()
    await house.vanished(KIND, "gone-job")
    await house.job("late")  # when that one is told of, everything before it was looked at
    await bound(house, name="late-job")
    assert house.writes(KIND) == {**before, "drop": 1, "create": 2}


async def test_a_refused_object_that_is_edited_is_submitted_anew(house: House) -> None:
    selector = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "train"}
    await house.apply(PP, "train", resourceSelectors=[selector])
    pod = {"spec": {"containers": [{"name": "pytorch", "image": "x"}]}}
    uid = await house.apply(TORCH, "train", pytorchReplicaSpecs={"Master": {"replicas": 1, "template": pod}})
    (first,) = await house.said(wire.Submitted)
    manifest = wire.ManifestRef(1, house.digest(first), 1)
    reasons = (Reason(Code.UNKNOWN_CLUSTER, "the fleet has no cluster c9", "spec.placement", "name others"),)
    hub = wire.HubRef(uid, "pytorchjobs")
    what = {"kind": "PyTorchJob", "name": "train", "manifest": manifest}
    await house.tell(None, wire.Rejected(**HEAD, job=first.job, rev=1, reasons=reasons, hub=hub, **what))
    refused = await bound(house, reason("UnknownCluster"), "train-pytorchjob")
    assert condition(refused, "Queuing")["status"] == "False"
    over = {"conditions": [{"type": "Failed", "status": "True"}]}  # the watcher says so of what was refused
    await house.hub.patch(TORCH, "team-a", "train", {"status": over}, "status")
    await house.hub.patch(TORCH, "team-a", "train", {"metadata": {"annotations": {"team": "blue"}}})
    _, second = await house.said(wire.Submitted, 2)
    assert (second.client, second.hub) == (first.client, first.hub)
    assert second.manifest != first.manifest
    found = await house.hub.get(TORCH, "team-a", "train")
    assert found is not None
    assert not found.get("status")
