"""What tenants say on the bus becomes jobs and cancellations of their own, and of nobody else's: on every bus."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.system_clock import SystemClock
from fairway.admission import service as admission
from fairway.domain.tenancy.submission_limits import Limits
from fairway.explain.story import story_of
from fairway.inbound import service as inbound
from fairway.queue import service as queue
from fairway.quota import service as quota
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Bus, Outgoing, Store, World
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet, subjects
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.inbound import CancelRequest, SubmitRequest
from fairway.wire.reasons import Code
from tests.contract.pipeline.test_flood import catalog
from tests.support.http_door import job

Message = SubmitRequest | CancelRequest
_encode = msgspec.json.Encoder().encode


def request(tenant: str, message: Message, name: str) -> Outgoing:
    return Outgoing(name, subjects.inbound(message.verb, tenant), _encode(message), "fairway.in")


def submit(tenant: str, name: str, message: str = "", **more: Any) -> Outgoing:
    body = job(name, gpus=0)
    body["metadata"]["namespace"] = more.pop("namespace", tenant)
    asked = SubmitRequest(manifest=msgspec.Raw(_encode(body)), client=more.pop("client", name))
    return request(tenant, asked, message or f"{tenant}-{name}")


@asynccontextmanager
async def door(bus: Bus, store: Store, known: Catalog | None = None) -> AsyncIterator[None]:
    """The services that a tenant's word passes until it is queued, or ends."""
    known = known or catalog()
    services = [
        inbound.service(known),
        admission.service(known, bus),
        quota.service(known),
        queue.service(known, Meter(), []),
    ]
    worlds = [World(bus=bus, store=store, clock=SystemClock(), owner=f"o{at}") for at in range(len(services))]
    loops = [Loop(one, world, Meter()) for one, world in zip(services, worlds, strict=True)]
    running = [asyncio.create_task(loop.run()) for loop in loops]
    try:
        async with asyncio.timeout(30):
            yield
    finally:
        for one in running:
            one.cancel()
        await asyncio.gather(*running, return_exceptions=True)


@asynccontextmanager
async def beside(bus: Bus, nats_url: str) -> AsyncIterator[Bus]:
    """Another connection to the same bus: what it has fetched goes back when it ends."""
    if not isinstance(bus, NatsBus):
        yield bus
        return
    own = await NatsBus.connect(nats_url, "before")
    yield own
    await own.close()


async def heard(bus: Bus, stream: str, subject: str, count: int = 1) -> list[Any]:
    """Waits until so much was said there."""
    messages = fleet.Message if stream == "DLQ" else wire.Message
    found: list[Any] = []
    async for one in bus.history(stream, (subject,), live=True):
        if one.subject:
            found.append(msgspec.json.decode(one.data, type=messages))
        if len(found) == count:
            break
    return found


async def all_of(bus: Bus, *verbs: str) -> list[Any]:
    """All that was said of jobs with these verbs."""
    masks = [f"fairway.job.{verb}.>" for verb in verbs]
    return [msgspec.json.decode(one.data, type=wire.Message) async for one in bus.history("JOBS", masks)]


def one_at_a_time() -> Catalog:
    known = catalog()
    leaf = {"name": "a", "namespaces": ["team-a"], "max": {"kube-queue/max-jobs": "1"}}
    tree = {
        "apiVersion": "scheduling.sigs.k8s.io/v1beta1",
        "kind": "ElasticQuotaTree",
        "metadata": {"name": "tree"},
        "spec": {"root": {"name": "root", "max": {"kube-queue/max-jobs": "9"}, "children": [leaf]}},
    }
    known.take(fleet.Configured(kind="ElasticQuotaTree", name="tree", manifest=msgspec.Raw(_encode(tree))))
    return known


async def test_a_tenant_submits_and_cancels_and_the_story_names_it(bus: Bus, store: Store) -> None:
    async with door(bus, store, one_at_a_time()):
        await bus.publish([submit("team-a", "one"), submit("team-a", "two")])
        (waits,) = await heard(bus, "JOBS", "fairway.job.blocked.team-a")
        await bus.publish([request("team-a", CancelRequest(job=waits.job), "stop")])
        (cancelled,) = await heard(bus, "JOBS", "fairway.job.cancelled.team-a")
        story = await story_of(bus, store, waits.job)
    (cancel,) = await all_of(bus, "cancel")
    submitted = await all_of(bus, "submitted")
    assert {one.source for one in submitted} == {"bus"}
    assert [one.who for one in submitted] == [Actor("team-a", "bus", f"team-a-{name}") for name in ("one", "two")]
    assert cancelled.who == "team-a (on the bus)"
    assert cancel.who == Actor("team-a", "bus", "stop")
    assert story is not None
    told = {line.what: line.sentence for line in story.lines}
    assert "by team-a (on the bus)" in told["submitted"] and "by team-a (on the bus)" in told["cancel"]


async def test_what_another_tenant_says_of_a_job_does_nothing_and_tells_it_nothing(bus: Bus, store: Store) -> None:
    """F5: today's `cancel` of A's job on B's subject."""
    async with door(bus, store):
        await bus.publish([submit("team-a", "one")])
        (queued,) = await heard(bus, "JOBS", "fairway.job.queue.team-a")
        await bus.publish([request("team-b", CancelRequest(job=queued.job), "stop-it")])
        (letter,) = await heard(bus, "DLQ", "fairway.dlq.inbound")
        await bus.publish([submit("team-a", "two")])
        await heard(bus, "JOBS", "fairway.job.queue.team-a", 2)
    assert letter.why.code is Code.FORBIDDEN and letter.who == Actor("team-b", "bus", "stop-it")
    assert await all_of(bus, "cancel", "cancelled") == []
    assert {one.tenant for one in await all_of(bus, "*") if one.job} == {"team-a"}, "nothing is said for team-b"


async def test_a_job_in_anothers_namespace_is_refused_and_takes_nothing_of_it(bus: Bus, store: Store) -> None:
    async with door(bus, store):
        await bus.publish([submit("team-b", "one", namespace="team-a")])
        (rejected,) = await heard(bus, "JOBS", "fairway.job.rejected.team-b")
        await bus.publish([submit("team-a", "one")])
        (queued,) = await heard(bus, "JOBS", "fairway.job.queue.team-a")
    assert rejected.reasons[0].field == "metadata.namespace"
    assert queued.job != rejected.job


async def test_the_same_id_of_a_message_means_nothing_to_the_record(bus: Bus, store: Store) -> None:
    """F7: what a tenant calls its message takes no id that a service, or another door, is going to use."""
    async with door(bus, store):
        await bus.publish([submit("team-a", "one", message="x")])
        (first,) = await heard(bus, "JOBS", "fairway.job.submitted.team-a")
        taken = [one.id async for one in bus.history("JOBS")]
        await asyncio.sleep(0.15)  # by then IN has forgotten it
        await bus.publish([submit("team-b", "two", message="x"), submit("team-b", "three", message=taken[0])])
        said = await heard(bus, "JOBS", "fairway.job.queue.team-b", 2)
    assert "x" not in taken and len({first.job, *(one.job for one in said)}) == 3


async def test_one_bad_message_stops_nothing_else(bus: Bus, store: Store) -> None:
    bad = [
        Outgoing("bad-1", "fairway.in.team-b.submit", b"{"),
        Outgoing("bad-2", "fairway.in.team-b.submit", b'{"type":"submit_request","manifest":{"a":"\xff"}}'),
        Outgoing("bad-3", "fairway.in.team-b.submit", b'{"type":"submit_request","manifest":' + b"[" * 50_000),
        Outgoing("bad-4", "fairway.in.team-b.cancel", b'{"type":"submit_request","manifest":{}}'),
        Outgoing("bad-5", "fairway.in.~nobody.submit", b'{"type":"submit_request","manifest":{}}'),
        Outgoing("bad-6", "fairway.in.team-b.submit", b'{"type":"submitted","manifest":{},"tenant":"team-a"}'),
    ]
    async with door(bus, store):
        await bus.publish([*bad, submit("team-a", "one")])
        await heard(bus, "JOBS", "fairway.job.queue.team-a")
        letters = await heard(bus, "DLQ", "fairway.dlq.inbound", len(bad))
    assert sorted(one.id for one in letters) == [one.id for one in bad]
    assert {one.who.user for one in letters} == {"team-b", "~nobody"}
    assert all(one.why.text for one in letters)


async def test_said_again_it_is_the_same_job_even_when_the_services_began_anew(
    bus: Bus, store: Store, nats_url: str
) -> None:
    async with beside(bus, nats_url) as first, door(first, store):
        await bus.publish([submit("team-a", "one")])
        await heard(bus, "JOBS", "fairway.job.queue.team-a")
    await asyncio.sleep(0.15)  # by then IN has forgotten it
    async with door(bus, store):
        await bus.publish([submit("team-a", "one"), submit("team-a", "one", message="again"), submit("team-a", "two")])
        await heard(bus, "JOBS", "fairway.job.queue.team-a", 2)
    assert len(await all_of(bus, "submitted")) == 2


async def test_the_limits_of_a_tenant_count_what_it_says_on_the_bus(bus: Bus, store: Store) -> None:
    known = catalog()
    known.limits = {"team-a": Limits(pending=2)}
    async with door(bus, store, known):
        await bus.publish([submit("team-a", name) for name in ("one", "two", "three")] + [submit("team-b", "one")])
        (rejected,) = await heard(bus, "JOBS", "fairway.job.rejected.team-a")
        await heard(bus, "JOBS", "fairway.job.queue.team-b")
    assert rejected.reasons[0].code is Code.TOO_MANY_PENDING


async def test_what_is_beyond_the_bytes_of_a_tenant_stands_in_the_record_as_refused_and_no_more_of_it(
    bus: Bus, store: Store
) -> None:
    known = catalog()
    words = [submit("team-a", name) for name in ("one", "two", "three")]
    known.limits = {"team-a": Limits(bytes=sum(len(one.data) for one in words) - 1)}
    async with door(bus, store, known):
        await bus.publish(words)
        (rejected, *_) = await heard(bus, "JOBS", "fairway.job.rejected.team-a", 1)
    assert rejected.reasons[0].code is Code.TOO_MANY_BYTES
    manifests = {one.client: bytes(one.manifest) for one in await all_of(bus, "submitted")}
    assert b"containers" in manifests["one"] and b"containers" not in manifests["three"]


async def test_a_store_that_is_wiped_loses_no_word_of_a_tenant(bus: Bus) -> None:
    store = MemoryStore()
    async with door(bus, store):
        await bus.publish([submit("team-a", "one")])
        await heard(bus, "JOBS", "fairway.job.queue.team-a")
        store.wipe()
        await bus.publish([submit("team-a", "two")])
        said = await heard(bus, "JOBS", "fairway.job.queue.team-a", 2)
    assert len({one.job for one in said}) == 2
