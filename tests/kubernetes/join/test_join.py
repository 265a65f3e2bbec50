"""Real clusters join a fleet that is running, go on through what becomes of their credentials, and leave it again."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from fairway.lab.kubereal.build import tools
from fairway.lab.kubereal.crds import define
from tests.kubernetes.support.join_fleet import House, house

pytestmark = pytest.mark.asyncio(loop_scope="module")
FOR_BATCH = (
    "scheduling.k8s.io/v1/priorityclasses/fairway-batch",
    "config.koordinator.sh/v1alpha1/clustercolocationprofiles/fairway-batch",
)
ENDED = ("succeeded", "failed", "cancelled", "rejected")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with house(tmp_path_factory.mktemp("join")) as found:
        for name in ("north", "south"):
            await define(found.planes[name], ("koordinator",), tools())
        await found.run()
        yield found


@pytest_asyncio.fixture(loop_scope="module")
async def home(fleet: House) -> AsyncIterator[House]:
    """Nobody has joined. Afterwards every job is cancelled, and every member leaves."""
    yield fleet
    for name, row in (await fleet.jobs()).items():
        if row["state"] not in ENDED:
            await fleet.fairway("cancel", name)
            await fleet.state(name, "cancelled")
    for name in await fleet.clusters():
        await fleet.fairway("leave", name)
        await fleet.until(lambda name=name: _gone(fleet, name), f"{name} is forgotten")


async def test_a_job_waits_for_a_member_by_name_and_runs_when_it_joins(home: House) -> None:
    await home.join("north")
    await home.until(lambda: _reported(home, "north"), "north has reported")
    await home.submit("there", "1s", "south")
    await home.until(lambda: _lacks(home, "there", "UnknownCluster"), "it is said that south is not there")
    said = await home.fairway("why", "there")
    assert "The policy names south, which is not in the fleet." in said
    assert "  - Cluster south joins the fleet.\n" in said
    await home.join("south")
    assert (await home.state("there", "succeeded"))["cluster"] == "south"


async def test_a_member_goes_on_with_new_credentials_when_the_old_ones_end_and_nobody_starts_anything_anew(
    home: House,
) -> None:
    await home.join("north")
    await home.until(lambda: _reported(home, "north"), "north has reported")
    await home.submit("before", "1h", "north")
    await home.state("before", "running")

    # The account is made anew: every token of the former one is worthless at once.
    home.api("north").delete("v1/namespaces/fairway-system/serviceaccounts/fairway-member")
    old = home.token("north")
    await home.until(lambda: home.as_fairway("north", "GET", "/api/v1/nodes") == 401, "the token is refused")
    await home.submit("after", "1s", "north")
    await home.join("north")
    assert home.token("north") != old
    assert (await home.state("after", "succeeded"))["cluster"] == "north"

    await home.renew_certificate("north")
    await home.submit("last", "1s", "north")
    await home.join("north")
    assert (await home.state("last", "succeeded"))["cluster"] == "north"
    assert (await home.jobs())["before"]["state"] == "running"
    assert (await home.jobs())["before"]["attempt"] == 1


async def test_a_cluster_with_jobs_does_not_leave_before_they_have_ended_or_moved(home: House) -> None:
    await home.join("north")
    await home.join("south")
    await home.until(lambda: _reported(home, "north"), "north has reported")
    await home.until(lambda: _reported(home, "south"), "south has reported")
    await home.submit("here", "1h", "north", "south")
    first = (await home.state("here", "running"))["cluster"]
    other = {"north": "south", "south": "north"}[first]
    assert all(home.api(first).get(path) for path in FOR_BATCH)
    assert "team-a/here (running)" in await home.fairway("leave", first, code=4)
    assert (await home.clusters())[first]["cordoned"] is False

    admin = ("--kubeconfig", str(home.planes[first].kubeconfig), "--allow-loopback")
    said = await home.fairway("leave", first, "--drain", "--move", *admin)
    assert f"{first} has left the fleet" in said
    moved = (await home.jobs())["here"]
    assert (moved["cluster"], moved["attempt"]) == (other, 2)
    assert home.api(first).get("batch/v1/namespaces/team-a/jobs/here") is None
    await home.until(lambda: _gone(home, first), f"{first} is forgotten")
    assert home.api(first).get("v1/namespaces/fairway-system/serviceaccounts/fairway-member") is None
    assert home.api(first).get("rbac.authorization.k8s.io/v1/clusterroles/fairway-member") is None
    assert [home.api(first).get(path) for path in FOR_BATCH] == [None, None]
    # It may come again, and who waits for it goes there.
    await home.submit("waits", "1s", first)
    await home.until(lambda: _lacks(home, "waits", "UnknownCluster"), f"it is said that {first} is not there")
    assert f"{first}, which is not in the fleet" in await home.fairway("why", "waits")
    await home.until(lambda: not _going(home, first), "its namespace is gone there, or stays")
    await home.join(first)
    assert (await home.state("waits", "succeeded"))["cluster"] == first


async def test_a_member_in_pull_mode_is_reached_by_nobody_and_does_all_the_others_do(home: House) -> None:
    begun = len(home.asked("north"))
    await home.join("north", "--mode", "pull", "--labels", "site=far")
    secret = home.api("hub").get("v1/namespaces/fairway-system/secrets/fairway-cluster-north")
    assert secret is not None and set(secret["data"]) == {"facts.json"}
    beside = await home.beside("north")
    await home.until(lambda: _reported(home, "north"), "north has reported")
    row = (await home.clusters())["north"]
    assert (row["mode"], row["labels"]) == ("pull", {"site": "far"})
    await home.submit("short", "1s")
    assert (await home.state("short", "succeeded"))["cluster"] == "north"

    # What happens while that process is away is known when it is back.
    await home.submit("long", "1h")
    await home.state("long", "running")
    await beside.kill()
    home.api("north").delete("batch/v1/namespaces/team-a/jobs/long", propagationPolicy="Background")
    await home.submit("waits", "1s")
    beside = await home.beside("north")
    assert (await home.state("waits", "succeeded"))["cluster"] == "north"
    vanished = await home.until(lambda: _again(home, "long"), "long is to be tried again")
    assert "an attempt failed there" in vanished["text"]
    await home.fairway("cancel", "long")
    await home.state("long", "cancelled")

    assert _refused_for_good(home.asked("north")[begun:]) == []
    await home.fairway("leave", "north")
    await home.until(lambda: _gone(home, "north"), "north is forgotten")
    await beside.stop()


def _going(home: House, name: str) -> bool:
    """The tenant's namespace is on its way out, and takes no job."""
    found = home.api(name).get("v1/namespaces/team-a")
    return found is not None and "deletionTimestamp" in found["metadata"]


async def _lacks(home: House, name: str, reason: str) -> bool:
    row = (await home.jobs())[name]
    return bool(row["state"] == "queued" and row["reason"] == reason)


async def _again(home: House, name: str) -> dict[str, Any] | None:
    row = (await home.jobs())[name]
    return row if (row["state"], row["attempt"], row["reason"]) == ("queued", 2, "WaitingForRoom") else None


async def _reported(home: House, name: str) -> bool:
    row = (await home.clusters()).get(name)
    return bool(row and row["age"] >= 0 and row["nodes"] and not row["stale"])


async def _gone(home: House, name: str) -> bool:
    return name not in await home.clusters()


def _refused_for_good(asked: list[dict[str, Any]]) -> list[str]:
    """What it may not do. An API server needs a moment until it heeds a RoleBinding that was just made: what is asked
    again and done was not refused."""
    done = {(one["verb"], one["requestURI"]) for one in asked if one["responseStatus"]["code"] < 300}
    refused = [one for one in asked if one["responseStatus"]["code"] in (401, 403)]
    return [one["requestURI"] for one in refused if (one["verb"], one["requestURI"]) not in done]
