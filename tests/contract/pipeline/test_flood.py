"""One tenant's flood on real servers: what it costs another tenant, with limits and without."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.system_clock import SystemClock, SystemIds
from fairway.adapters.valkey.store import RedisStore
from fairway.admission import service as admission
from fairway.domain.tenancy.submission_limits import Limits
from fairway.global_scheduler import service as global_scheduler
from fairway.lab.fleet.stub_clusters import stub_act
from fairway.propagator import service as propagator
from fairway.queue import service as queue
from fairway.quota import service as quota
from fairway.reserver import service as reserver
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Bus, Outgoing, World
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet, subjects
from fairway.wire import jobs as wire
from fairway.wire.capacity import Node
from fairway.wire.reasons import Code
from tests.support.http_door import GPU, job
from tests.support.twins import consumed, opened_bus, said

FLOOD = 5_000
WAITING = 500
PUT_OFF = 20_500
KIND = "Job.batch/v1"
# One job of team-a takes all GPUs; what asks for none has always room.
GPUS = 8
ROOM = {"cpu": 10**9, GPU: GPUS, "pods": 10**6}
# For everybody together, on a machine that does much else.
PATIENCE_S = 120
_encode = msgspec.json.Encoder().encode


def catalog() -> Catalog:
    known = Catalog()
    policy = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterPropagationPolicy",
        "metadata": {"name": "all"},
        "spec": {"resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job"}], "placement": {}},
    }
    for kind, name, body in (("ClusterPropagationPolicy", "all", policy), ("Cluster", "c1", {"labels": {}})):
        known.take(fleet.Configured(kind=kind, name=name, manifest=msgspec.Raw(_encode(body))))
    known.known.set()
    return known


def submission(tenant: str, number: int) -> Outgoing:
    manifest: dict[str, Any] = job(f"j{number}", gpus=GPUS if tenant == "team-a" else 0)
    manifest["metadata"]["namespace"] = tenant
    client = f"{tenant}-{number}"
    message = wire.Submitted(tenant=tenant, manifest=msgspec.Raw(_encode(manifest)), client=client)
    return Outgoing(client, subjects.job("submitted", tenant), _encode(message))


@asynccontextmanager
async def pipeline(bus: Bus, valkey_url: str, known: Catalog, prefix: str) -> AsyncIterator[None]:
    """All that is between a submission and its dispatch, with room for everything in one cluster that takes all."""
    clock = SystemClock()
    ids = SystemIds()
    stores = []
    report = fleet.Report(cluster="c1", epoch="e1", sequence=1, full=True, nodes=(Node("n1", ROOM),), kinds=(KIND,))
    await bus.publish([Outgoing(ids.new(), subjects.cluster("report", "c1"), _encode(report))])
    services = [
        admission.service(known, bus),
        quota.service(known),
        queue.service(known, Meter(), []),
        global_scheduler.service(),
        reserver.service(bus, known),
        *propagator.services(stub_act),
    ]
    async with asyncio.TaskGroup() as group:
        tasks = []
        for service in services:
            stores.append(RedisStore(valkey_url, prefix))
            world = World(bus=bus, store=stores[-1], clock=clock, owner=ids.new())
            tasks.append(group.create_task(Loop(service, world, Meter()).run()))
        yield
        for task in tasks:
            task.cancel()
    for store in stores:
        await store.close()


async def said_of(bus: Bus, verb: str, tenant: str, count: int = 1) -> list[Any]:
    """Waits until so many are said of a tenant."""
    said: list[Any] = []
    async for one in bus.history("JOBS", (subjects.job(verb, tenant),), live=True):
        if one.subject:
            said.append(msgspec.json.decode(one.data, type=wire.Message))
        if len(said) == count:
            return said
    raise AssertionError("history ended")


async def test_jobs_that_wait_do_not_keep_another_tenant_waiting(nats_url: str, valkey_url: str) -> None:
    """All of team-a's jobs but one wait for room, in the queue in which team-b's is, too."""
    async with (
        asyncio.timeout(PATIENCE_S),
        opened_bus("nats", nats_url) as bus,
        pipeline(bus, valkey_url, catalog(), "{waiting}"),
    ):
        await bus.publish([submission("team-a", number) for number in range(WAITING)])
        await said_of(bus, "queue", "team-a", WAITING)
        await bus.publish([submission("team-b", 0)])
        await said_of(bus, "dispatched", "team-b")
        gone = [one async for one in bus.history("JOBS", (subjects.job("dispatched", "team-a"),))]
    assert len(gone) == 1, "the others wait for room"


async def test_before_another_tenant_only_as_many_stand_as_may_be_pending(nats_url: str, valkey_url: str) -> None:
    known = catalog()
    known.limits = {"team-a": Limits(pending=50)}
    async with asyncio.timeout(PATIENCE_S), opened_bus("nats", nats_url) as bus:
        flood = [submission("team-a", number) for number in range(FLOOD)]
        await bus.publish([*flood, submission("team-b", 0)])
        async with pipeline(bus, valkey_url, known, "{flood}"):
            await said_of(bus, "dispatched", "team-b")
            refused = await said_of(bus, "rejected", "team-a", FLOOD - 51)
            admitted = [one async for one in bus.history("JOBS", (subjects.job("admitted", "team-a"),))]
    assert len(admitted) == 51, "as many as may be pending, and one that runs"
    assert {reason.code for one in refused for reason in one.reasons} == {Code.TOO_MANY_PENDING}


async def test_what_one_tenant_has_put_off_does_not_stop_another(nats_url: str) -> None:
    """Messages that are to come again later, because a cluster is away or avoided, more than a consumer once took."""
    async with asyncio.timeout(PATIENCE_S), opened_bus("nats", nats_url) as bus:
        source = await consumed(bus, "JOBS", "test", ("fairway.job.queue.>",))
        await bus.publish([said("team-a", number) for number in range(PUT_OFF)])
        await bus.publish([said("team-b", 0)])
        came: set[str] = set()
        while "fairway.job.queue.team-b" not in came:
            for one in await source.batch(256):
                came.add(one.subject)
                source.later(one, 600_000)
        await source.close()


async def test_who_floods_pushes_out_its_own_words_first(nats_url: str) -> None:
    async with opened_bus("nats", nats_url) as bus:
        assert isinstance(bus, NatsBus)
        (kept,) = [one.per_subject for one in subjects.STREAMS if one.name == subjects.IN]
        await bus.publish([Outgoing("quiet", "fairway.in.quiet.submit", b"{}")])
        words = [Outgoing(f"loud-{n}", "fairway.in.loud.submit", b"%d" % n) for n in range(kept + 100)]
        await bus.publish(words)
        info = await bus.client.jetstream().stream_info(subjects.IN, subjects_filter=">")
        assert info.state.subjects == {"fairway.in.quiet.submit": 1, "fairway.in.loud.submit": kept}
        first, second = [one async for one in bus.history(subjects.IN) if one.sequence <= 102]
        assert (first.data, second.data) == (b"{}", b"100")
