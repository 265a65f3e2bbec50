"""Pods that name a PodGroup, as their owner applies them: they wait for it, and their member has one that its own
scheduler reads."""

import pytest

from tests.kubernetes.support.fleet import RealFleet, condition, until
from tests.kubernetes.support.tries import Json
from tests.kubernetes.test_gangs_of_pods import NAMES, all_are, pod, rules
from tests.spec.builders.gangs_of_pods import COSCHEDULING, VOLCANO, pod_group

VOLCANOS = "scheduling.volcano.sh/v1beta1"
KOORDINATORS = "scheduling.sigs.k8s.io/v1alpha1"
# The mark, the version of its PodGroup, the member whose scheduler reads it, and who that is.
KINDS = {
    "Volcano": (VOLCANO, VOLCANOS, "south", "volcano"),
    "Koordinator": (COSCHEDULING, KOORDINATORS, "west", "koord-scheduler"),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def profile(fleet: RealFleet, tenant: str) -> None:
    """The tenant may name these schedulers."""
    where = "fairway.io/v1alpha1/tenantprofiles"
    schedulers = [scheduler for *_, scheduler in KINDS.values()]
    head = {"apiVersion": "fairway.io/v1alpha1", "kind": "TenantProfile", "metadata": {"name": tenant}}
    fleet.hub.create(where, {**head, "spec": {"namespaces": [tenant], "schedulers": schedulers}})
    until(lambda: condition(fleet.hub.get(f"{where}/{tenant}"), "Ready") == "True", "its schedulers are allowed")


def group(tenant: str, version: str) -> Json:
    made = pod_group(version)
    return {**made, "metadata": {"name": "g", "namespace": tenant}}


def pods(tenant: str, kind: str) -> list[Json]:
    marks, _, _, scheduler = KINDS[kind]
    made = [pod(tenant, name, marks if "annotations" in marks else {**marks, "annotations": {}}) for name in NAMES]
    return [{**one, "spec": {**one["spec"], "schedulerName": scheduler}} for one in made]


@every_kind
@pytest.mark.usefixtures("profile")
def test_they_wait_for_it_run_with_one_that_the_members_scheduler_reads_and_take_it_along(
    fleet: RealFleet, tenant: str, kind: str
) -> None:
    _, version, cluster, scheduler = KINDS[kind]
    member = fleet.members[cluster]
    fleet.hub.apply(rules(tenant, cluster), *pods(tenant, kind))
    waits = "UnknownTemplate: there is no PodGroup g"
    for name in NAMES:
        until(lambda name=name: waits in fleet.hub.kubectl("get", "pod", name, "-n", tenant, "-o", "yaml"), "it waits")
    assert member.pods(tenant) == []

    fleet.hub.apply(group(tenant, version))
    all_are(member, tenant, "Running")
    all_are(fleet.hub, tenant, "Running")
    assert {one["spec"]["schedulerName"] for one in member.pods(tenant)} == {scheduler}
    groups = f"{version}/namespaces/{tenant}/podgroups"
    (there,) = member.items(groups)
    assert there["spec"]["minMember"] == 3
    if kind == "Volcano":  # whose scheduler counts in its status the pods that name it
        until(lambda: member.items(groups)[0].get("status", {}).get("running") == 3, "its scheduler knows all of them")

    fleet.hub.kubectl("delete", "pods", "--all", "-n", tenant, "--timeout=10s")
    until(lambda: not member.pods(tenant) and not member.items(groups), "nothing is left of it in its member")


def test_where_a_member_does_not_know_its_kind_they_start_together_all_the_same(fleet: RealFleet, tenant: str) -> None:
    marked = [pod(tenant, name, VOLCANO) for name in NAMES]
    fleet.hub.apply(rules(tenant, "west"), group(tenant, VOLCANOS), *marked)
    all_are(fleet.members["west"], tenant, "Running")
    assert fleet.members["west"].get(f"{VOLCANOS}/namespaces/{tenant}/podgroups") is None


def test_with_other_pods_than_it_says_none_starts_and_with_as_many_they_do(fleet: RealFleet, tenant: str) -> None:
    made = group(tenant, VOLCANOS)
    made["spec"] = {"minMember": 2, "minTaskMember": {"a": 1}}
    fleet.hub.apply(rules(tenant, "south"), made, *(pod(tenant, name, VOLCANO) for name in NAMES))

    def says(text: str) -> bool:
        return all(
            text
            in fleet.hub.kubectl("get", "pod", name, "-n", tenant, "-o", "jsonpath={.status.conditions[*].message}")
            for name in NAMES
        )

    until(lambda: says("minTaskMember"), "each names the field that is not done")
    fleet.hub.apply({**made, "spec": {"minMember": 2}})
    until(lambda: says("3 pods say that they are of gang g, and that it has 2"), "each says how many there are")
    fleet.hub.apply({**made, "spec": {"minMember": 3}})
    all_are(fleet.members["south"], tenant, "Running")
