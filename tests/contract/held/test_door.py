"""Objects that the hub holds and has not submitted: listed, found and explained as what they are, and never by another
job of their name."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from fairway.domain.decision import Step
from fairway.domain.held_object import HeldObject, kept, released
from fairway.domain.job import Job
from fairway.domain.names import job_id
from fairway.runtime.ports import Commit
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason
from tests.support.http_door import NOBODY, NOW, TENANT_A, TENANT_B, VIEWER, House, opened, row

NO_POLICY = Reason(Code.NO_POLICY, "no policy selects it", remedy="apply a PropagationPolicy")
TAKEN = Reason(Code.DUPLICATE, "Job team-a/train is live already, as job other", "metadata.name")


def held(name: str, why: Reason = NO_POLICY, namespace: str = "team-a", **more: Any) -> HeldObject:
    one = HeldObject("Job.batch/v1", namespace, name, f"uid-{name}", NOW - 5_000, why)
    return msgspec.structs.replace(one, **{"job": job_id(namespace, f"hub:{one.uid}", name), **more})


ONE = held("train")
OTHERS = held("secret", namespace="team-b")


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        yield one


async def holds(house: House, *objects: HeldObject) -> None:
    assert all(await house.store.commit(Commit(tuple(Step(kept(one)) for one in objects))))


async def listed(house: House, token: str = "", **asked: str) -> list[str]:
    """What all pages have together."""
    client = house.client(token) if token else house.http
    names = []
    more: dict[str, str] | None = {}
    while more is not None:
        got = (await client.get("/v1/jobs", params={**asked, **more})).json()
        assert "id" in asked or len(got["items"]) <= int(asked.get("limit", 100))
        names += [one["name"] for one in got["items"]]
        more = {"continue": got["continue"]} if "continue" in got else None
    return names


async def test_it_is_listed_with_its_reason_as_what_waits(house: House) -> None:
    await holds(house, ONE)
    (got,) = (await house.http.get("/v1/jobs")).json()["items"]
    wanted = {"id": ONE.job, "namespace": "team-a", "kind": "Job", "name": "train", "state": "held", "hub": True}
    wanted |= {"reason": "NoPolicy", "text": "no policy selects it", "since": NOW - 5_000, "attempt": 0}
    assert wanted.items() <= got.items()
    assert got["who"] == "hub:team-a (on the hub)"


@pytest.mark.parametrize(
    ("asked", "want"),
    [
        pytest.param({}, ["eval", "secret", "train", "a", "b"], id="all: what is held, then jobs"),
        pytest.param({"state": "held"}, ["eval", "secret", "train"], id="only what is held"),
        pytest.param({"state": "live"}, ["eval", "secret", "train", "a"], id="what is held has not ended"),
        pytest.param({"state": "held,succeeded"}, ["eval", "secret", "train", "b"], id="what is held, and a state"),
        pytest.param({"state": "queued"}, ["a"], id="a state of jobs"),
        pytest.param({"namespace": "team-b"}, ["secret"], id="a namespace"),
        pytest.param({"kind": "PyTorchJob"}, ["eval"], id="a kind"),
        pytest.param({"namespace": "team-a", "kind": "Job", "name": "train"}, ["train"], id="one object"),
        pytest.param({"name": "b"}, ["b"], id="a job by name"),
        pytest.param(
            {"id": f"{ONE.job},{ONE.uid},a,uid-eval,nobody"}, ["eval", "train", "a"], id="by ids, and by a uid"
        ),
    ],
)
@pytest.mark.parametrize("limit", ["1", "2", "100"])
async def test_it_can_be_chosen_on_pages_of_any_size(
    house: House, asked: dict[str, str], want: list[str], limit: str
) -> None:
    await holds(house, ONE, OTHERS, held("eval", kind="PyTorchJob.kubeflow.org/v1"))
    await house.has(row("a"), row("b", "succeeded"))
    assert sorted(await listed(house, **asked, limit=limit)) == sorted(want)


async def test_pages_begin_with_what_is_held(house: House) -> None:
    await holds(house, ONE, OTHERS)
    await house.has(row("a"), row("b"))
    assert await listed(house, limit="1") == ["secret", "train", "a", "b"]


async def test_a_page_looks_at_so_many_held_objects_at_most(house: House) -> None:
    """However many of other tenants there are."""
    await holds(house, *(held(f"t-{n:05}", namespace="team-b") for n in range(6_000)), held("z"))
    async with house.client(TENANT_A) as client:
        page = (await client.get("/v1/jobs?namespace=team-a")).json()
    assert page["items"] == [] and page["continue"].startswith("~"), "it names no object of another tenant"
    assert await listed(house, TENANT_A, namespace="team-a") == ["z"]


async def test_an_object_whose_job_is_there_is_listed_once(house: House) -> None:
    """The hub lets go of it in this moment."""
    await holds(house, ONE)
    await house.has(row(ONE.job))
    rows = (await house.http.get("/v1/jobs")).json()["items"]
    assert [(one["id"], one["state"]) for one in rows] == [(ONE.job, "queued")]
    assert (await house.http.get(f"/v1/jobs/{ONE.job}/why")).json()["state"] == "queued"


async def test_an_object_that_was_refused_and_changed_is_held_beside_its_rejected_job(house: House) -> None:
    """That one is found by its id, as ever, and the object by its uid."""
    await holds(house, ONE)
    await house.has(row(ONE.job, "rejected"))
    rows = (await house.http.get("/v1/jobs")).json()["items"]
    assert [(one["id"], one["state"]) for one in rows] == [(ONE.uid, "held"), (ONE.job, "rejected")]
    states = [(await house.http.get(f"/v1/jobs/{name}/why")).json()["state"] for name in (ONE.uid, ONE.job)]
    assert states == ["held", "rejected"]


@pytest.mark.parametrize("name", [ONE.job, ONE.uid])
async def test_it_is_found_and_explained_by_the_id_of_its_job_and_by_its_uid(house: House, name: str) -> None:
    await holds(house, ONE)
    one, why, story = [(await house.http.get(f"/v1/jobs/{name}{path}")).json() for path in ("", "/why", "/story")]
    assert (one["id"], one["uid"], one["state"], one["why"]["code"]) == (ONE.job, ONE.uid, "held", "NoPolicy")
    assert (why["because"], why["moves"][0]) == ("No policy selects it.", "Apply a PropagationPolicy.")
    assert [line["what"] for line in story["lines"]] == ["held"]


async def test_one_whose_job_is_not_known_yet_is_found_by_its_uid(house: House) -> None:
    await holds(house, held("train", job=""))
    (got,) = (await house.http.get("/v1/jobs")).json()["items"]
    assert got["id"] == "uid-train"
    assert (await house.http.get("/v1/jobs/uid-train/why")).json()["job"] == "uid-train"


async def test_when_it_is_released_nothing_of_it_is_there(house: House) -> None:
    await holds(house, ONE)
    assert await house.store.commit(Commit((Step(released(ONE)),))) == [True]
    assert await listed(house) == []
    assert [(await house.http.get(f"/v1/jobs/{name}")).status_code for name in (ONE.job, ONE.uid)] == [404, 404]


def other(**more: Any) -> Job:
    """Of the same name, from another door."""
    job = row("other", "running", cluster="c1", **more)
    assert job.spec is not None
    work = msgspec.structs.replace(job.spec.workload, name="train")
    spec = msgspec.structs.replace(job.spec, workload=work, who=Actor("ada", "http", "r-1"))
    return msgspec.structs.replace(job, spec=spec)


async def test_it_is_explained_beside_another_job_of_its_name_and_so_is_that_one(house: House) -> None:
    await holds(house, held("train", TAKEN, holder="other"))
    await house.has(other())
    why = (await house.http.get(f"/v1/jobs/{ONE.job}/why")).json()
    said = "Its name is taken by job other, which ada (over HTTP) submitted, and which is running in c1."
    assert (why["state"], why["because"], why["attempt"], why["clusters"]) == ("held", said, 0, [])
    story = (await house.http.get(f"/v1/jobs/{ONE.job}/story")).json()
    assert [(line["what"], line["details"]) for line in story["lines"]] == [("held", [said])]
    its = (await house.http.get("/v1/jobs/other/why")).json()
    assert (its["job"], its["state"]) == ("other", "running")
    rows = (await house.http.get("/v1/jobs?namespace=team-a&kind=Job&name=train")).json()["items"]
    assert [(one["id"], one["state"]) for one in rows] == [(ONE.job, "held"), ("other", "running")]


async def test_the_story_has_every_refusal_of_this_object_and_of_no_other(house: House) -> None:
    await holds(house, ONE)
    reasons = (Reason(Code.INVALID, f"is beside {ONE.uid}", "spec.parallelism"),)

    async def refused(job: str, uid: str, tenant: str = "team-a") -> None:
        said = wire.Rejected(job=job, tenant=tenant, rev=1, at=NOW - 9_000, reasons=reasons, hub=wire.HubRef(uid))
        await house.say(job, said)

    await refused("first", ONE.uid)
    await refused("neighbour", "uid-neighbour")
    await refused("stranger", ONE.uid, "team-b")
    lines = (await house.http.get(f"/v1/jobs/{ONE.job}/story")).json()["lines"]
    assert [line["sentence"].split()[:3] for line in lines] == [["Earlier", "job", "first"], ["Held", "on", "the"]]


async def test_an_earlier_job_of_the_object_is_told_as_such(house: House) -> None:
    await holds(house, held("train", job="train-second"))
    first = row("first", "cancelled")
    assert first.spec is not None
    mine = msgspec.structs.replace(first, spec=msgspec.structs.replace(first.spec, hub=wire.HubRef(ONE.uid)))
    await house.has(mine)
    await house.store.load("clients", {f"team-a/hub:{ONE.uid}": (1, b'["first","0"]')})
    lines = (await house.http.get("/v1/jobs/train-second/story")).json()["lines"]
    assert [line["sentence"] for line in lines][:1] == ["Earlier job first of this object ended cancelled."]


async def test_it_cannot_be_cancelled_and_no_other_job_is(house: House) -> None:
    await holds(house, held("train", TAKEN, holder="other"))
    await house.has(other())
    got = await house.http.delete(f"/v1/jobs/{ONE.job}")
    assert (got.status_code, got.json()["code"]) == (409, "Duplicate")
    assert got.json()["detail"] == (
        "delete it there: kubectl delete jobs.batch train -n team-a; "
        "job other, which has its name, is cancelled by its own id"
    )
    assert await house.said() == []


@pytest.mark.parametrize(("token", "seen"), [(TENANT_A, True), (VIEWER, True), (TENANT_B, False), (NOBODY, False)])
@pytest.mark.parametrize("name", [ONE.job, ONE.uid])
async def test_only_who_may_see_jobs_of_its_namespace_sees_it(house: House, token: str, seen: bool, name: str) -> None:
    await holds(house, ONE)
    async with house.client(token) as client:
        answers = [await client.get(f"/v1/jobs/{name}{path}") for path in ("", "/why", "/story")]
        answers.append(await client.delete(f"/v1/jobs/{name}"))
        nothing = await client.get("/v1/jobs/nothing")
        rows = (await client.get("/v1/jobs")).json()["items"]
        some = (await client.get(f"/v1/jobs?id={name}")).json()["items"]
    assert [one.status_code for one in answers] == ([200, 200, 200, 409] if seen else [404] * 4)
    assert (len(rows), len(some)) == (seen, seen)
    if not seen:
        assert {one.text.replace(name, "nothing") for one in answers} == {nothing.text}
