"""The door while NATS or Valkey, real ones, are stopped and started: it accepts nothing it could lose and says so, and
what the hub has stays there until it is stored."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.system_clock import SystemClock, SystemIds
from fairway.adapters.valkey.store import RedisStore
from fairway.admission.understand import understand
from fairway.gateway.http.routes import HttpSettings, create_app
from fairway.lab.processes.embedded_servers import EmbeddedServer, nats_server, valkey_server
from fairway.runtime.ports import Unreachable, World
from fairway.runtime.views.settings import Catalog
from fairway.wire import jobs as wire
from fairway.workloads.hub.objects import SETTINGS
from fairway.workloads.kinds.registry import KINDS
from tests.support.http_door import ADMIN, POLICY, WIDE, bearer, callers, job
from tests.support.memory.cluster import MemoryCluster
from tests.support.simulated_hub import run_hub

JOB = "Job.batch/v1"
PP = "PropagationPolicy.policy.karmada.io/v1alpha1"
# Whatever happens here is over long before, also on a machine that does much else.
PATIENCE_S = 30


class House:
    """The door and the hub's intake on servers of their own."""

    def __init__(self, nats: EmbeddedServer, valkey: EmbeddedServer, bus: NatsBus) -> None:
        self.nats = nats
        self.valkey = valkey
        self.bus = bus
        self.store = RedisStore(valkey.url)
        self.clock = SystemClock()
        catalog = Catalog()
        self.hub = MemoryCluster("hub", self.clock, [*SETTINGS, *KINDS])
        self.world = World(bus=bus, store=self.store, clock=self.clock, owner="test")
        understands = lambda said: understand(said, "dry-run", 0, catalog)  # noqa: E731 - it has no other name here
        reading = HttpSettings(SystemIds(), understands, catalog, callers(self.clock), limits=WIDE)
        self.app = create_app(self.world, reading)
        transport = httpx.ASGITransport(self.app)
        self.http = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=bearer(ADMIN))

    async def filled(self) -> None:
        """As the first service does with an empty store."""
        assert await self.store.begin_rebuild("test", 10_000)
        await self.store.finish_rebuild("1-test")

    async def post(self, name: str, **query: str) -> httpx.Response:
        body = {"manifest": job(name), "policies": [POLICY]}
        return await self.http.post("/v1/jobs", json=body, headers={"Idempotency-Key": name}, params=query)

    async def submitted(self) -> list[str]:
        """The names of what the record has, as often as it has them."""
        said = [one async for one in self.bus.history("JOBS", ("fairway.job.submitted.>",))]
        return sorted(_name(msgspec.json.decode(one.data, type=wire.Submitted)) for one in said)


def _name(said: wire.Submitted) -> str:
    return str(msgspec.json.decode(said.manifest)["metadata"]["name"])


@asynccontextmanager
async def opened(dir: Path) -> AsyncIterator[House]:
    async with await nats_server(dir / "nats") as nats, await valkey_server(dir / "valkey") as valkey:
        bus = await NatsBus.connect(nats.url, "door")
        await bus.provision()
        house = House(nats, valkey, bus)
        await house.filled()
        async with house.app.router.lifespan_context(house.app):
            yield house
        await house.http.aclose()
        await house.store.close()
        await bus.close()


@pytest_asyncio.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with opened(tmp_path) as one:
        yield one


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not await true():
            await asyncio.sleep(0.02)


def told_to_come_back(got: httpx.Response, cause: str) -> bool:
    assert (got.status_code, got.headers["content-type"]) == (503, "application/problem+json"), got.text
    assert int(got.headers["retry-after"]) > 0
    return cause in got.json()["title"] and bool(got.json()["detail"])


async def test_with_nats_away_nothing_is_accepted_and_what_was_is_there_afterwards(house: House) -> None:
    assert (await house.post("before")).status_code == 202
    await house.nats.stop()
    assert told_to_come_back(await house.post("meanwhile"), "the bus")
    assert told_to_come_back(await house.post("waiting", wait="admitted"), "the bus")
    assert told_to_come_back(await house.http.post("/v1/settings", json=POLICY), "the bus")
    await house.nats.restart()

    async def accepted() -> bool:
        return (await house.post("meanwhile")).status_code in (200, 202)

    await until(accepted)
    assert (await house.post("before")).status_code == 200
    assert await house.submitted() == ["before", "meanwhile"]


async def test_every_job_that_was_accepted_while_nats_came_and_went_is_in_the_record_once(house: House) -> None:
    names = [f"job-{number}" for number in range(60)]
    accepted = set[str]()

    async def insist(name: str) -> None:
        while name not in accepted:
            got = await house.post(name)
            if got.status_code in (200, 202):
                accepted.add(name)
            else:
                assert told_to_come_back(got, "the bus"), got.text
                await asyncio.sleep(0.05)

    async def comes_and_goes() -> None:
        for _ in range(2):
            house.nats.kill()
            await house.nats.restart()

    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        group.create_task(comes_and_goes())
        for name in names:
            group.create_task(insist(name))
            await asyncio.sleep(0.01)  # the load goes on over both
    assert await house.submitted() == sorted(names)


async def test_with_valkey_away_jobs_are_accepted_and_questions_are_told_to_come_back(house: House) -> None:
    await house.valkey.stop()
    assert (await house.post("train")).status_code == 202
    for path in ("/v1/jobs", "/v1/jobs/train", "/v1/jobs/train/why", "/v1/queues", "/v1/quota", "/v1/clusters"):
        assert told_to_come_back(await house.http.get(path), "the store does not answer"), path
    assert told_to_come_back(await house.http.delete("/v1/jobs/train"), "the store does not answer")
    await house.valkey.restart()
    assert told_to_come_back(await house.http.get("/v1/jobs"), "is being rebuilt from the record")
    await house.filled()
    assert (await house.http.get("/v1/jobs")).status_code == 200
    assert (await house.post("train")).json()["repeated"]
    assert await house.submitted() == ["train"]


@pytest.mark.parametrize("away", ["nats", "valkey"])
async def test_the_hub_keeps_what_cannot_be_submitted_and_it_is_submitted_once(house: House, away: str) -> None:
    server: Any = getattr(house, away)
    gateway = asyncio.create_task(run_hub(house.hub, house.world))
    try:
        await house.hub.create(PP, POLICY)
        await house.hub.create(JOB, job("train", uid="u-1"))
        await until(lambda: _has(house, 1))
        await server.stop()
        wide = {**POLICY, "metadata": {"name": "wide", "namespace": "team-a"}}
        wide["spec"] = {"resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job"}]}
        await house.hub.create(PP, wide)
        with capture_logs() as said:
            await house.hub.create(JOB, job("meanwhile", uid="u-2"))
            await until(lambda: _tried(said))
        assert await house.hub.get(JOB, "team-a", "meanwhile") is not None
        await server.restart()
        if away == "valkey":
            await house.filled()
        await until(lambda: _has(house, 2))
        assert await house.submitted() == ["meanwhile", "train"]
    finally:
        gateway.cancel()
        await asyncio.gather(gateway, return_exceptions=True)


async def _has(house: House, count: int) -> bool:
    try:
        return len(await house.submitted()) >= count
    except Unreachable:
        return False


async def _tried(said: list[Any]) -> bool:
    return any(one["event"] == "waiting" and one.get("service") == "hub" for one in said)
