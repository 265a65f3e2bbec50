"""Submitting over HTTP, on the in-memory bus and store: what is accepted, what is refused and in which words."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from fairway.admission.understand import understand
from fairway.domain.names import job_id
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.tenancy.submission_limits import Limits
from fairway.wire.fleet import Configured
from tests.support.http_door import GPU, POLICY, House, job, opened


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        yield one


async def test_a_job_is_accepted_when_its_message_is_stored(house: House) -> None:
    got = await house.http.post("/v1/jobs", json={"manifest": job(), "policies": [POLICY], "client": "ci-7"})
    (said,) = await house.submitted()
    assert got.status_code == 202
    assert got.json() == {
        "job": job_id("team-a", "ci-7", "train"),
        "namespace": "team-a",
        "client": "ci-7",
        "state": "submitted",
        "queue": "",
        "repeated": False,
        "warnings": [],
    }
    assert got.headers["location"] == f"/v1/jobs/{said.job}"
    assert (said.tenant, said.client, said.source) == ("team-a", "ci-7", "http")
    assert msgspec.json.decode(said.manifest) == job()
    assert [msgspec.json.decode(one) for one in said.policies] == [POLICY]


async def test_what_the_door_promises_is_what_admission_finds(house: House) -> None:
    await house.http.post("/v1/jobs", json={"manifest": job(), "policies": [POLICY]}, headers={"Idempotency-Key": "k"})
    (said,) = await house.submitted()
    seen = understand(said, "cause", 1, house.catalog)
    assert (seen.job, seen.reasons, seen.client) == (said.job, (), "team-a/k")


async def test_yaml_with_the_policy_beside_the_job_is_read_as_kubectl_would(house: House) -> None:
    text = "---\n".join(msgspec.yaml.encode(one).decode() for one in (job(), POLICY))
    got = await house.http.post("/v1/jobs", content=text, headers={"Content-Type": "application/yaml"})
    (said,) = await house.submitted()
    assert (got.status_code, msgspec.json.decode(said.manifest), len(said.policies)) == (202, job(), 1)
    assert said.client == "http:id-2"


async def test_without_a_client_id_every_request_is_a_new_job(house: House) -> None:
    first = await house.http.post("/v1/jobs", json={"manifest": job()})
    second = await house.http.post("/v1/jobs", json={"manifest": job()})
    assert first.json()["job"] != second.json()["job"]


async def test_the_same_client_and_body_is_the_same_job_and_is_said_once(house: House) -> None:
    first = await house.http.post("/v1/jobs", json={"manifest": job()}, headers={"Idempotency-Key": "k"})
    again = await house.http.post("/v1/jobs", json={"manifest": job()}, headers={"Idempotency-Key": "k"})
    assert (again.status_code, again.json()["job"], again.json()["repeated"]) == (200, first.json()["job"], True)
    assert len(await house.submitted()) == 1


async def test_the_same_client_with_another_body_is_refused(house: House) -> None:
    first = await house.http.post("/v1/jobs", json={"manifest": job()}, headers={"Idempotency-Key": "k"})
    other = await house.http.post("/v1/jobs", json={"manifest": job(gpus=2)}, headers={"Idempotency-Key": "k"})
    assert (other.status_code, other.json()["code"], other.json()["job"]) == (409, "Duplicate", first.json()["job"])
    assert len(await house.submitted()) == 1


async def test_a_client_id_is_known_from_the_store_after_a_restart(house: House) -> None:
    await house.store.load("clients", {"team-a/k": (1, b'["old-job","another digest"]')})
    got = await house.http.post("/v1/jobs", json={"manifest": job()}, headers={"Idempotency-Key": "k"})
    assert (got.status_code, got.json()["job"]) == (409, "old-job")


async def test_a_store_that_is_away_does_not_keep_a_job_out(house: House) -> None:
    house.store.wipe()
    got = await house.http.post("/v1/jobs", json={"manifest": job()})
    assert (got.status_code, len(await house.submitted())) == (202, 1)


async def test_a_bus_that_is_away_accepts_nothing_and_says_when_to_come_back(house: House) -> None:
    house.bus.connected = False
    got = await house.http.post("/v1/jobs", json={"manifest": job()})
    assert (got.status_code, got.headers["retry-after"], got.json()["title"]) == (503, "2", "the bus is away")
    assert got.json()["detail"].startswith("nothing was accepted")
    assert await house.submitted() == []


BOMB = "a: &a [x]\nb: *a\n"
TWO = msgspec.json.encode(job()) + b"\n---\n" + msgspec.json.encode(job("b"))
BAD: dict[str, tuple[dict[str, Any], int, str]] = {
    "no job at all": ({"content": ""}, 422, "the body holds 0 objects that are no policies (none), not one job"),
    "a Secret": ({"json": {"kind": "Secret", "metadata": {"name": "db"}}}, 422, "kind: Secret 'db' is no job"),
    "a Secret in a List": (
        {"json": {"kind": "List", "items": [{"kind": "Secret"}]}},
        422,
        "kind: Secret without",
    ),
    "an envelope whose manifest is text": ({"json": {"manifest": "x"}}, 422, "manifest: is missing or not an object"),
    "an envelope with a field nobody knows": ({"json": {"manifest": {}, "polices": []}}, 422, "polices: is not known"),
    "a policy that is none": ({"json": {"manifest": job(), "policies": [job()]}}, 422, "policies[0]: Job is not a"),
    "two jobs in one body": ({"content": TWO}, 422, "the body holds 2 objects"),
    "yaml with an alias": ({"content": BOMB}, 422, "line "),
    "a key twice": ({"content": '{"kind": "Job", "kind": "Pod"}'}, 422, "the text holds the key 'kind' twice"),
    "text that is neither JSON nor YAML": ({"content": b"\xff\xfe{"}, 422, "line 1 is not UTF-8"),
    "more than 1 MiB": ({"content": b" " * (2**20 + 1)}, 413, "the body has 1048577 bytes"),
    "more than 1 MiB that does not say so": ({"content": "in chunks"}, 413, "the body has 1114112"),
    "a type that is not read": ({"content": "x", "headers": {"Content-Type": "text/plain"}}, 415, "the body is text"),
    "a client id of the hub's": ({"json": {"manifest": job(), "client": "hub:u-1"}}, 422, "Idempotency-Key: starts"),
    "an endless client id": ({"json": {"manifest": job(), "client": "x" * 129}}, 422, "Idempotency-Key: has 129"),
    "waiting for something unknown": ({"json": {"manifest": job()}, "params": {"wait": "done"}}, 400, "wait='done'"),
}


@pytest.mark.parametrize(("request_", "status", "title"), BAD.values(), ids=list(BAD))
async def test_it_refuses(house: House, request_: dict[str, Any], status: int, title: str) -> None:
    if request_.get("content") == "in chunks":
        request_ = {**request_, "content": chunks(17)}
    headers = {"Content-Type": "application/json" if "json" in request_ else "application/yaml"}
    got = await house.http.post("/v1/jobs", **{"headers": headers, **request_})
    assert got.status_code == status, got.text
    assert got.headers["content-type"] == "application/problem+json"
    assert got.json()["title"].startswith(title), got.json()
    assert await house.submitted() == []


async def test_a_tenant_that_has_too_many_pending_is_told_when_to_come_back(house: House) -> None:
    house.catalog.limits = {"team-a": Limits(pending=2)}
    await house.store.load_counters("pending", {"team-a": 2})
    body = {"manifest": job(), "policies": [POLICY]}
    got = await house.http.post("/v1/jobs", json=body, headers={"Idempotency-Key": "k"})
    assert (got.status_code, got.headers["retry-after"], got.json()["code"]) == (429, "5", "TooManyPending")
    assert got.headers["content-type"] == "application/problem+json"
    assert got.json()["title"] == "2 jobs of team-a are pending, and 2 may be"
    assert await house.submitted() == []
    other = msgspec.json.decode(msgspec.json.encode(body).replace(b"team-a", b"team-b"))
    assert (await house.http.post("/v1/jobs", json=other)).status_code == 202
    await house.store.load_counters("pending", {"team-a": 1})
    again = await house.http.post("/v1/jobs", json=body, headers={"Idempotency-Key": "k"})
    assert (again.status_code, len(await house.submitted())) == (202, 2)


async def test_a_tenant_that_submits_too_fast_is_told_when_to_come_back(house: House) -> None:
    house.catalog.limits = {"team-a": Limits(rate=2)}
    body = {"manifest": job(), "client": "ci-7"}
    codes = [(await house.http.post("/v1/jobs", json={"manifest": job(f"j{n}")})).status_code for n in range(3)]
    got = await house.http.post("/v1/jobs", json=body)
    assert codes == [202, 202, 429]
    assert (got.status_code, got.headers["retry-after"], got.json()["code"]) == (429, "1", "TooFast")
    await house.clock.advance(1)
    assert (await house.http.post("/v1/jobs", json=body)).status_code == 202
    repeated = [await house.http.post("/v1/jobs", json=body) for _ in range(5)]
    assert {one.status_code for one in repeated} == {200}, "who says the same again submits nothing"


async def test_a_tenant_that_submits_too_many_bytes_is_told_when_to_come_back(house: House) -> None:
    house.catalog.limits = {"team-a": Limits(bytes=1_000_000)}
    body = {"manifest": {**job(), "metadata": {**job()["metadata"], "annotations": {"padding": "x" * 400_000}}}}
    codes = [(await house.http.post("/v1/jobs", json={**body, "client": f"c{n}"})).status_code for n in range(2)]
    got = await house.http.post("/v1/jobs", json={**body, "client": "c2"})
    assert (codes, got.status_code, got.json()["code"]) == ([202, 202], 429, "TooManyBytes")
    assert "that team-a may submit in an hour" in got.json()["title"]
    await house.clock.advance(int(got.headers["retry-after"]) - 1)
    assert (await house.http.post("/v1/jobs", json={**body, "client": "c2"})).status_code == 429
    await house.clock.advance(1)
    assert (await house.http.post("/v1/jobs", json={**body, "client": "c2"})).status_code == 202


async def test_with_the_store_away_nobody_is_kept_out_for_what_cannot_be_counted(house: House) -> None:
    house.catalog.limits = {"team-a": Limits(pending=1)}
    house.store.wipe()
    assert (await house.http.post("/v1/jobs", json={"manifest": job()})).status_code == 202


async def chunks(count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b" " * 2**16


# Dry runs


async def test_a_dry_run_says_what_would_be_said_and_submits_nothing(house: House) -> None:
    got = await house.http.post("/v1/jobs?dryRun=true", json={"manifest": job(gpus=2), "policies": [POLICY]})
    answer = got.json()
    assert (got.status_code, answer["accepted"], answer["kind"], answer["gang_minimum"]) == (200, True, "Job", 1)
    assert answer["pod_sets"] == [{"name": "pod", "count": 1, "requests": {GPU: 2}}]
    assert await house.submitted() == []


async def test_a_dry_run_without_a_policy_is_not_accepted(house: House) -> None:
    answer = (await house.http.post("/v1/jobs?dryRun=true", json={"manifest": job()})).json()
    assert (answer["accepted"], [one["code"] for one in answer["reasons"]]) == (False, ["NoPolicy"])


async def test_a_dry_run_warns_of_a_cluster_that_is_not_there(house: House) -> None:
    named = {**POLICY, "spec": {**POLICY["spec"], "placement": {"clusterAffinity": {"clusterNames": ["c9"]}}}}
    got = await house.http.post("/v1/jobs?dryRun=true", json={"manifest": job(gpus=2), "policies": [named]})
    (warning,) = got.json()["warnings"]
    assert (got.json()["accepted"], "names c9, not in the fleet" in warning) == (True, True)


def leaking() -> dict[str, Any]:
    made = job(gpus=2)
    made["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "API_KEY", "value": "hunter2"}]
    return made


async def test_who_writes_a_secret_out_is_told_in_a_dry_run_and_when_it_is_taken(house: House) -> None:
    for path in ("/v1/jobs?dryRun=true", "/v1/jobs"):
        got = await house.http.post(path, json={"manifest": leaking(), "policies": [POLICY]})
        (warning,) = got.json()["warnings"]
        assert warning.startswith("spec.template.spec.containers[0].env[0].value: is the value of 'API_KEY'")
        assert "hunter2" not in warning


async def test_where_the_hubs_namespace_says_so_it_is_refused_by_its_field(house: House) -> None:
    labels = {"metadata": {"name": "team-a", "labels": {"fairway.io/plain-env": "deny"}}}
    said = msgspec.Raw(msgspec.json.encode(labels))
    house.catalog.take(Configured(kind="Namespace", name="team-a", manifest=said))
    got = await house.http.post("/v1/jobs?dryRun=true", json={"manifest": leaking(), "policies": [POLICY]})
    (reason,) = got.json()["reasons"]
    assert (reason["code"], reason["field"]) == ("UnsafePod", "spec.template.spec.containers[0].env[0].value")
    assert "label fairway.io/plain-env" in reason["text"] and "secretKeyRef" in reason["remedy"]


@pytest.mark.parametrize(("most", "code"), [(1, "ExceedsMaxQuota"), (2, "ExceedsMinQuota")], ids=["max", "min"])
async def test_a_dry_run_knows_the_quota_that_could_never_hold_the_job(house: House, most: int, code: str) -> None:
    house.catalog.tree = QuotaNode("a", "a", max={GPU: most}, namespaces=("team-a",))
    made = {"manifest": job(gpus=2), "policies": [POLICY]}
    made["manifest"]["metadata"]["labels"] = {"quota.scheduling.alibabacloud.com/preemptible": "false"}
    got = await house.http.post("/v1/jobs?dryRun=true", json=made)
    assert [one["code"] for one in got.json()["reasons"]] == [code]


async def test_whoever_submits_is_named_with_the_door_whatever_the_body_says_of_itself(house: House) -> None:
    lies = {"manifest": {**job(), "who": {"user": "root", "via": "hub"}}}
    assert (await house.http.post("/v1/jobs", json=lies)).status_code == 202
    (said,) = await house.submitted()
    assert said.who is not None and said.source == said.who.via == "http"
    assert said.who.user == "admin" and said.who.request
