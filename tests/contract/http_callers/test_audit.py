"""What the record itself holds is shown to who may read it, and what callers did and were refused is kept."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import pytest_asyncio
import structlog

from fairway.gateway.audit.audit_trail import PERIOD_S
from fairway.gateway.audit.denials import MOST_CALLERS, MOST_OF_ONE, OTHERS, Denials
from fairway.gateway.callers.caller import AccessQuestion
from fairway.runtime.ports import Outgoing
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.envelope import Actor
from fairway.wire.fleet import Audited, DeadLetter
from fairway.wire.reasons import Code, Reason
from tests.support.http_door import ADMIN, NOBODY, NOW, ONLOOKER, POLICY, TENANT_A, TENANT_B, House, job, opened, row
from tests.support.memory.identities import MemoryIdentity, MemoryRule

A = "mine-aaaaaaaaaa"
PASSWORD = "canary-4711"
# Who looks after dead letters, and may read no manifest but those of jobs of team-b.
LETTERS = "letters-token"
WHY = Reason(Code.HANDLER_FAILED, "it failed")


def letter(tenant: str, about: str) -> bytes:
    data = msgspec.json.encode({"job": about, "tenant": tenant, "password": PASSWORD})
    return msgspec.json.encode(DeadLetter(service="quota", subject=subjects.job("queue", tenant), why=WHY, data=data))


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        rules = (
            MemoryRule(("get", "list"), ("deadletters.fairway.io",)),
            MemoryRule(("get",), ("jobs.batch",), "team-b"),
        )
        one.hub.reviews.table[LETTERS] = MemoryIdentity("pia", rules)
        await one.has(row(A), row("theirs", tenant="team-b"))
        said = wire.Submitted(job=A, tenant="team-a", manifest=msgspec.Raw(msgspec.json.encode(job(PASSWORD))))
        await one.say("s", said)
        for number, (tenant, about) in enumerate((("team-a", A), ("team-b", "theirs"), ("team-b", A), ("x", "?")), 1):
            await one.bus.publish([Outgoing(f"l{number}", subjects.dead_letter("quota"), letter(tenant, about))])
        yield one


async def audit(house: House) -> list[tuple[Any, ...]]:
    """Who, what they do, to what, where, which, whether they may, how often."""
    found = [(one.subject, msgspec.json.decode(one.data, type=Audited)) async for one in house.bus.history("AUDIT")]
    assert all(subject == subjects.audited("gateway", one.who.user) for subject, one in found)
    assert all(one.who.via == "http" and one.who.request for _, one in found)
    return [(one.who.user, one.does, one.resource, one.namespace, one.name, one.allowed, one.times) for _, one in found]


async def test_a_manifest_is_shown_to_who_may_read_the_job_on_the_hub_and_that_is_kept(house: House) -> None:
    async with house.client(TENANT_A) as client:
        got = await client.get(f"/v1/jobs/{A}/manifest")
    assert got.json() == {"job": A, "sha256": "0" * 64, "manifest": job(PASSWORD)}
    assert await audit(house) == [
        ("system:serviceaccount:team-a:ci", "get", "jobs.batch", "team-a", A, True, 1),
    ]


async def test_what_is_shown_of_a_job_otherwise_has_nothing_of_the_manifest(house: House) -> None:
    for what in ("", "/why", "/story"):
        assert PASSWORD not in (await house.http.get(f"/v1/jobs/{A}{what}")).text
    assert await audit(house) == []


async def test_nobody_is_shown_a_manifest_when_it_cannot_be_kept_that_they_saw_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(messages: Any, tries: int = 4) -> None:
        raise TimeoutError

    monkeypatch.setattr(house.bus, "publish", fails)
    for path in (f"/v1/jobs/{A}/manifest", "/v1/dead-letters/1"):
        got = await house.http.get(path)
        assert (got.status_code, PASSWORD in got.text) == (503, False)


@pytest.mark.parametrize(
    ("number", "token", "shown"),
    [
        pytest.param(1, ADMIN, True, id="an administrator"),
        pytest.param(1, LETTERS, False, id="of a job that they may not read"),
        pytest.param(2, LETTERS, True, id="of a job that they may read"),
        pytest.param(3, LETTERS, False, id="of a job that is not of the subject's tenant"),
        pytest.param(4, LETTERS, False, id="of no known job"),
        pytest.param(4, ADMIN, True, id="of no known job, an administrator"),
    ],
)
async def test_the_message_in_a_letter_is_shown_to_who_may_read_the_manifest_of_its_job(
    house: House, number: int, token: str, shown: bool
) -> None:
    async with house.client(token) as client:
        got = await client.get(f"/v1/dead-letters/{number}")
        listed = await client.get("/v1/dead-letters")
    assert (got.status_code, PASSWORD in got.text, PASSWORD in listed.text) == (200, shown, False)
    about = got.json()["letter"]
    assert about == listed.json()["items"][number - 1]
    assert about["size"] > 40 and len(about["sha256"]) == 64
    assert ("may not get" in got.json().get("withheld", "")) is not shown
    reads = [one[1:3] for one in await audit(house)]
    assert reads == ([("get", "deadletters.fairway.io")] if shown else [])


async def test_letters_are_listed_in_pages_and_by_service(house: House) -> None:
    first = (await house.http.get("/v1/dead-letters", params={"limit": "3"})).json()
    rest = (await house.http.get("/v1/dead-letters", params={"limit": "3", "continue": first["continue"]})).json()
    assert [one["number"] for one in first["items"] + rest["items"]] == [1, 2, 3, 4]
    assert "continue" not in rest
    assert (await house.http.get("/v1/dead-letters", params={"service": "queue"})).json()["items"] == []
    for wrong in ({"limit": "0"}, {"limit": "101"}, {"continue": "x"}):
        assert (await house.http.get("/v1/dead-letters", params=wrong)).status_code == 400
    assert (await house.http.get("/v1/dead-letters/99")).status_code == 404
    assert (await house.http.get("/v1/dead-letters/x")).status_code == 404


async def test_who_sets_something_is_kept_with_it(house: House) -> None:
    await house.http.post("/v1/settings", json=POLICY)
    where = ("propagationpolicies.policy.karmada.io", "team-a", "train")
    assert await audit(house) == [("admin", "patch", *where, True, 1)]


async def test_refusals_are_counted_and_told_ten_seconds_later(house: House) -> None:
    async with house.client(NOBODY) as nobody, house.client(TENANT_B) as other, house.client(ONLOOKER) as viewer:
        for _ in range(5):
            await nobody.post("/v1/jobs", json={"manifest": job()})
        await other.get(f"/v1/jobs/{A}")
        await other.get("/v1/jobs/none-aaaaaaaaaa")
        await viewer.get(f"/v1/jobs/{A}/manifest")
        await viewer.get("/v1/jobs", params={"namespace": "team-a"})
    assert await audit(house) == []
    await house.clock.advance(PERIOD_S)
    assert sorted(await audit(house)) == [
        ("nobody", "create", "jobs.batch", "team-a", "", False, 5),
        ("onlooker", "get", "jobs.batch", "team-a", A, False, 1),
        ("system:serviceaccount:team-b:ci", "get", "jobs.fairway.io", "team-a", "", False, 1),
    ]
    await house.clock.advance(10 * PERIOD_S)
    assert len(await audit(house)) == 3, "each is told once"


async def test_a_refusal_that_the_bus_can_never_store_is_a_line_of_the_log(house: House) -> None:
    house.bus.max_payload = 64
    with structlog.testing.capture_logs() as lines:
        async with house.client(NOBODY) as nobody:
            await nobody.post("/v1/jobs", json={"manifest": job()})
        await house.clock.advance(PERIOD_S)
    (line,) = lines
    assert (line["event"], line["log_level"]) == ("a refusal is not in the audit", "error")
    assert line["kind"] == "fairway.audit.gateway" and "the bus takes 64" in line["cause"]
    assert (line["refusal"]["who"]["user"], line["refusal"]["does"]) == ("nobody", "create")


def test_of_names_however_long_only_a_beginning_is_kept() -> None:
    denials = Denials()
    denials.put(Actor("eve", "http", "r"), AccessQuestion("get", "jobs", namespace="n" * 900_000, name="x" * 900_000))
    (said,) = denials.take(NOW)
    assert len(msgspec.json.encode(said.message)) < 1_000


def test_however_much_is_refused_little_is_told() -> None:
    denials = Denials()
    for number in range(10 * MOST_OF_ONE):
        denials.put(Actor("eve", "http", f"r{number}"), AccessQuestion("get", "jobs", namespace=f"n{number}"))
    for number in range(2 * MOST_CALLERS):
        denials.put(Actor(f"u{number}", "http", "r"), AccessQuestion("get", "jobs"))
    said = [one.message for one in denials.take(NOW)]
    assert all(isinstance(one, Audited) for one in said)
    of_eve = [one for one in said if isinstance(one, Audited) and one.who.user == "eve"]
    assert len(of_eve) == MOST_OF_ONE + 1
    assert sum(one.times for one in of_eve) == 10 * MOST_OF_ONE
    assert len(said) == len(of_eve) + MOST_CALLERS
    assert sum(one.times for one in said if isinstance(one, Audited)) == 10 * MOST_OF_ONE + 2 * MOST_CALLERS
    assert any(isinstance(one, Audited) and one.who.user == OTHERS for one in said)
    assert denials.take(NOW) == []
