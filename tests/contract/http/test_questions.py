"""Asking over HTTP: jobs in pages, why, story, queues, quota, clusters; and what the door itself refuses."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from fairway.domain.attempts.eviction_freeze import Freeze
from fairway.domain.names import job_id
from fairway.domain.queue_policy import QueuePolicy, QueueSpec
from fairway.domain.quota.tree import QuotaNode
from fairway.wire import asks
from fairway.wire import jobs as wire
from fairway.wire.capacity import ClusterInfo, Node
from fairway.wire.envelope import Actor
from tests.support.http_door import GPU, NOW, House, job, opened, row


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        yield one


async def test_jobs_come_in_pages_that_together_are_all_of_them(house: House) -> None:
    await house.has(*(row(f"j-{n:02}") for n in range(7)))
    pages = []
    more = {"continue": ""}
    while more is not None:
        got = (await house.http.get("/v1/jobs", params={"limit": "3", **more})).json()
        pages.append([one["id"] for one in got["items"]])
        more = {"continue": got["continue"]} if "continue" in got else None
    assert pages == [["j-00", "j-01", "j-02"], ["j-03", "j-04", "j-05"], ["j-06"]]


@pytest.mark.parametrize(
    ("asked", "want"),
    [
        pytest.param({}, ["a", "b", "c"], id="all, ended ones too"),
        pytest.param({"state": "live"}, ["a", "b"], id="those that have not ended"),
        pytest.param({"state": "succeeded,running"}, ["b", "c"], id="two states"),
        pytest.param({"namespace": "team-b"}, ["b"], id="one namespace"),
    ],
)
async def test_jobs_can_be_chosen(house: House, asked: dict[str, str], want: list[str]) -> None:
    await house.has(row("a"), row("b", "running", "team-b"), row("c", "succeeded"))
    assert [one["id"] for one in (await house.http.get("/v1/jobs", params=asked)).json()["items"]] == want


@pytest.mark.parametrize("asked", [{"limit": "0"}, {"limit": "501"}, {"limit": "x"}, {"state": "asleep"}])
async def test_a_question_that_makes_no_sense_is_told_so(house: House, asked: dict[str, str]) -> None:
    got = await house.http.get("/v1/jobs", params=asked)
    assert (got.status_code, bool(got.json()["detail"])) == (400, True)


async def test_a_job_that_nobody_knows_is_not_found(house: House) -> None:
    for path in ("/v1/jobs/x", "/v1/jobs/x/why", "/v1/jobs/x/story"):
        got = await house.http.get(path)
        assert (got.status_code, got.json()["title"]) == (404, "there is no job x")


async def test_why_asks_the_queue_where_the_job_stands(house: House) -> None:
    async def place(data: bytes) -> bytes:
        assert msgspec.json.decode(data) == {"job": "a"}
        return msgspec.json.encode(asks.QueuePlace("gold", "Block", 2, ("b",), "BehindHead", "b is first"))

    await house.has(row("a"))
    await house.bus.answer(asks.QUEUE, place)
    got = (await house.http.get("/v1/jobs/a/why")).json()
    assert (got["reason"], got["because"], got["queue"]["position"]) == ("BehindHead", "B is first.", 2)


async def test_why_does_without_a_queue_that_is_silent(house: House) -> None:
    await house.has(row("a"))
    got = (await house.http.get("/v1/jobs/a/why")).json()
    assert (got["reason"], got["queue"]) == ("Queued", None)


async def test_the_story_is_that_of_the_record(house: House) -> None:
    await house.http.post("/v1/jobs", json={"manifest": job()}, headers={"Idempotency-Key": "k"})
    one = row(job_id("team-a", "k", "train"), rev=1, entered=1, state="admitted")
    assert one.spec is not None
    await house.say("adm", wire.Admitted(job=one.id, tenant="team-a", attempt=1, rev=1, at=NOW, spec=one.spec))
    await house.has(one)
    got = (await house.http.get(f"/v1/jobs/{one.id}/story")).json()
    assert [line["what"] for line in got["lines"]] == ["submitted", "admitted"]


async def test_a_job_is_shown_with_who_submitted_it_and_through_which_door(house: House) -> None:
    known = row("a")
    ada = Actor("ada", "http", "r-1")
    assert known.spec is not None
    spec = msgspec.structs.replace(known.spec, who=ada)
    await house.has(msgspec.structs.replace(known, spec=spec), row("of-before"))
    rows = (await house.http.get("/v1/jobs")).json()["items"]
    assert [one["who"] for one in rows] == ["ada (over HTTP)", ""]
    shown = (await house.http.get("/v1/jobs/a")).json()["spec"]["who"]
    assert shown == {"user": "ada", "via": "http", "request": "r-1"}


async def test_cancelling_says_the_command_and_the_end_stays_the_end(house: House) -> None:
    await house.has(row("a", "running"), row("b", "succeeded"))
    first = await house.http.delete("/v1/jobs/a")
    second = await house.http.delete("/v1/jobs/b")
    assert (first.status_code, second.status_code, second.json()["state"]) == (202, 200, "succeeded")
    # Of the ended one, what is left in a cluster is to be removed.
    said = await house.said()
    assert [(one.job, type(one)) for one in said] == [("a", wire.Cancel), ("b", wire.Cancel)]
    assert {(one.who.user, one.who.via) for one in said} == {("admin", "http")}
    assert len({one.who.request for one in said}) == 2, "each request has an id of its own"


async def test_queues_quota_and_clusters_are_counted_from_the_rows(house: House) -> None:
    await house.has(row("a"), row("b", "running"))
    house.catalog.queues = {"silver": QueueSpec("silver", QueuePolicy.BLOCK)}
    house.catalog.tree = QuotaNode("root", "root", max={GPU: 9}, children=(QuotaNode("a", "root/a", {GPU: 9}),))
    await house.store.load_counters("quota", {"root|nvidia.com/gpu": 3, "gone|nvidia.com/gpu": 1})
    info = ClusterInfo("c1", observed_at=NOW)
    node = Node("n", {GPU: 8}, holds={"b/1": {GPU: 3}})
    await house.store.load("clusters", {"c1": (1, msgspec.json.encode(info))})
    await house.store.load("nodes/c1", {"n": (1, msgspec.json.encode(node))})
    house.catalog.members.clusters = {"c1": {}, "c2": {}}
    queues = (await house.http.get("/v1/queues")).json()["items"]
    quota = (await house.http.get("/v1/quota")).json()["items"]
    clusters = (await house.http.get("/v1/clusters")).json()["items"]
    assert [(one["name"], one["waiting"], one["running"]) for one in queues] == [
        ("gold", 1, 1),
        ("silver", 0, 0),
    ]
    assert [(one["path"], one["used"]) for one in quota] == [
        ("root", {GPU: 3}),
        ("root/a", {}),
        ("gone", {GPU: 1}),
    ]
    assert [one["not_backed"] for one in quota] == [{GPU: {"min": 9, "fleet": 8}}, {}, {}]
    assert [(one["name"], one["stale"], one["free"]) for one in clusters] == [
        ("c1", False, {GPU: 5}),
        ("c2", True, {}),
    ]


async def test_it_is_told_that_nothing_is_given_up(house: House) -> None:
    await house.has(row("b", "running"))
    await house.store.load("clusters", {"c1": (1, msgspec.json.encode(ClusterInfo("c1", observed_at=NOW)))})
    await house.store.load("freeze", {"evictions": (1, msgspec.json.encode(Freeze(NOW, 3, 4)))})
    said = (await house.http.get("/v1/clusters")).json()
    assert said["frozen"].startswith("3 of 4 clusters are silent at once")
    assert [one["frozen"] for one in said["items"]] == [True]
    assert said["frozen"] in (await house.http.get("/v1/jobs/b/why")).json()["because"]


async def test_questions_wait_for_a_working_set_that_is_being_rebuilt(house: House) -> None:
    house.store.wipe()
    got = await house.http.get("/v1/jobs")
    assert (got.status_code, got.json()["title"]) == (503, "the working set is being rebuilt from the record")
    await house.store.finish_rebuild("2")
    house.store._epoch = "1"
    assert (await house.http.get("/v1/jobs")).status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1:80", 200), ("localhost", 200), ("[::1]:8080", 200), ("evil.example", 421), ("127.0.0.1.evil", 421)],
)
async def test_a_page_elsewhere_cannot_reach_it_under_its_own_name(house: House, host: str, status: int) -> None:
    assert (await house.http.get("/v1/jobs", headers={"Host": host})).status_code == status


async def test_what_is_not_served_says_so_as_a_problem(house: House) -> None:
    nothing = await house.http.get("/v2")
    wrong = await house.http.put("/v1/jobs")
    assert (nothing.status_code, wrong.status_code) == (404, 405)
    assert nothing.headers["content-type"] == "application/problem+json"


async def test_the_openapi_document_names_every_route_and_resolves_every_reference(house: House) -> None:
    document = (await house.http.get("/openapi.json")).json()
    served = {(method.lower(), route.path) for route in house.app.routes for method in route.methods}  # type: ignore[attr-defined]  # all are Routes
    told = {(method, path) for path, methods in document["paths"].items() for method in methods}
    assert {one for one in served if one[0] != "head"} - told == {("get", "/openapi.json")}
    refs = {ref.rpartition("/")[2] for ref in references(document)}
    assert refs
    assert refs - set(document["components"]["schemas"]) == set()


def references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if "$ref" in value else []
        return own + [ref for one in value.values() for ref in references(one)]
    return [ref for one in value for ref in references(one)] if isinstance(value, list) else []
