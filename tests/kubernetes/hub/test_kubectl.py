"""What plain kubectl prints on the hub of jobs that wait, run and end there, and of policies."""

from typing import Any

import yaml

from tests.kubernetes.hub.objects import Applied, all_of, applied, sent_to
from tests.kubernetes.support.fleet import RealFleet
from tests.kubernetes.support.manifests import EXAMPLES
from tests.kubernetes.support.tries import job, policy

Json = dict[str, Any]
POLICY = "PropagationPolicy"


def printed_state(one: Applied) -> str:
    """The second column."""
    table = one.fleet.hub.kubectl("get", f"{one.plain.lower()}s", one.name, "-n", one.namespace, "--no-headers")
    return table.split()[1]


def test_get_jobs_shows_suspended_while_a_job_waits_then_running_and_complete(fleet: RealFleet, tenant: str) -> None:
    table = {}
    for kind in ("Job", "PyTorchJob"):
        table[kind] = sent_to(fleet, job(kind, tenant, kind.lower(), run_for="3s"), "nowhere")
    all_of(table, lambda one: printed_state(one) == "Suspended", "it is printed as suspended")
    header = fleet.hub.kubectl("get", "jobs", "-n", tenant).splitlines()[0]
    assert header.split() == ["NAME", "STATUS", "COMPLETIONS", "DURATION", "AGE"]
    for one in table.values():
        fleet.hub.apply(policy(one.on_hub, "north"))
    all_of(table, lambda one: printed_state(one) == "Running", "it is printed as running")
    ends = {"Job": "Complete", "PyTorchJob": "Succeeded"}
    all_of(table, lambda one: printed_state(one) == ends[one.kind], "it is printed as what it came to")


def test_get_jobs_shows_suspended_for_what_is_held(fleet: RealFleet, tenant: str) -> None:
    """No policy selects them: they have no job of Fairway's yet."""
    held = {kind: applied(fleet, job(kind, tenant, kind.lower(), run_for="1s")) for kind in ("Job", "PyTorchJob")}
    all_of(held, lambda one: printed_state(one) == "Suspended", "it is printed as suspended")
    for one in held.values():
        (said,) = one.on_hub["status"]["conditions"]
        assert (said["reason"], said["status"]) == ("NoPolicy", "True")
        fleet.hub.apply(policy(one.on_hub, "north"))
    ends = {"Job": "Complete", "PyTorchJob": "Succeeded"}
    all_of(held, lambda one: printed_state(one) == ends[one.kind], "it is printed as what it came to")


def test_get_propagationpolicy_finds_the_policies_of_every_example(fleet: RealFleet, tenant: str) -> None:
    documents = (one for path in sorted(EXAMPLES.glob("*.yaml")) for one in yaml.safe_load_all(path.read_text()))
    policies: list[Json] = [one for one in documents if one and one["kind"] == POLICY]
    for one in policies:
        one["metadata"]["namespace"] = tenant
        for selector in one["spec"]["resourceSelectors"]:
            selector.pop("namespace", None)
    fleet.hub.apply(*policies)
    names = {one["metadata"]["name"] for one in policies}
    listed = fleet.hub.kubectl("get", "propagationpolicy", "-n", tenant, "-o", "name").split()
    assert {line.rpartition("/")[2] for line in listed} == names and len(names) > 5
    assert all(line.startswith("propagationpolicy.policy.karmada.io/") for line in listed)
