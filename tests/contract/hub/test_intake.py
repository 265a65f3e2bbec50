"""The hub's objects on their way in and the Events on their way back, against an API server over real HTTP."""

from collections.abc import AsyncIterator

import httpx
import msgspec
import pytest_asyncio

from fairway.admission.understand import understand
from fairway.gateway.http.routes import HttpSettings, create_app
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.capacity import Slot
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason
from tests.support.http_door import ADMIN, bearer, callers
from tests.support.memory.clock import CountingIds
from tests.support.simulated_hub import JOB, PP, TREE, House, admitted, opened

NOON = "2026-11-21T12:00:00Z"


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        yield one


async def test_a_job_goes_in_once_with_its_policy_and_without_the_hubs_traces(house: House) -> None:
    await house.policy()
    uid = await house.job()
    (said,) = await house.said(wire.Submitted)
    manifest = msgspec.json.decode(said.manifest)
    assert (said.client, said.source, said.hub) == (f"hub:{uid}", "hub", wire.HubRef(uid, "jobs"))
    assert said.job == admitted(uid).job
    assert [msgspec.json.decode(one)["metadata"]["name"] for one in said.policies] == ["train"]
    assert not {"uid", "managedFields", "resourceVersion"} & set(manifest["metadata"])
    await house.hub.patch(JOB, "team-a", "train", {"metadata": {"labels": {"seen": "1"}}})
    await house.job("second")
    await house.policy("second")
    await house.said(wire.Submitted, 2)
    assert house.count(wire.Submitted) == 2


async def test_a_job_without_a_policy_waits_and_is_told_so_until_one_comes(house: House) -> None:
    uid = await house.job()
    event = await house.events(lambda one: one["involvedObject"]["uid"] == uid)
    assert (event["reason"], event["type"]) == ("NoPolicy", "Warning")
    assert "apply a PropagationPolicy in team-a" in event["message"]
    assert house.count(wire.Submitted) == 0
    await house.policy()
    (said,) = await house.said(wire.Submitted)
    assert said.client == f"hub:{uid}"


CLASS = "PriorityClass.scheduling.k8s.io/v1"


async def test_a_job_that_names_a_class_which_is_not_there_waits_and_is_told_so_until_it_comes(house: House) -> None:
    await house.policy()
    pod = {"restartPolicy": "Never", "priorityClassName": "gold", "containers": [{"name": "main", "image": "x"}]}
    uid = await house.apply(JOB, "train", template={"spec": pod})
    event = await house.events(lambda one: one["involvedObject"]["uid"] == uid)
    assert (event["reason"], event["type"]) == ("UnknownPriorityClass", "Warning")
    assert "the hub has no PriorityClass gold" in event["message"]
    assert house.count(wire.Submitted) == 0
    await house.hub.create(CLASS, {"metadata": {"name": "silver"}, "value": 1})
    await house.hub.create(CLASS, {"metadata": {"name": "gold"}, "value": 7})
    (said,) = await house.said(wire.Submitted)
    assert said.client == f"hub:{uid}"


async def test_a_waiting_job_that_is_deleted_was_never_there(house: House) -> None:
    uid = await house.job("gone")
    await house.events(lambda one: one["involvedObject"]["uid"] == uid)
    await house.delete(JOB, "gone")
    await house.policy("gone")
    await house.policy("train")
    await house.job("train")
    (said,) = await house.said(wire.Submitted)
    assert msgspec.json.decode(said.manifest)["metadata"]["name"] == "train"
    assert house.count(wire.Cancel) == 0


async def test_deleting_the_object_cancels_its_job(house: House) -> None:
    await house.policy()
    uid = await house.job()
    (submitted,) = await house.said(wire.Submitted)
    await house.delete(JOB, "train")
    (said,) = await house.said(wire.Cancel)
    assert (said.job, said.tenant) == (admitted(uid).job, "team-a")
    assert submitted.who == said.who == Actor("hub:team-a", "hub", uid), "a watch does not tell the user"


async def test_a_restart_submits_nothing_twice_and_cancels_what_was_deleted_meanwhile(house: House) -> None:
    for name in ("stays", "goes"):
        await house.policy(name)
    uids = {name: await house.job(name) for name in ("stays", "goes")}
    await house.said(wire.Submitted, 2)
    for name, uid in uids.items():
        await house.tell(None, admitted(uid, name))
    await house.stop()
    house.bus._ids["JOBS"].clear()  # the stream's own memory of ids is short
    await house.delete(JOB, "goes")
    house.start()
    (said,) = await house.said(wire.Cancel)
    assert said.job == admitted(uids["goes"], "goes").job
    assert (house.count(wire.Submitted), house.count(wire.Cancel)) == (2, 1)


async def test_a_deletion_that_came_before_the_job_was_known_is_not_forgotten(house: House) -> None:
    await house.stop()
    await house.tell(None, admitted("u-first", "first"))
    house.start()
    await house.said(wire.Cancel)  # now the gateway has looked for what it missed while it was away
    job = await house.tell(None, admitted("u-gone", "gone"))
    await house.tell(job, wire.Queue(job=job.id, tenant="team-a", attempt=1, rev=2, queue="gold"))
    assert [one.job for one in await house.said(wire.Cancel, 2)][1] == job.id


async def test_a_job_that_was_over_before_fairway_saw_it_is_not_run(house: House) -> None:
    await house.stop()
    for name in ("over", "train"):
        await house.policy(name)
        await house.job(name)
    ended = [{"type": kind, "status": "True"} for kind in ("SuccessCriteriaMet", "Complete")]
    done = {"conditions": ended, "startTime": NOON, "completionTime": NOON, "succeeded": 1}
    await house.hub.patch(JOB, "team-a", "over", {"status": done}, "status")
    house.start()
    (said,) = await house.said(wire.Submitted)
    assert msgspec.json.decode(said.manifest)["metadata"]["name"] == "train"


async def test_settings_are_in_force_until_they_are_deleted(house: House) -> None:
    await house.policy("p")
    first = (await house.said(fleet.Configured))[0]
    assert (first.kind, first.namespace, first.name) == ("PropagationPolicy", "team-a", "p")
    assert msgspec.json.decode(first.manifest)["metadata"]["resourceVersion"]
    await house.delete(PP, "p")
    assert [bytes(one.manifest) == b"null" for one in await house.said(fleet.Configured, 2)] == [False, True]


async def test_a_restart_withdraws_settings_that_were_deleted_and_repeats_none(house: House) -> None:
    await house.policy("p")
    await house.policy("q")
    await house.said(fleet.Configured, 2)
    await house.stop()
    await house.delete(PP, "q")
    house.bus._ids["CONFIG"].clear()
    house.start()
    last = (await house.said(fleet.Configured, 3))[-1]
    assert (last.name, bytes(last.manifest)) == ("q", b"null")


async def test_a_bad_tree_is_refused_on_the_object_and_the_last_good_one_stays(house: House) -> None:
    root = {"name": "root", "min": {"cpu": "4"}, "max": {"cpu": "4"}}
    await house.apply(TREE, "t", root=root)
    await house.said(fleet.Configured)
    child = {"name": "a", "max": {"cpu": "9"}}
    await house.hub.patch(TREE, "kube-system", "t", {"spec": {"root": {**root, "children": [child]}}})
    (refused,) = await house.said(fleet.ConfigRefused)
    event = await house.events(lambda one: one["involvedObject"]["kind"] == "ElasticQuotaTree")
    assert "root/a" in refused.reasons[0].text
    assert event["reason"] == "Refused"
    assert "root/a" in event["message"]
    assert "last good one stays" in event["message"]
    assert len(await house.said(fleet.Configured)) == 1
    await house.hub.patch(TREE, "kube-system", "t", {"spec": {"root": {**root, "children": []}}})
    assert (await house.said(fleet.ConfigRefused, 2))[-1].reasons == ()


async def test_the_object_is_told_what_becomes_of_its_job_one_reason_once_and_nothing_in_passing(house: House) -> None:
    await house.policy()
    uid = await house.job()
    await house.said(wire.Submitted)
    job = await house.tell(None, admitted(uid))
    head = {"job": job.id, "tenant": "team-a", "attempt": 1}
    job = await house.tell(job, wire.Queue(**head, rev=2, queue="gold"))
    full = Reason(Code.WAITING_FOR_ROOM, "none of 3 clusters can take it now")
    for rev in (3, 5, 7):
        job = await house.tell(job, wire.Dequeued(**head, rev=rev))
        job = await house.tell(job, wire.Queue(**head, rev=rev + 1, queue="gold", why=full))
        await house.events(lambda one: one["reason"] == "WaitingForRoom" and one["involvedObject"]["uid"] == uid)
    job = await house.tell(job, wire.Dequeued(**head, rev=9))
    slots = (Slot("pod", "n1", 1),)
    job = await house.tell(job, wire.Placed(**head, rev=10, cluster="c1", slots=slots))
    job = await house.tell(job, wire.Reserved(**head, rev=11, cluster="c1", slots=slots, expires_at=0))
    await house.tell(job, wire.Dispatched(**head, rev=12, cluster="c1"))
    await house.events(lambda one: one["reason"] == "Dispatched" and one["involvedObject"]["uid"] == uid)
    told: list[str] = []
    async for change in house.hub.watch("Event.v1"):
        if change.synced:
            break
        told.append(change.manifest["reason"])
    assert sorted(told) == ["Dispatched", "WaitingForRoom"]


async def test_a_setting_that_came_over_http_is_kept_on_the_hub_and_outlives_a_restart(house: House) -> None:
    catalog = Catalog()
    reading = lambda said: understand(said, "dry-run", 0, catalog)  # noqa: E731 - it has no other name here
    settings = HttpSettings(CountingIds(), reading, catalog, callers(house.world.clock), hub=house.hub)
    app = create_app(house.world, settings)
    queue = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "Queue", "spec": {}}
    queue["metadata"] = {"name": "gold", "namespace": "kube-queue"}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", headers=bearer(ADMIN)
    ) as http:
        for policy in ("Priority", "Block"):
            assert (await http.post("/v1/settings", json={**queue, "spec": {"queuePolicy": policy}})).status_code == 200
    kept = await house.hub.get("Queue.scheduling.x-k8s.io/v1alpha1", "kube-queue", "gold")
    assert kept is not None
    assert kept["spec"] == {"queuePolicy": "Block"}
    await house.stop()
    house.start()
    await house.policy("later")
    said = [one for one in await house.until("later") if one.kind == "Queue"]
    assert {bytes(one.manifest) == b"null" for one in said} == {False}
