"""`fairway submit` of many documents: few requests, as a caller may ask so much a second only; an answer for each
document; and no job twice. Against the door itself, and against gateways of before, which take one job at a time."""

import asyncio
import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from fairway.cli import submission
from fairway.cli.batches import PATH, drafts, send
from fairway.cli.entries import Entry
from fairway.cli.manifests import Document, read_all
from fairway.client.api import Api
from fairway.domain.tenancy.submission_limits import Limits
from fairway.gateway.callers.rate_limits import HttpLimits
from tests.contract.http.test_limits import Server, serving
from tests.support.credential_door import Handler, opened
from tests.support.http_door import ADMIN, TENANT_A, bearer, job

LIMITS = HttpLimits(rate=20)
OWN = {"namespace": "team-a", "client": "c"}
ROW = {"namespace": "team-a", "attempt": 1, "submitted_at": 1, "since": 1}


class Gateway:
    """Accepts every job; each has succeeded when it is asked for the second time. `knows`: whether it takes several in
    one request. `heard` are verbs and paths."""

    def __init__(self, knows: bool) -> None:
        self.knows = knows
        self.looks = 0
        self.heard: list[str] = []
        self.sizes: list[int] = []

    def __call__(self, door: Handler) -> None:
        url = urlsplit(door.path)
        path = url.path.replace("%3A", ":")
        self.heard.append(f"{door.command} {path}")
        if door.command == "GET":
            status = 200
            said = self._looked(path, url.query)
        else:
            status, said = self._taken(path, json.loads(door.rfile.read(int(door.headers["Content-Length"]))))
        door.head(status, {})
        door.wfile.write(json.dumps(said).encode())

    def _taken(self, path: str, body: Any) -> tuple[int, Any]:
        if path == "/v1/jobs":
            return 202, {"job": body["manifest"]["metadata"]["name"], **OWN}
        if not self.knows:
            return 405, {"title": "POST is not served here"}
        names = [one["manifest"]["metadata"]["name"] for one in body["jobs"]]
        self.sizes.append(len(names))
        return 200, {"items": [{"status": 202, "accepted": {"job": name, **OWN}} for name in names]}

    def _looked(self, path: str, query: str) -> Any:
        self.looks += 1
        state = "succeeded" if self.looks > 1 else "queued"
        if path != "/v1/jobs":
            return {"id": "a", "state": "succeeded", "attempt": 1, "cluster": "north"}
        return {"items": [{"id": name, "state": state, **ROW} for name in parse_qs(query)["id"][0].split(",")]}


@pytest.fixture(params=[True, False], ids=["a gateway that takes many", "one that does not"])
def gateway(request: pytest.FixtureRequest) -> Gateway:
    return Gateway(request.param)


def told(gateway: Gateway, folder: Path, names: list[str], wait: bool = False) -> tuple[list[Any], int]:
    file = folder / "jobs.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [job(name) for name in names]}))
    with opened(gateway, None) as door:
        return submission.send(read_all([str(file)]), Api(door.url), wait, "")


def test_every_job_has_its_answer_in_its_place(gateway: Gateway, tmp_path: Path) -> None:
    names = [f"job-{number}" for number in range(230)]
    entries, _ = told(gateway, tmp_path, names)
    assert [(one.job, one.accepted) for one in entries] == [(name, True) for name in names]
    assert gateway.sizes == ([100, 100, 30] if gateway.knows else [])
    assert gateway.heard.count("POST /v1/jobs") == (0 if gateway.knows else 230)


def test_those_that_wait_are_asked_for_together(gateway: Gateway, tmp_path: Path) -> None:
    entries, code = told(gateway, tmp_path, [f"job-{number}" for number in range(20)], wait=True)
    assert code == 0 and {one.state for one in entries} == {"succeeded"}
    assert gateway.heard.count("GET /v1/jobs") <= 2


def test_one_job_is_sent_as_one_job(gateway: Gateway, tmp_path: Path) -> None:
    told(gateway, tmp_path, ["alone"])
    assert gateway.heard == ["POST /v1/jobs"]


class Client:
    """What the command has of the gateway; `asked` are its requests."""

    def __init__(self, door: Server, token: str) -> None:
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{door.port}", headers=bearer(token), trust_env=False)
        self.asked: list[int] = []

    def post(self, path: str, body: Any, **query: str) -> Any:
        assert path == PATH
        self.asked.append(len(body["jobs"]))
        # Nobody admits anything here.
        return self.http.post(path, json=body).raise_for_status().json()


async def sent(door: Server, token: str, *manifests: Any) -> tuple[list[Entry], list[int]]:
    """What is waited for passes at once."""
    client = Client(door, token)
    loop = asyncio.get_running_loop()

    def wait(seconds: float) -> None:
        asyncio.run_coroutine_threadsafe(door.house.clock.advance(seconds), loop).result(5)

    ready = drafts([(Document("f.yaml", one), []) for one in manifests])
    try:
        return await asyncio.to_thread(send, client, ready, wait), client.asked
    finally:
        client.http.close()


async def test_two_hundred_and_fifty_jobs_are_three_requests() -> None:
    async with serving(LIMITS) as door:
        entries, asked = await sent(door, ADMIN, *(job(f"j{n}") for n in range(250)))
        assert asked == [100, 100, 50]
        assert [one.name for one in entries] == [f"j{n}" for n in range(250)]
        assert all(one.accepted for one in entries)
        assert [one.job for one in await door.house.submitted()] == [one.job for one in entries]


async def test_large_jobs_are_sent_in_smaller_pieces() -> None:
    async with serving(LIMITS) as door:
        large = [job(f"j{n}", annotations={"note": "x" * 200_000}) for n in range(9)]
        entries, asked = await sent(door, ADMIN, *large)
        assert (sum(asked), max(asked) < 9, all(one.accepted for one in entries)) == (9, True, True)


async def test_each_document_has_its_own_answer() -> None:
    async with serving(LIMITS) as door:
        entries, _ = await sent(door, TENANT_A, job("a"), job("b", namespace="team-b"), job("c"))
        assert [one.accepted for one in entries] == [True, False, True]
        (why,) = entries[1].reasons
        assert (why.code, "create jobs.batch in namespace team-b" in why.text) == ("Forbidden", True)
        assert why.remedy


async def test_what_comes_faster_than_its_tenant_may_is_sent_again_until_it_is_in() -> None:
    async with serving(LIMITS) as door:
        door.house.catalog.limits = {"team-a": Limits(rate=4)}
        entries, asked = await sent(door, ADMIN, *(job(f"j{n}") for n in range(10)))
        assert all(one.accepted for one in entries)
        assert asked == [10, 6, 2]
        assert len(await door.house.submitted()) == 10
