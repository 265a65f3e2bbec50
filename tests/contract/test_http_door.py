"""The HTTP door as a client meets it, on the in-memory bus and store: what is accepted, refused, answered."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import msgspec
import pytest
import pytest_asyncio

from fairway.adapters.memory_bus import MemoryBus
from fairway.adapters.memory_clock import CountingIds, ManualClock
from fairway.adapters.memory_store import MemoryStore
from fairway.admission.understand import understand
from fairway.domain.job import Job
from fairway.domain.names import job_id
from fairway.domain.queues import QueuePolicy, QueueSpec
from fairway.domain.quota_tree import QuotaNode
from fairway.gateway.http import HttpSettings, check_address, create_app
from fairway.gateway.stream import Streams
from fairway.runtime.catalog import Catalog
from fairway.runtime.loop import World
from fairway.runtime.ports import Outgoing
from fairway.wire import asks
from fairway.wire import jobs as wire
from fairway.wire.capacity import ClusterInfo, Node
from fairway.wire.policy import Placement
from fairway.wire.reasons import Code, Reason
from fairway.wire.workload import PodSet, Workload

GPU = "nvidia.com/gpu"
NOW = 1_700_000_000_000


def job(name: str = "train", gpus: int = 1, **more: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "x", "resources": {"limits": {GPU: gpus}}}
    template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    meta = {"name": name, "namespace": "team-a", **more}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": template}}


POLICY = {
    "apiVersion": "policy.karmada.io/v1alpha1",
    "kind": "PropagationPolicy",
    "metadata": {"name": "train", "namespace": "team-a"},
    "spec": {"resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train"}]},
}


class House:
    """The world behind the door, and a client before it."""

    def __init__(self) -> None:
        self.bus, self.store, self.catalog = MemoryBus(), MemoryStore(), Catalog()
        self.world = World(bus=self.bus, store=self.store, clock=ManualClock(NOW), owner="test")
        settings = HttpSettings(CountingIds(), lambda said: understand(said, "dry-run", 0, self.catalog), self.catalog)
        self.app = create_app(self.world, settings)
        transport = httpx.ASGITransport(self.app)
        self.http = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080")

    async def submitted(self) -> list[wire.Submitted]:
        return [one for one in await self.said() if isinstance(one, wire.Submitted)]

    async def said(self) -> list[wire.JobMessage]:
        return [msgspec.json.decode(one.data, type=wire.Message) async for one in self.bus.history("JOBS")]

    async def say(self, name: str, message: wire.JobMessage) -> None:
        subject = f"fairway.job.{message.verb}.{message.tenant}"
        await self.bus.publish([Outgoing(name, subject, msgspec.json.encode(message))])

    async def has(self, *jobs: Job) -> None:
        await self.store.load("jobs", {one.id: (one.rev, msgspec.json.encode(one)) for one in jobs})
        await self.store.load("live", {one.id: (1, b'""') for one in jobs if not one.ended})


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    one = House()
    await one.store.finish_rebuild("1")
    async with one.app.router.lifespan_context(one.app):
        yield one
    await one.http.aclose()


def row(name: str, state: str = "queued", tenant: str = "team-a", **more: Any) -> Job:
    sets = (PodSet("pod", 1, {GPU: 1}),)
    spec = wire.JobSpec(
        workload=Workload("batch/v1", "Job", tenant, name, sets, 1), policy="PropagationPolicy team-a/train",
        placement=Placement(), manifest=wire.ManifestRef(1, "0" * 64, 10),
    )  # fmt: skip
    plain = {"rev": 2, "entered": 2, "attempt": 1, "at": NOW, "since": NOW, "queue": "gold", "spec": spec}
    return msgspec.convert({"id": name, "tenant": tenant, "state": state, **plain, **more}, Job, from_attributes=True)


# Submitting


async def test_a_job_is_accepted_when_its_message_is_stored(house: House) -> None:
    got = await house.http.post("/v1/jobs", json={"manifest": job(), "policies": [POLICY], "client": "ci-7"})
    (said,) = await house.submitted()
    assert got.status_code == 202
    assert got.json() == {"job": job_id("team-a", "ci-7", "train"), "namespace": "team-a", "client": "ci-7",
                          "state": "submitted"}  # fmt: skip
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
    assert said.client == "http:id-1"


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
BAD: dict[str, tuple[dict[str, Any], int, str]] = {
    "no job at all": ({"json": {}}, 422, "holds 1 objects that are no policies (?)"[:5]),
    "an envelope whose manifest is text": ({"json": {"manifest": "x"}}, 422, "manifest: is missing or not an object"),
    "an envelope with a field nobody knows": ({"json": {"manifest": {}, "polices": []}}, 422, "polices: is not known"),
    "a policy that is none": ({"json": {"manifest": job(), "policies": [job()]}}, 422, "policies[0]: Job is not a policy"),
    "two jobs in one body": ({"content": msgspec.json.encode(job()) + b"\n---\n" + msgspec.json.encode(job("b"))}, 422,
                             "the body holds 2 objects"),
    "yaml with an alias": ({"content": BOMB}, 422, "line "),
    "a key twice": ({"content": '{"kind": "Job", "kind": "Pod"}'}, 422, "the text holds the key 'kind' twice"),
    "text that is neither JSON nor YAML": ({"content": b"\xff\xfe{"}, 422, "line 1 is not UTF-8"),
    "more than 1 MiB": ({"content": b" " * (2**20 + 1)}, 413, "the body has 1048577 bytes"),
    "more than 1 MiB that does not say so": ({"content": (b" " * 2**16 for _ in range(17))}, 413, "the body has 1114112"),
    "a type that is not read": ({"content": "x", "headers": {"Content-Type": "text/plain"}}, 415, "the body is text/plain"),
    "a client id of the hub's": ({"json": {"manifest": job(), "client": "hub:u-1"}}, 422, "Idempotency-Key: starts with"),
    "an endless client id": ({"json": {"manifest": job(), "client": "x" * 129}}, 422, "Idempotency-Key: has 129"),
    "waiting for something unknown": ({"json": {"manifest": job()}, "params": {"wait": "done"}}, 400, "wait='done'"),
}  # fmt: skip


@pytest.mark.parametrize(("request_", "status", "title"), BAD.values(), ids=list(BAD))
async def test_it_refuses(house: House, request_: dict[str, Any], status: int, title: str) -> None:
    if hasattr(request_.get("content"), "__next__"):
        request_ = {**request_, "content": chunks(17)}
    headers = {"Content-Type": "application/json" if "json" in request_ else "application/yaml"}
    got = await house.http.post("/v1/jobs", **{"headers": headers, **request_})
    assert got.status_code == status, got.text
    assert got.headers["content-type"] == "application/problem+json"
    assert got.json()["title"].startswith(title), got.json()
    assert await house.submitted() == []


async def chunks(count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b" " * 2**16


# Waiting for the first word


async def waiting(house: House, answer: Callable[[wire.Submitted], wire.JobMessage]) -> httpx.Response:
    """Posts with wait=admitted, and lets `answer` be said once the submission is there."""

    async def reply() -> None:
        async for one in house.bus.history("JOBS", ["fairway.job.submitted.>"], live=True):
            if one.subject:
                await house.say("word", answer(msgspec.json.decode(one.data, type=wire.Submitted)))
                return

    async with asyncio.TaskGroup() as group:
        group.create_task(reply())
        post = house.http.post("/v1/jobs", json={"manifest": job()}, params={"wait": "admitted"})
        return await post


async def test_who_waits_hears_that_the_job_was_queued(house: House) -> None:
    got = await waiting(house, lambda said: wire.Queue(job=said.job, tenant="team-a", rev=2, queue="gold"))
    assert (got.status_code, got.json()["state"], got.json()["queue"]) == (202, "queued", "gold")


async def test_who_waits_hears_every_reason_of_a_rejection(house: House) -> None:
    reasons = (
        Reason(Code.INVALID, "is -1", "spec.parallelism", "write a number of 0 or more"),
        Reason(Code.NO_POLICY, "no policy selects Job team-a/train", "", "apply a PropagationPolicy"),
    )
    got = await waiting(house, lambda said: wire.Rejected(job=said.job, tenant="team-a", rev=1, reasons=reasons))
    assert (got.status_code, got.json()["title"]) == (422, "spec.parallelism: is -1 (and 1 more)")
    assert got.json()["reasons"] == [
        {"code": "Invalid", "field": "spec.parallelism", "text": "is -1", "remedy": "write a number of 0 or more"},
        {"code": "NoPolicy", "field": "", "text": "no policy selects Job team-a/train",
         "remedy": "apply a PropagationPolicy"},
    ]  # fmt: skip


async def test_a_rejection_under_another_job_id_is_known_by_its_cause(house: House) -> None:
    why = (Reason(Code.DUPLICATE, "is live already", "metadata.name", "choose another name"),)

    def answer(said: wire.Submitted) -> wire.JobMessage:
        cause = house.bus._log["JOBS"][0].id
        return wire.Rejected(job="another", tenant="team-a", rev=1, reasons=why, cause=cause)

    got = await waiting(house, answer)
    assert (got.status_code, got.json()["code"], got.json()["job"]) == (409, "Duplicate", "another")


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


async def test_a_dry_run_knows_the_quota_that_could_never_hold_the_job(house: House) -> None:
    leaf = QuotaNode("a", "root/a", max={GPU: 1}, namespaces=("team-a",))
    house.catalog.tree = QuotaNode("root", "root", children=(leaf,))
    got = await house.http.post("/v1/jobs?dryRun=true", json={"manifest": job(gpus=2), "policies": [POLICY]})
    assert [one["code"] for one in got.json()["reasons"]] == ["ExceedsMaxQuota"]


# Asking


async def test_jobs_come_in_pages_that_together_are_all_of_them(house: House) -> None:
    await house.has(*(row(f"j-{n:02}") for n in range(7)))
    pages, more = [], {"continue": ""}
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
    assert (got["reason"], "queue" in got) == ("Queued", False)


async def test_the_story_is_that_of_the_record(house: House) -> None:
    await house.http.post("/v1/jobs", json={"manifest": job()}, headers={"Idempotency-Key": "k"})
    one = row(job_id("team-a", "k", "train"), rev=1, entered=1, state="admitted")
    assert one.spec is not None
    await house.say("adm", wire.Admitted(job=one.id, tenant="team-a", attempt=1, rev=1, at=NOW, spec=one.spec))
    await house.has(one)
    got = (await house.http.get(f"/v1/jobs/{one.id}/story")).json()
    assert [line["what"] for line in got["lines"]] == ["submitted", "admitted"]


async def test_cancelling_says_the_command_and_the_end_stays_the_end(house: House) -> None:
    await house.has(row("a", "running"), row("b", "succeeded"))
    first, second = await house.http.delete("/v1/jobs/a"), await house.http.delete("/v1/jobs/b")
    assert (first.status_code, second.status_code, second.json()["state"]) == (202, 200, "succeeded")
    assert [(one.job, type(one)) for one in await house.said()] == [("a", wire.Cancel)]


async def test_queues_quota_and_clusters_are_counted_from_the_rows(house: House) -> None:
    await house.has(row("a"), row("b", "running"))
    house.catalog.queues = {"silver": QueueSpec("silver", QueuePolicy.BLOCK)}
    house.catalog.tree = QuotaNode("root", "root", max={GPU: 8}, children=(QuotaNode("a", "root/a"),))
    house.store.counters = {"quota": {"root|nvidia.com/gpu": 3, "gone|nvidia.com/gpu": 1}}
    info, node = ClusterInfo("c1", observed_at=NOW), Node("n", {GPU: 8}, holds={"b/1": {GPU: 3}})
    await house.store.load("clusters", {"c1": (1, msgspec.json.encode(info))})
    await house.store.load("nodes/c1", {"n": (1, msgspec.json.encode(node))})
    house.catalog.clusters = {"c1": {}, "c2": {}}
    queues = (await house.http.get("/v1/queues")).json()["items"]
    quota = (await house.http.get("/v1/quota")).json()["items"]
    clusters = (await house.http.get("/v1/clusters")).json()["items"]
    assert [(one["name"], one.get("waiting", 0), one.get("running", 0)) for one in queues] == [
        ("gold", 1, 1), ("silver", 0, 0),
    ]  # fmt: skip
    assert [(one["path"], one.get("used")) for one in quota] == [("root", {GPU: 3}), ("root/a", None), ("gone", {GPU: 1})]
    assert [(one["name"], one["stale"], one.get("free")) for one in clusters] == [("c1", False, {GPU: 5}), ("c2", True, None)]


async def test_questions_wait_for_a_working_set_that_is_being_rebuilt(house: House) -> None:
    house.store.wipe()
    got = await house.http.get("/v1/jobs")
    assert (got.status_code, got.json()["title"]) == (503, "the working set is being rebuilt from the record")
    await house.store.finish_rebuild("2")
    house.store._epoch = "1"
    assert (await house.http.get("/v1/jobs")).status_code == 200


# Events


async def heard(house: House, after: int, count: int) -> tuple[list[bytes], "asyncio.Task[list[bytes]]"]:
    lines = Streams(house.world).lines("team-a", after)
    opening = await anext(lines)

    async def rest() -> list[bytes]:
        got = [await anext(lines) for _ in range(count)]
        await lines.aclose()  # type: ignore[attr-defined]  # it is a generator
        return got

    return [opening], asyncio.create_task(rest())


async def test_events_are_those_of_one_tenant_from_now_on(house: House) -> None:
    await house.say("old", wire.Running(job="a", tenant="team-a", cluster="c1"))
    _, rest = await heard(house, 0, 1)
    while not rest.done():
        await house.say(f"other-{house.bus._log}", wire.Running(job="x", tenant="team-b", cluster="c1"))
        await house.say(f"new-{len(house.bus._log['JOBS'])}", wire.Succeeded(job="a", tenant="team-a", cluster="c1"))
        await asyncio.sleep(0)
    (event,) = await rest
    assert b"event: succeeded\n" in event
    assert b'"tenant":"team-a"' in event


async def test_events_go_on_after_the_last_one_heard_and_carry_no_manifest(house: House) -> None:
    await house.say("1", wire.Running(job="a", tenant="team-a", cluster="c1"))
    secret = msgspec.Raw(b'{"env":"s3cret"}')
    await house.say("2", wire.Submitted(tenant="team-a", manifest=secret))
    _, rest = await heard(house, 1, 1)
    (event,) = await rest
    assert event.startswith(b"id: 2\nevent: submitted\n")
    assert b"s3cret" not in event


@pytest.mark.parametrize("asked", [{}, {"namespace": "*"}, {"namespace": "a.>"}])
async def test_events_are_never_those_of_all_tenants(house: House, asked: dict[str, str]) -> None:
    assert (await house.http.get("/v1/events", params=asked)).status_code == 400


# The door itself


@pytest.mark.parametrize(
    ("host", "insecure", "allowed"),
    [
        pytest.param("127.0.0.1", False, True, id="the loopback"),
        pytest.param("::1", False, True, id="the loopback of version 6"),
        pytest.param("0.0.0.0", False, False, id="every address"),
        pytest.param("10.0.0.7", False, False, id="an address that others reach"),
        pytest.param("localhost", False, False, id="a name, which may mean anything"),
        pytest.param("0.0.0.0", True, True, id="every address, when told so"),
    ],
)
def test_it_listens_only_where_nobody_else_can_ask(host: str, insecure: bool, allowed: bool) -> None:
    if allowed:
        check_address(host, insecure)
    else:
        with pytest.raises(ValueError, match="no authentication yet"):
            check_address(host, insecure)


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1:80", 200), ("localhost", 200), ("[::1]:8080", 200), ("evil.example", 421), ("127.0.0.1.evil", 421)],
)
async def test_a_page_elsewhere_cannot_reach_it_under_its_own_name(house: House, host: str, status: int) -> None:
    assert (await house.http.get("/v1/jobs", headers={"Host": host})).status_code == status


async def test_what_is_not_served_says_so_as_a_problem(house: House) -> None:
    nothing, wrong = await house.http.get("/v2"), await house.http.put("/v1/jobs")
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
