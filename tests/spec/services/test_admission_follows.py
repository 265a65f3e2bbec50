"""admission: whose policy it is decides whether the job follows its changes."""

import msgspec
import pytest
from test_admission_decide import catalog, policy, submitted, view

from fairway.wire import jobs as wire
from fairway.wire.spec import JobSpec

OF_THE_HUB = ("PropagationPolicy", "all", policy())


# It names the job, and goes before the hub's.
named = policy("own")
named["spec"]["resourceSelectors"][0]["name"] = "train"


def spec(policies: tuple[dict[str, object], ...], hub: wire.HubRef | None = None) -> JobSpec:
    raw = tuple(msgspec.Raw(msgspec.json.encode(one)) for one in policies)
    heard = submitted(policies=raw, hub=hub)
    found = view(heard, catalog(OF_THE_HUB)).understood[heard.id].spec
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("policies", "hub", "want"),
    [
        pytest.param((), None, True, id="the hub's own"),
        pytest.param((policy(),), wire.HubRef("u-1", "jobs"), True, id="a copy of the hub's, with its object"),
        pytest.param((policy(),), None, True, id="the same words came along under its name: it is the hub's"),
        pytest.param((named,), None, False, id="one that came along and that the hub does not have"),
    ],
)
def test_a_job_follows_the_hubs_policy_and_not_its_own(
    policies: tuple[dict[str, object], ...], hub: wire.HubRef | None, want: bool
) -> None:
    assert spec(policies, hub).follows is want
