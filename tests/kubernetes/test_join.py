"""Real clusters join a fleet that is running, work with exactly the rights they gave, and leave it again."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from join_house import House, house

from fairway.app.rights import rights


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path) as found:
        await found.run()
        yield found


async def test_a_cluster_joins_a_running_fleet_and_whole_lives_of_jobs_need_all_its_rights_and_no_others(
    home: House,
) -> None:
    assert await home.clusters() == {}
    await home.join("north", "--labels", "gpu=none", "--kinds", "Job.batch/v1")
    row = await home.until(lambda: _reported(home, "north"), "north has reported")
    assert (row["mode"], row["labels"]) == ("push", {"gpu": "none"})

    await home.submit("short", "1s")
    assert (await home.state("short", "succeeded"))["cluster"] == "north"
    await home.submit("long", "1h")
    await home.state("long", "running")
    await home.fairway("cancel", "long")
    await home.state("long", "cancelled")
    await home.until(lambda: not home.api("north").get("batch/v1/namespaces/team-a/jobs/long"), "nothing is left")

    asked = home.asked("north")
    refused = [(one["verb"], one["requestURI"]) for one in asked if one["responseStatus"]["code"] in (401, 403)]
    assert refused == []
    used = {
        (one["objectRef"].get("apiGroup", ""), one["objectRef"]["resource"], one["verb"])
        for one in asked
        if "objectRef" in one
    }
    granted = {
        (right.group, resource, verb)
        for right in rights()
        for resource in right.resources
        for verb in right.verbs
        if right.group in ("", "batch")
    }
    # A server-side apply that makes the object asks for create without saying so in the log.
    assert granted - used == {("batch", "jobs", "create")}
    assert used - granted == set()


async def _reported(home: House, name: str) -> dict[str, object] | None:
    row = (await home.clusters()).get(name)
    return row if row and row["age"] >= 0 and row["nodes"] else None
