"""A node that is not ready: its room is offered to nobody, and who ran there is called back and goes on elsewhere."""

import json
from collections.abc import Iterator

import pytest

from tests.kubernetes.support.fleet import Api, RealFleet, condition, until
from tests.kubernetes.support.pool import Pool
from tests.kubernetes.support.tries import in_pool, job, tried

KEPT = "fairway.test/status"
UNKNOWN = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "said by hand"}


class Node:
    """A node of the test's own."""

    def __init__(self, api: Api, tenant: str) -> None:
        self.api = api
        self.pool = Pool(api, tenant, 1)
        self.pool.open()
        (self.name,) = self.pool.nodes

    def ready(self) -> bool:
        return condition(self.api.get(f"v1/nodes/{self.name}"), "Ready") == "True"

    def falter(self) -> None:
        """As the node controller says it of a kubelet that has not been heard of. Only its pods still are: kwok plays
        them on."""
        self.api.patch(f"v1/nodes/{self.name}", {"metadata": {"annotations": {KEPT: "kept"}}})
        self.api.patch(f"v1/nodes/{self.name}/status", {"status": {"conditions": [UNKNOWN]}})

    def recover(self) -> None:
        self.api.patch(f"v1/nodes/{self.name}", {"metadata": {"annotations": {KEPT: None}}})
        until(self.ready, f"{self.name} is ready again")


@pytest.fixture
def nodes(fleet: RealFleet, tenant: str) -> Iterator[dict[str, Node]]:
    """Of north. One of west is added when a job runs in north: else the job goes there if west reports sooner."""
    made = {"north": Node(fleet.members["north"], tenant)}
    yield made
    for node in made.values():
        node.pool.close()


def test_the_room_of_a_node_that_is_not_ready_is_offered_to_nobody_and_why_says_so(
    fleet: RealFleet, tenant: str, nodes: dict[str, Node]
) -> None:
    nodes["north"].falter()
    one = tried(fleet, in_pool(nodes["north"].pool), "north")

    def why() -> str:
        return json.dumps(fleet.explained("why", tenant, "try"))

    said = "closed now (not ready, cordoned or under pressure): 1 of its matching nodes"
    until(lambda: said in why(), "why names the node that is closed")
    assert fleet.where(one.kind, tenant, one.name) == []
    nodes["north"].recover()
    one.runs_in("north", 2)


def test_a_job_whose_node_stays_away_is_called_back_and_goes_on_elsewhere(
    fleet: RealFleet, tenant: str, nodes: dict[str, Node]
) -> None:
    """The fleet of the tests gives a node eight seconds (FAIRWAY_NODE_GRACE)."""
    one = tried(fleet, in_pool(nodes["north"].pool), "north", "west")
    one.runs_in("north", 2)
    nodes["west"] = Node(fleet.members["west"], tenant)
    nodes["north"].falter()
    until(lambda: "NodeLost" in one.story(), "its attempt is over", 60)
    assert f"on {nodes['north'].name} in north, which has not been ready" in one.story()
    one.runs_in("west", 2, seconds=120)
    one.is_gone_from("north")
    found = fleet.members["west"].job(one.kind, tenant, one.name)
    assert found is not None
    assert found["metadata"]["labels"]["fairway.io/attempt"] == "2"


def test_a_job_whose_node_comes_back_in_time_stays_where_it_is(
    fleet: RealFleet, tenant: str, nodes: dict[str, Node]
) -> None:
    one = tried(fleet, in_pool(nodes["north"].pool), "north", "west")
    one.runs_in("north", 2)
    nodes["west"] = Node(fleet.members["west"], tenant)
    before = {pod["metadata"]["uid"] for pod in fleet.members["north"].pods(tenant)}
    nodes["north"].falter()
    until(lambda: not nodes["north"].ready(), "the node is away")
    nodes["north"].recover()
    other = tried(fleet, job("Job", tenant, "after", run_for="15s"), "north")
    until(lambda: other.phase() == "Complete", "longer than a node is given", 90)
    assert {pod["metadata"]["uid"] for pod in fleet.members["north"].pods(tenant)} >= before
    assert "NodeLost" not in one.story()
