"""A fleet of two members whose online services use more and less: jobs on idle resources go where these are now, are
taken back where they become less, and nobody online waits for them.

Koordinator's manager computes the batch resources, its webhook converts the pods, its scheduler places them, and
Spark's operator runs the jobs. Played are koordlets: what nodes use is written by hand, and the executors that a
koordlet would evict are deleted by the test.
"""

import signal
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
import yaml

from fairway.domain.batch_resources import BATCH_CPU
from fairway.domain.resources import parse_quantity
from fairway.domain.tenancy import member_namespace
from fairway.domain.tenancy.profile import BASELINE
from fairway.lab.kubereal.build import tools
from fairway.lab.kubereal.operators import start
from fairway.lab.kubereal.operators.koordinator import API_FLAGS
from fairway.workloads.member_copy import BATCH_LABEL
from tests.kubernetes.idle.spark_cases import application
from tests.kubernetes.support.join_fleet import House, house, policy
from tests.kubernetes.support.koord import set_use

Json = dict[str, Any]
pytestmark = pytest.mark.asyncio(loop_scope="module")
MEMBERS = ("east", "west")
TENANT = "team-a"
_ACCOUNT = "spark-operator-spark"
# Of a node's eight cores Koordinator lends out 70 %, less what is in use.
LENT = 5_600
QUIET = 500
BUSY = 5_000


class IdleFleet:
    def __init__(self, home: House) -> None:
        self.home = home

    async def open(self) -> None:
        for name in MEMBERS:
            await start(self.home.planes[name], ("koordinator-webhook", "spark-webhook"), tools())
            api = self.home.api(name)
            labels = member_namespace.made(TENANT, BASELINE)
            api.create("v1/namespaces", {"metadata": {"name": TENANT, "labels": labels}})
            api.create(f"v1/namespaces/{TENANT}/serviceaccounts", {"metadata": {"name": _ACCOUNT}})
        await self.home.run()
        for name in MEMBERS:
            await self.home.join(name)

    async def use(self, **cores: int) -> None:
        """What the online services of each member use from now on, in millicores. Returns when the fleet knows."""
        for name, used in cores.items():
            set_use(self.home.api(name), f"{name}-1", f"{used}m", "1Gi")

        async def known() -> bool:
            rows = await self.home.clusters()
            return all(self.idle(name) == LENT - used == _told(rows[name]) for name, used in cores.items())

        await self.home.until(known, f"members that use {cores} have told what is idle")

    def idle(self, member: str) -> int:
        """Millicores, as the node lists them."""
        found = self.home.api(member).get(f"v1/nodes/{member}-1") or {}
        return parse_quantity(BATCH_CPU, found["status"]["allocatable"].get(BATCH_CPU, "0"))

    async def submit(self, name: str, executors: int, cpu: str, room: str = "batch", **annotations: str) -> None:
        """A SparkApplication of a driver and some executors, each with so much cpu; `annotations` of its policy."""
        more = {
            "driver": {"coreRequest": cpu, "serviceAccount": _ACCOUNT},
            "executor": {"coreRequest": cpu, "instances": executors},
        }
        rules = policy(name, ())
        kind = {"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication"}
        rules["spec"]["resourceSelectors"] = [{**kind, "name": name}]
        rules["metadata"]["annotations"] = annotations
        path = self.home.dir / f"{name}.yaml"
        path.write_text(yaml.safe_dump_all([application(name, more, TENANT, {"fairway.io/room": room}), rules]))
        await self.home.fairway("submit", "-f", str(path))

    async def runs_in(self, name: str) -> str:
        return str((await self.home.state(name, "running"))["cluster"])

    def pods(self, member: str, job: str) -> list[Json]:
        return self.home.api(member).pods(TENANT, f"sparkoperator.k8s.io/app-name={job}")

    def evict_executors(self, member: str, job: str, count: int) -> None:
        """As a koordlet does it that takes batch resources away."""
        found = [one for one in self.pods(member, job) if one["metadata"]["labels"]["spark-role"] == "executor"]
        assert len(found) >= count
        for one in found[:count]:
            self.home.api(member).delete(f"v1/namespaces/{TENANT}/pods/{one['metadata']['name']}", gracePeriodSeconds=0)

    async def taken_back(self, name: str) -> Json:
        """The job as it is with its second attempt on its way, or waiting."""

        async def look() -> Json | None:
            row = (await self.home.jobs())[name]
            return row if row["attempt"] == 2 else None

        found: Json = await self.home.until(look, f"{name} is taken back", seconds=150)
        assert "BatchShrunk" in await self.home.fairway("story", name)
        return found


def _told(row: Json) -> int:
    return int(row["allocatable"].get(BATCH_CPU, 0))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[IdleFleet]:
    async with house(tmp_path_factory.mktemp("idle"), MEMBERS, API_FLAGS) as home:
        made = IdleFleet(home)
        await made.open()
        yield made


async def test_jobs_go_where_resources_are_idle_now(fleet: IdleFleet) -> None:
    await fleet.use(east=QUIET, west=BUSY)
    await fleet.submit("first", executors=2, cpu="1")
    assert await fleet.runs_in("first") == "east"
    await fleet.use(east=BUSY, west=QUIET)
    await fleet.submit("second", executors=1, cpu="500m")
    assert await fleet.runs_in("second") == "west"
    found = [pod for member in MEMBERS for pod in fleet.pods(member, "first") + fleet.pods(member, "second")]
    asked = [pod["spec"]["containers"][0]["resources"]["requests"] for pod in found]
    assert sorted(parse_quantity(BATCH_CPU, one[BATCH_CPU]) for one in asked) == [500, 500, 1_000, 1_000, 1_000]
    assert [one for one in asked if "cpu" in one or "memory" in one] == []
    for pod in found:
        assert (pod["spec"]["priority"], pod["spec"]["preemptionPolicy"]) == (-1000, "Never")
        assert pod["metadata"]["labels"]["koordinator.sh/qosClass"] == "BE"


async def test_a_job_that_lost_its_executors_is_taken_back_and_goes_elsewhere(fleet: IdleFleet) -> None:
    """After a minute, in which it might have got others."""
    enqueued = (await fleet.home.jobs())["first"]["enqueued_at"]
    fleet.evict_executors("east", "first", 1)
    await fleet.taken_back("first")
    row = await fleet.home.state("first", "running")
    assert (row["cluster"], row["attempt"], row["enqueued_at"]) == ("west", 2, enqueued)
    assert fleet.pods("east", "first") == []


async def test_an_online_pod_has_its_room_at_once_whatever_runs_on_idle_resources(fleet: IdleFleet) -> None:
    api = fleet.home.api("west")
    batch = {one["metadata"]["uid"] for one in fleet.pods("west", "first")}
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": "7"}, "limits": {"cpu": "7"}}}
    api.create(f"v1/namespaces/{TENANT}/pods", {"metadata": {"name": "online"}, "spec": {"containers": [container]}})

    def up() -> bool:
        found = api.get(f"v1/namespaces/{TENANT}/pods/online") or {}
        return bool(found["status"].get("phase") == "Running")

    await fleet.home.until(up, "the online pod runs", seconds=20)
    said = api.items(f"v1/namespaces/{TENANT}/events")
    assert [
        one for one in said if one["involvedObject"]["name"] == "online" and one["reason"] == "FailedScheduling"
    ] == []
    assert {one["metadata"]["uid"] for one in fleet.pods("west", "first")} == batch
    api.delete(f"v1/namespaces/{TENANT}/pods/online", gracePeriodSeconds=0)


async def test_nothing_more_fits_where_less_is_idle_than_was_given_out(fleet: IdleFleet) -> None:
    await fleet.use(west=BUSY)
    await fleet.submit("third", executors=1, cpu="500m")

    async def waits() -> bool:
        row = (await fleet.home.jobs())["third"]
        return row["state"] == "queued" and bool(row.get("reason"))

    await fleet.home.until(waits, "third waits")
    assert BATCH_CPU in await fleet.home.fairway("why", "third")
    assert (await fleet.home.jobs())["second"]["state"] == "running", "nobody is evicted for a moment's shortage"
    await fleet.use(east=QUIET)
    assert await fleet.runs_in("third") == "east"


async def test_without_idle_resources_a_job_that_may_have_either_runs_on_normal_ones(fleet: IdleFleet) -> None:
    """Six cores: no member has so much idle, and one has it in all."""
    await fleet.submit("either", executors=5, cpu="1", room="batch,normal")
    assert await fleet.runs_in("either") == "east"
    pods = fleet.pods("east", "either")
    assert len(pods) == 6
    for pod in pods:
        asked = pod["spec"]["containers"][0]["resources"]["requests"]
        assert (asked["cpu"], BATCH_CPU in asked) == ("1", False)
        assert BATCH_LABEL not in pod["metadata"]["labels"]
    assert "NoBatchRoom" in await fleet.home.fairway("story", "either")


async def test_a_driver_that_does_not_start_in_its_time_is_taken_back(fleet: IdleFleet) -> None:
    """The member's scheduler is stopped, as if there were no room any more. Its next attempt has no more time to start
    than this one: enough on a busy machine."""
    scheduler = fleet.home.planes["east"].programs["koord-scheduler"]
    scheduler.signal(signal.SIGSTOP)
    try:
        await fleet.submit("late", 1, "250m", **{"fairway.io/start-timeout": "20s", "fairway.io/reserve": "ledger"})
        await fleet.taken_back("late")
    finally:
        scheduler.signal(signal.SIGCONT)
    # What is left alone there has grown with what its idle resources fell by.
    for name in ("first", "second"):
        await fleet.home.fairway("cancel", name)
    await fleet.use(west=QUIET)
    assert await fleet.runs_in("late") == "west"
