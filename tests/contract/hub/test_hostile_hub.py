"""What a tenant puts on the hub holds up nobody else, and is refused where other doors would."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from fairway.admission.understand import understand
from fairway.runtime.views.settings import Catalog
from fairway.wire import jobs as wire
from tests.support.simulated_hub import PP, House, opened

WORKFLOW = "Workflow.argoproj.io/v1alpha1"


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        yield one


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(("levels", "taken"), [(50, True), (70, False), (400, False)])
async def test_a_job_of_the_hub_has_no_more_levels_than_one_of_another_door(
    house: House, levels: int, taken: bool
) -> None:
    selects = [{"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "name": "deep"}]
    await house.apply(PP, "deep", resourceSelectors=selects)
    container = {"name": "main", "container": {"image": "x", "resources": {"requests": {"cpu": "1"}}}}
    await house.apply(WORKFLOW, "deep", entrypoint="main", templates=[container], arguments={"x": nested(levels)})
    (said,) = await house.said(wire.Submitted)
    found = understand(said, "", 1, Catalog())
    deep = [one.text for one in found.reasons if "nested deeper than 64 levels" in one.text]
    assert deep == ([] if taken else ["the manifest is nested deeper than 64 levels"])
    await house.job("other")
    await house.policy("other")
    await house.said(wire.Submitted, 2)
