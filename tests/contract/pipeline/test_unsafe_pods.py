"""What no tenant's pods may ask for is refused through every door, in the same words, and comes to no member."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import msgspec
import pytest
import pytest_asyncio

from fairway.admission.service import service as admission
from fairway.admission.understand import understand
from fairway.domain.submission import raw
from fairway.gateway.http.routes import HttpSettings, create_app
from fairway.inbound.service import service as inbound
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Outgoing
from fairway.runtime.views.settings import Catalog
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.inbound import SubmitRequest
from tests.cases.pod_rules import RULES, Rule
from tests.support.http_door import ADMIN, bearer, callers
from tests.support.memory.clock import CountingIds
from tests.support.simulated_hub import House, opened

Json = dict[str, Any]
TEN = (
    "a node for MPI's launcher",
    "every taint",
    "a runtime class",
    "an account for Ray's submitter",
    "the token of the default account for a driver",
    "any object, as a resource",
    "a patch in another case",
    "another namespace by sparkConf",
    "a plugin of Volcano",
    "privileges in a template written inside a step",
)
CHOSEN = [rule for rule in RULES if rule.name in TEN]


class Doors:
    """A hub, a bus and an HTTP door before one admission."""

    def __init__(self, house: House, http: httpx.AsyncClient) -> None:
        self.house = house
        self.http = http

    async def hub(self, rule: Rule) -> None:
        """`kubectl apply` of the job and its policy."""
        await self.house.hub.create("PropagationPolicy.policy.karmada.io/v1alpha1", policy(rule.job))
        await self.house.hub.create(f"{rule.job['kind']}.{rule.job['apiVersion']}", rule.job)

    async def over_http(self, rule: Rule) -> None:
        got = await self.http.post("/v1/jobs", json={"manifest": rule.job, "policies": [policy(rule.job)]})
        assert got.status_code == 202, got.text

    async def bus(self, rule: Rule) -> None:
        """As a tenant speaks on the bus."""
        request = SubmitRequest(manifest=raw(rule.job), policies=(raw(policy(rule.job)),), client="c")
        subject = subjects.inbound(request.verb, "team")
        await self.house.bus.publish([Outgoing("by-hand", subject, msgspec.json.encode(request))])

    async def dry_run(self, rule: Rule) -> Json:
        body = {"manifest": rule.job, "policies": [policy(rule.job)]}
        found: Json = (await self.http.post("/v1/jobs?dryRun=true", json=body)).json()
        return found


def policy(job: Json) -> Json:
    selector = {"apiVersion": job["apiVersion"], "kind": job["kind"]}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": "all", "namespace": "team"},
        "spec": {"resourceSelectors": [selector]},
    }


@pytest_asyncio.fixture
async def doors() -> AsyncIterator[Doors]:
    catalog = Catalog()
    async with opened() as house:
        services = (inbound(catalog), admission(catalog, house.world.bus))
        loops = [asyncio.create_task(Loop(one, house.world, Meter()).run()) for one in services]
        come = callers(house.world.clock)
        settings = HttpSettings(CountingIds(), lambda said: understand(said, "dry-run", 0, catalog), catalog, come)
        app = create_app(house.world, settings)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(
                transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8080", headers=bearer(ADMIN)
            ) as http,
        ):
            yield Doors(house, http)
        for loop in loops:
            loop.cancel()
        await asyncio.wait(loops)


@pytest.mark.parametrize("door", ["hub", "over_http", "bus"])
@pytest.mark.parametrize("rule", CHOSEN, ids=[rule.name for rule in CHOSEN])
async def test_it_is_refused_through_each_door(doors: Doors, rule: Rule, door: str) -> None:
    await getattr(doors, door)(rule)
    (said,) = await doors.house.said(wire.Rejected)
    (reason,) = said.reasons
    assert (reason.code.value, reason.field) == ("UnsafePod", rule.field)
    assert rule.says in reason.text and rule.remedy in reason.remedy
    assert doors.house.count(wire.Admitted) == 0


async def test_the_hub_shows_why(doors: Doors) -> None:
    await doors.hub(CHOSEN[0])
    event = await doors.house.events(lambda one: CHOSEN[0].field in one["message"])
    assert (event["type"], event["involvedObject"]["name"]) == ("Warning", "one")
    assert CHOSEN[0].says in event["message"] and "TenantProfile" in event["message"]


@pytest.mark.parametrize("rule", CHOSEN, ids=[rule.name for rule in CHOSEN])
async def test_a_dry_run_says_the_same(doors: Doors, rule: Rule) -> None:
    answer = await doors.dry_run(rule)
    assert not answer["accepted"]
    (reason,) = answer["reasons"]
    assert (reason["code"], reason["field"]) == ("UnsafePod", rule.field)


def test_there_are_ten_of_them_of_every_sort() -> None:
    assert len(CHOSEN) == 10
    assert len({rule.job["kind"] for rule in CHOSEN}) >= 5
