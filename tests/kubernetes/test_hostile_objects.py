"""An object that is nested so deeply that no reader follows it, on the hub or in a member: everything else goes on."""

import json

from tests.kubernetes.support.fleet import KINDS, Api, RealFleet, in_namespace, namespace, until
from tests.kubernetes.support.tries import Json, job, policy, tried

WORKFLOWS = KINDS["Workflow"]
REFUSED = "nested deeper than 64 levels"


def nested(hub: Api, where: str, name: str, levels: int, **labels: str) -> None:
    """As text: no encoder of Python's would write it. `x` says what is nested in the arguments. One of a member, which
    has labels, is suspended, so that its operator leaves it alone."""
    what: Json = job("Workflow", where, name)
    what["metadata"]["labels"] = labels
    what["spec"] |= {"suspend": bool(labels), "arguments": {"x": "NESTED"}}
    deep = '{"a":' * levels + "1" + "}" * levels
    text = json.dumps(what).replace('"NESTED"', deep)
    answer = hub.http.post(
        f"/apis/{in_namespace(WORKFLOWS, where)}", content=text, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 201, answer.text[:300]


def gone(api: Api, where: str, name: str) -> None:
    """Whoever lists the kind with Python afterwards could not read it either."""
    assert api.http.delete(f"/apis/{in_namespace(WORKFLOWS, where, name)}").status_code in (200, 202)


LEVELS = (400, 960, 1_500, 5_000)


def test_workflows_on_the_hub_that_nobody_can_read_are_refused_and_others_run(fleet: RealFleet, tenant: str) -> None:
    """Two of each depth: one in a policy's hands, one in nobody's."""
    for levels in LEVELS:
        fleet.hub.apply(policy(job("Workflow", tenant, f"deep-{levels}"), "north"))
        nested(fleet.hub, tenant, f"deep-{levels}", levels)
        nested(fleet.hub, tenant, f"waiting-{levels}", levels)
    try:
        one = tried(fleet, job("Job", tenant), "north")
        one.runs_in("north")

        def said() -> bool:
            events = fleet.hub.items(f"v1/namespaces/{tenant}/events")
            about = {one["involvedObject"]["name"] for one in events if REFUSED in one["message"]}
            return about == {f"deep-{levels}" for levels in LEVELS}

        until(said, "an Event on each object says why it is refused")
    finally:
        for levels in LEVELS:
            gone(fleet.hub, tenant, f"deep-{levels}")
            gone(fleet.hub, tenant, f"waiting-{levels}")


def test_a_workflow_of_a_member_that_nobody_can_read_hides_no_job_of_it(fleet: RealFleet, tenant: str) -> None:
    north = fleet.members["north"]
    spare = f"{tenant[:40]}-spare"
    north.create("v1/namespaces", namespace(spare))
    labels = {"fairway.io/managed": "true", "fairway.io/job": "x", "fairway.io/attempt": "1"}
    nested(north, spare, "deep", 1_500, **labels)
    try:
        one = tried(fleet, job("Workflow", tenant), "north")
        one.runs_in("north", 1)
    finally:
        gone(north, spare, "deep")
        north.delete(f"v1/namespaces/{spare}")


def test_the_hub_has_the_namespaces_that_settings_are_taken_from(fleet: RealFleet) -> None:
    found = {one["metadata"]["name"] for one in fleet.hub.items("v1/namespaces")}
    assert {"kube-system", "kube-queue"} <= found
