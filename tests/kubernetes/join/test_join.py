"""Real clusters join a fleet that is running, go on through what becomes of their credentials, and leave it again."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.kubernetes.support.join_fleet import House, house


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path, ("north",)) as found:
        await found.run()
        yield found


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[House]:
    """With a second cluster, south."""
    async with house(tmp_path) as found:
        await found.run()
        yield found


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


async def test_a_cluster_with_jobs_does_not_leave_before_they_have_ended_or_moved(two: House) -> None:
    await two.join("north")
    await two.join("south")
    await two.until(lambda: _reported(two, "north"), "north has reported")
    await two.until(lambda: _reported(two, "south"), "south has reported")
    await two.submit("here", "1h", "north", "south")
    first = (await two.state("here", "running"))["cluster"]
    other = {"north": "south", "south": "north"}[first]
    assert "team-a/here (running)" in await two.fairway("leave", first, code=4)
    assert (await two.clusters())[first]["cordoned"] is False

    admin = ("--kubeconfig", str(two.planes[first].kubeconfig), "--allow-loopback")
    said = await two.fairway("leave", first, "--drain", "--move", *admin)
    assert f"{first} has left the fleet" in said
    moved = (await two.jobs())["here"]
    assert (moved["cluster"], moved["attempt"]) == (other, 2)
    assert not two.api(first).items("batch/v1/namespaces/team-a/jobs")
    await two.until(lambda: _gone(two, first), f"{first} is forgotten")
    assert two.api(first).get("v1/namespaces/fairway-system/serviceaccounts/fairway-member") is None
    assert two.api(first).get("rbac.authorization.k8s.io/v1/clusterroles/fairway-member") is None
    assert "UnknownCluster" in await two.submit("nowhere", "1s", first, code=4)
    # It may come again.
    await two.join(first)
    await two.until(lambda: _reported(two, first), f"{first} has reported again")


async def test_a_member_in_pull_mode_is_reached_by_nobody_and_does_all_the_others_do(home: House) -> None:
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
    await home.beside("north")
    assert (await home.state("waits", "succeeded"))["cluster"] == "north"
    vanished = await home.until(lambda: _again(home, "long"), "long is to be tried again")
    assert "an attempt failed there" in vanished["text"]
    await home.fairway("cancel", "long")
    await home.state("long", "cancelled")

    asked = home.asked("north")
    assert _refused_for_good(asked) == []
    await home.fairway("leave", "north")
    await home.until(lambda: _gone(home, "north"), "north is forgotten")


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
