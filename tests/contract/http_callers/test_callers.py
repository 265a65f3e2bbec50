"""Who may do what over HTTP: every role at every route, and what those learn who may not."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import msgspec
import pytest
import pytest_asyncio

from fairway.domain.job import Job
from fairway.gateway.callers.caller import Right
from fairway.wire.spec import ManifestRef
from tests.support.http_door import ADMIN, NOBODY, POLICY, TENANT_A, TENANT_B, VIEWER, House, job, opened, row

ROLES = {"admin": ADMIN, "tenant A": TENANT_A, "tenant B": TENANT_B, "viewer of A": VIEWER, "nobody": NOBODY}


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        await one.has(*rows())
        yield one


# As job_id makes them: what a sentence names.
A = "mine-aaaaaaaaaa"
B = "theirs-bbbbbbbbbb"
QUEUE = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "Queue", "spec": {"queuePolicy": "Block"}}
QUEUE["metadata"] = {"name": "gold", "namespace": "kube-queue"}
CLUSTER_POLICY = {**POLICY, "kind": "ClusterPropagationPolicy", "metadata": {"name": "everybody"}}

# What is asked of team-a, and what each role is answered.
ASKED: dict[str, tuple[dict[str, Any], tuple[int, int, int, int, int]]] = {
    # the request                                                         admin  A    B    viewer nobody
    "submit": ({"json": {"manifest": job()}}, (202, 202, 403, 403, 403)),
    "dry run": ({"json": {"manifest": job()}, "params": {"dryRun": "true"}}, (200, 200, 403, 403, 403)),
    "batch": ({"url": "/v1/jobs:batch", "json": {"jobs": [{"manifest": job()}]}}, (202, 202, 403, 403, 403)),
    "a policy": ({"url": "/v1/settings", "json": POLICY}, (200, 200, 403, 403, 403)),
    "a queue": ({"url": "/v1/settings", "json": QUEUE}, (200, 403, 403, 403, 403)),
    "everybody's policy": ({"url": "/v1/settings", "json": CLUSTER_POLICY}, (200, 403, 403, 403, 403)),
    "list": ({"method": "GET", "params": {"namespace": "team-a"}}, (200, 200, 403, 200, 403)),
    "one": ({"method": "GET", "url": f"/v1/jobs/{A}"}, (200, 200, 404, 200, 404)),
    "why": ({"method": "GET", "url": f"/v1/jobs/{A}/why"}, (200, 200, 404, 200, 404)),
    "story": ({"method": "GET", "url": f"/v1/jobs/{A}/story"}, (200, 200, 404, 200, 404)),
    # Whoever may is told that the record of this test has none.
    "manifest": ({"method": "GET", "url": f"/v1/jobs/{A}/manifest"}, (410, 410, 404, 410, 404)),
    "letters": ({"method": "GET", "url": "/v1/dead-letters"}, (200, 403, 403, 403, 403)),
    "letter": ({"method": "GET", "url": "/v1/dead-letters/1"}, (404, 403, 403, 403, 403)),
    "cancel": ({"method": "DELETE", "url": f"/v1/jobs/{A}"}, (202, 202, 404, 403, 404)),
    "queues": ({"method": "GET", "url": "/v1/queues"}, (200, 200, 200, 403, 403)),
    "quota": ({"method": "GET", "url": "/v1/quota"}, (200, 403, 403, 403, 403)),
    "clusters": ({"method": "GET", "url": "/v1/clusters"}, (200, 403, 403, 403, 403)),
    "document": ({"method": "GET", "url": "/openapi.json"}, (200, 200, 200, 200, 200)),
}


def rows() -> tuple[Job, Job]:
    """Of A the record has no manifest, whatever is in it."""
    mine = row(A)
    assert mine.spec is not None
    spec = msgspec.structs.replace(mine.spec, manifest=ManifestRef(1_000_000, "0" * 64, 10))
    return msgspec.structs.replace(mine, spec=spec), row(B, tenant="team-b")


def cases() -> list[Any]:
    return [
        pytest.param(role, request, status, id=f"{role}: {what} is {status}")
        for what, (request, statuses) in ASKED.items()
        for role, status in zip(ROLES, statuses, strict=True)
    ]


async def ask(client: httpx.AsyncClient, request: dict[str, Any]) -> httpx.Response:
    got = await client.request(**{"method": "POST", "url": "/v1/jobs", **request})
    if request.get("url") == "/v1/jobs:batch" and got.status_code == 200:
        return httpx.Response(got.json()["items"][0]["status"], json=got.json()["items"][0].get("problem"))
    return got


@pytest.mark.parametrize(("role", "request_", "status"), cases())
async def test_a_role_may_do_what_the_hub_lets_it(house: House, role: str, request_: Any, status: int) -> None:
    async with house.client(ROLES[role]) as client:
        got = await ask(client, request_)
    assert got.status_code == status, got.text
    if status == 403:
        assert got.json()["code"] == "Forbidden"
        assert "kubectl auth can-i" in got.json()["detail"]
    if status >= 400:
        assert [one async for one in house.bus.history("JOBS")] == []
        assert [one async for one in house.bus.history("CONFIG")] == []


@pytest.mark.parametrize("what", ASKED)
async def test_nothing_is_answered_without_a_caller(house: House, what: str) -> None:
    async with house.client() as client:
        got = await ask(client, ASKED[what][0])
    assert (got.status_code, got.json()["code"]) == (401, "Unauthenticated")
    assert got.headers["www-authenticate"].startswith("Bearer")
    assert "kubectl create token" in got.json()["detail"]
    assert [one async for one in house.bus.history("JOBS")] == []
    assert house.hub.reviews.asked == []


@pytest.mark.parametrize("path", ["/", "/v2", "/v1/jobs/x/y", "/docs", "/healthz"])
async def test_not_even_what_is_not_served_is_told_to_strangers(house: House, path: str) -> None:
    async with house.client() as client:
        assert (await client.get(path)).status_code == 401


def test_every_route_names_its_right(house: House) -> None:
    document = house.app.routes
    assert len(document) == 16
    served = {route.path: route.endpoint for route in document}  # type: ignore[attr-defined]  # all are Routes
    unguarded = [path for path, endpoint in served.items() if endpoint.__qualname__ != "guarded.<locals>.answered"]
    assert unguarded == ["/openapi.json"]


async def test_a_route_that_asks_for_no_right_answers_nothing(house: House) -> None:
    from fairway.gateway.callers.guarded_routes import guarded
    from fairway.gateway.http.openapi import Operation
    from fairway.gateway.http.problem import answer

    async def forgot(request: Any) -> Any:
        return answer("a secret")

    forgetful = Operation("GET", "/v1/forgot", Right("get", "jobs"), "Tells a secret.", {})
    house.app.router.add_route("/v1/forgot", guarded(forgetful, forgot))
    got = await house.http.get("/v1/forgot")
    assert (got.status_code, b"secret" in got.content) == (500, False)


async def test_a_foreign_job_and_one_that_is_not_there_answer_alike(house: House) -> None:
    async with house.client(TENANT_B) as client:
        for method, what in (("GET", ""), ("GET", "/why"), ("GET", "/story"), ("GET", "/manifest"), ("DELETE", "")):
            foreign = await client.request(method, f"/v1/jobs/{A}{what}")
            absent = await client.request(method, f"/v1/jobs/none-aaaaaaaaaa{what}")
            assert foreign.status_code == absent.status_code == 404
            assert foreign.text.replace(A, "") == absent.text.replace("none-aaaaaaaaaa", "")


async def test_a_namespace_that_may_not_be_read_is_not_said_to_exist(house: House) -> None:
    async with house.client(TENANT_B) as client:
        there = await client.get("/v1/jobs", params={"namespace": "team-a"})
        absent = await client.get("/v1/jobs", params={"namespace": "team-x"})
    assert (there.status_code, absent.status_code) == (403, 403)
    assert there.text.replace("team-a", "") == absent.text.replace("team-x", "")


async def test_a_list_holds_what_may_be_read_and_pages_name_nobody_elses_job(house: House) -> None:
    names = [f"j{n:02}-{'b' if n % 3 else 'a'}{'c' * 9}" for n in range(30)]
    await house.has(*(row(name, tenant="team-a" if "-a" in name else "team-b") for name in names))
    got = list[str]()
    more = {"continue": ""}
    async with house.client(TENANT_A) as client:
        while more is not None:
            page = (await client.get("/v1/jobs", params={"limit": "1", **more})).json()
            got += [one["id"] for one in page["items"]]
            more = {"continue": page["continue"]} if "continue" in page else None
            assert not more or "-b" not in more["continue"] or more["continue"].startswith("~")
    assert got == [name for name in names if "-a" in name] + [A]


async def test_where_a_page_of_others_ends_is_sealed_and_cannot_be_made_up(house: House, monkeypatch: Any) -> None:
    monkeypatch.setattr("fairway.gateway.reader.MOST_ROWS", 2)
    monkeypatch.setattr("fairway.gateway.reader._PIECE", 2)
    await house.has(*(row(f"b{n}-bbbbbbbbbb", tenant="team-b") for n in range(9)))
    async with house.client(TENANT_A) as client:
        page = (await client.get("/v1/jobs", params={"limit": "1"})).json()
        assert (page["items"], page["continue"][0], "bbbb" in page["continue"]) == ([], "~", False)
        seen = list[str]()
        after = page.get("continue")
        while after:
            page = (await client.get("/v1/jobs", params={"limit": "1", "continue": after})).json()
            seen = seen + [one["id"] for one in page["items"]]
            after = page.get("continue")
        forged = await client.get("/v1/jobs", params={"continue": "~" + "A" * 60})
    assert seen == [A]
    assert forged.status_code == 410


async def test_jobs_can_be_asked_for_by_their_ids_and_foreign_ones_are_left_out(house: House) -> None:
    async with house.client(TENANT_A) as client:
        got = await client.get("/v1/jobs", params={"id": f"{B},{A},none"})
        many = await client.get("/v1/jobs", params={"id": ",".join(str(n) for n in range(101))})
    assert [one["id"] for one in got.json()["items"]] == [A]
    assert many.status_code == 400


async def test_who_asked_stands_in_the_record(house: House) -> None:
    async with house.client(TENANT_A) as client:
        got = await client.post("/v1/jobs", json={"manifest": job()}, headers={"X-Remote-User": "root"})
        await client.delete(f"/v1/jobs/{A}")
    said = {one.verb: one.who for one in await house.said()}  # type: ignore[attr-defined]  # both have it
    assert said["submitted"].user == said["cancel"].user == "system:serviceaccount:team-a:ci"
    assert (said["submitted"].via, said["submitted"].request) == ("http", got.headers["x-request-id"])


async def test_a_repeat_of_another_tenants_client_id_tells_nothing(house: House) -> None:
    body = {"manifest": job(), "client": "ci-7"}
    assert (await house.http.post("/v1/jobs", json=body)).status_code == 202
    async with house.client(TENANT_B) as client:
        for gpus in (1, 2):
            got = await client.post("/v1/jobs", json={"manifest": job(gpus=gpus), "client": "ci-7"})
            assert (got.status_code, "job" in got.json()) == (403, False)
        own = {"manifest": job(namespace="team-b"), "client": "ci-7"}
        assert (await client.post("/v1/jobs", json=own)).status_code == 202


async def test_what_is_of_no_known_kind_is_in_the_record_only_for_those_who_may_put_it_there(house: House) -> None:
    body = {"manifest": {**job(), "kind": "Deployment", "apiVersion": "apps/v1"}}
    async with house.client(TENANT_A) as client:
        got = await client.post("/v1/jobs", json=body)
    assert (got.status_code, got.json()["code"], await house.said()) == (422, "UnknownKind", [])
    assert (await house.http.post("/v1/jobs", json=body)).status_code == 202


async def test_whoever_sees_a_job_that_was_never_understood_may_cancel_what_is_not_there(house: House) -> None:
    rejected = row("odd-aaaaaaaaaa", "rejected")
    await house.has(msgspec.structs.replace(rejected, spec=None))
    for token, status in ((VIEWER, 200), (TENANT_B, 404)):
        async with house.client(token) as client:
            assert (await client.delete("/v1/jobs/odd-aaaaaaaaaa")).status_code == status


async def test_a_user_that_a_client_names_itself_does_not_count(house: House) -> None:
    forged = {"X-Remote-User": "admin", "X-Remote-Group": "system:masters", "Impersonate-User": "admin"}
    async with house.client() as client:
        assert (await client.get("/v1/jobs", headers=forged)).status_code == 401
    async with house.client(TENANT_B) as client:
        assert (await client.get(f"/v1/jobs/{A}", headers=forged)).status_code == 404
