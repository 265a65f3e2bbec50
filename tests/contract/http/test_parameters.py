"""What stands behind the `?` of a request: each route acts on what it names, and refuses all else by name."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.support.http_door import POLICY, House, job, opened, row

JOB = "train-aaaaaaaaaa"
ONE = {"manifest": job(), "policies": [POLICY]}


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        await one.has(row(JOB))
        yield one


REFUSED: list[tuple[str, str, Any, str]] = [
    ("POST", "/v1/jobs?dryRun=yes", ONE, "dryRun"),
    ("POST", "/v1/jobs?dryRun=1", ONE, "dryRun"),
    ("POST", "/v1/jobs?dryRun=True", ONE, "dryRun"),
    ("POST", "/v1/jobs?dryRun=", ONE, "dryRun"),
    ("POST", "/v1/jobs?dryRun=false&dryRun=true", ONE, "dryRun"),
    ("POST", "/v1/jobs?DryRun=true", ONE, "DryRun"),
    ("POST", "/v1/jobs?foo=bar", ONE, "foo"),
    ("POST", "/v1/jobs?wait=queued", ONE, "wait"),
    ("POST", "/v1/jobs:batch?dryRun=true", {"jobs": [ONE]}, "dryRun"),
    ("POST", "/v1/settings?dryRun=true", POLICY, "dryRun"),
    ("DELETE", f"/v1/jobs/{JOB}?dryRun=true&dryRun=All", None, "dryRun"),
    ("DELETE", f"/v1/jobs/{JOB}?gracePeriodSeconds=0", None, "gracePeriodSeconds"),
    ("GET", "/v1/jobs?foo=bar", None, "foo"),
    ("GET", "/v1/jobs?namespace=team-a&namespace=team-b", None, "namespace"),
    ("GET", f"/v1/jobs?id={JOB}&continue=a", None, "continue"),
    ("GET", f"/v1/jobs/{JOB}?watch=true", None, "watch"),
    ("GET", f"/v1/jobs/{JOB}/why?at=1", None, "at"),
    ("GET", f"/v1/jobs/{JOB}/story?limit=1", None, "limit"),
    ("GET", "/v1/events?namespace=team-a&after=3", None, "after"),
    ("GET", "/v1/queues?namespace=team-a", None, "namespace"),
    ("GET", "/v1/quota?leaf=a", None, "leaf"),
    ("GET", "/v1/clusters?name=north", None, "name"),
    ("GET", "/openapi.json?version=2", None, "version"),
]


@pytest.mark.parametrize(("method", "path", "body", "named"), REFUSED, ids=[f"{one[0]} {one[1]}" for one in REFUSED])
async def test_what_a_route_does_not_act_on_is_refused_by_name_and_nothing_is_done(
    house: House, method: str, path: str, body: Any, named: str
) -> None:
    got = await house.http.request(method, path, **({"json": body} if body else {}))
    said = got.json()
    assert (got.status_code, said["code"], said["reasons"][0]["field"]) == (400, "Invalid", named), said
    assert named in said["title"]
    assert said["detail"]
    assert (await house.said(), house.hub.objects) == ([], {})


async def test_no_id_names_no_job(house: House) -> None:
    assert (await house.http.get("/v1/jobs?id=")).json()["items"] == []


@pytest.mark.parametrize("value", ["true", "All"])
async def test_a_dry_run_says_what_would_be_and_does_nothing(house: House, value: str) -> None:
    got = await house.http.post("/v1/jobs", params={"dryRun": value}, json=ONE)
    assert (got.status_code, got.json()["kind"], await house.said()) == (200, "Job", [])


async def test_the_document_names_each_parameter_with_the_values_that_it_takes(house: House) -> None:
    paths = (await house.http.get("/openapi.json")).json()["paths"]
    posted = {one["name"]: one["schema"] for one in paths["/v1/jobs"]["post"]["parameters"]}
    assert posted["dryRun"] == {"type": "string", "enum": ["true", "All"]}
    assert posted["wait"] == {"type": "string", "enum": ["admitted"]}
    assert all("400" in one["responses"] for methods in paths.values() for one in methods.values())
