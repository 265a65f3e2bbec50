"""Settings: a field that is known and that nothing acts on is taken, and named."""

from typing import Any

import pytest

from fairway.workloads.hub.objects import hub_object
from fairway.workloads.settings.field_effects import said_of, unknown_fields, warnings, without_effect
from fairway.workloads.settings.policies import GROUPS
from tests.spec.workloads.settings.cases import PROFILE, node, policy, queue, tree, volcano_queue

Json = dict[str, Any]
TAKEN_BY_ALL = "spec.activationPreference (a change of the policy reaches the jobs that wait at once)"
IN_VAIN: dict[str, tuple[Json, list[str]]] = {
    "a plain policy": (policy(placement={"clusterAffinity": {"clusterNames": ["c1"]}}), []),
    "what Karmada's server fills in": (
        policy(
            conflictResolution="Abort",
            preemption="Never",
            schedulerName="default-scheduler",
            priority=0,
            propagateDeps=False,
            placement={"replicaScheduling": {"replicaSchedulingType": "Divided", "customSchedulingType": "Gang"}},
        ),
        [],
    ),
    "a policy with all of it": (
        policy(
            preemption="Always",
            conflictResolution="Overwrite",
            activationPreference="Lazy",
            schedulerName="mine",
            schedulePriority={"priorityClassSource": "KubePriorityClass"},
            dependentOverrides=["x"],
            suspension={"scheduling": False},
        ),
        [
            "spec.preemption",
            "spec.conflictResolution",
            "spec.activationPreference",
            "spec.schedulerName",
            "spec.schedulePriority",
            "spec.dependentOverrides",
            "spec.suspension.scheduling",
        ],
    ),
    "failover": (
        policy(
            failover={
                "cluster": {"purgeMode": "Directly"},
                "application": {
                    "purgeMode": "Graciously",
                    "gracePeriodSeconds": 60,
                    "statePreservation": {"rules": [{"jsonPath": "{.x}"}]},
                    "decisionConditions": {"tolerationSeconds": 30},
                },
            }
        ),
        [
            "spec.failover.cluster",
            "spec.failover.application.purgeMode",
            "spec.failover.application.gracePeriodSeconds",
            "spec.failover.application.statePreservation",
        ],
    ),
    "weights beside a gang": (
        policy(
            placement={
                "clusterTolerations": [{"key": "drain", "operator": "Exists", "tolerationSeconds": 5}],
                "replicaScheduling": {
                    "customSchedulingType": "Gang",
                    "replicaDivisionPreference": "Weighted",
                    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
                },
            }
        ),
        [
            "spec.placement.clusterTolerations[0].tolerationSeconds",
            "spec.placement.replicaScheduling.replicaDivisionPreference",
            "spec.placement.replicaScheduling.weightPreference",
        ],
    ),
    "the attributes of a tree": (
        tree(
            node(
                "a",
                attributes={
                    "alibabacloud.com/lendlimit": "{}",
                    "preempt-policy": "Never",
                    "resourceflavors": "x",
                    "fairway.io/max-pending": "5",
                    "fairway.io/weight": "3",
                    "quota.scheduling.koordinator.sh/shared-weight": '{"cpu": "40"}',
                    "cost": "a",
                },
            )
        ),
        [
            "spec.root.children[0].attributes.resourceflavors",
            "spec.root.children[0].attributes['quota.scheduling.koordinator.sh/shared-weight']",
            "spec.root.children[0].attributes.cost",
        ],
    ),
    "a weight of Koordinator that is a number": (
        tree(node("a", attributes={"quota.scheduling.koordinator.sh/shared-weight": "3"})),
        [],
    ),
    "a weight of Koordinator that is no weight here": (
        tree(node("a", attributes={"quota.scheduling.koordinator.sh/shared-weight": "1000001"})),
        ["spec.root.children[0].attributes['quota.scheduling.koordinator.sh/shared-weight']"],
    ),
    "what a root lends and weighs": (
        tree(
            min={"cpu": 4},
            max={"cpu": 4},
            attributes={
                "alibabacloud.com/lendlimit": '{"cpu": 1}',
                "fairway.io/weight": "2",
                "quota.scheduling.koordinator.sh/shared-weight": "2",
                "fairway.io/order": "share",
                "preempt-policy": "Never",
            },
        ),
        [
            "spec.root.attributes['alibabacloud.com/lendlimit']",
            "spec.root.attributes['fairway.io/weight']",
            "spec.root.attributes['quota.scheduling.koordinator.sh/shared-weight']",
        ],
    ),
    "a queue with a class": (queue({"priorityClassName": "high"}), []),
    "a root of another name": ({**tree(), "spec": {"root": {"name": "all"}}}, ["spec.root.name"]),
    "a queue with a class and checks": (
        queue({"queuePolicy": "Block", "priority": 5, "priorityClassName": "high", "admissionChecks": [{"name": "x"}]}),
        ["spec.priorityClassName", "spec.admissionChecks"],
    ),
    "a queue with the words of its product": (
        queue(
            {},
            labels={"koord-queue/queue-policy": "Block", "create-by-kubequeue": "false"},
            annotations={
                "kube-queue/quota-fullname": "root/a",
                "kube-queue/wait-for-pods-running": "true",
                "koord-queue/max-depth": "10",
                "koord-queue/enable-queueunit-preemption": "true",
                "kube-queue/queue-args": "x: y",
                "note": "mine",
            },
        ),
        [
            "metadata.labels['koord-queue/queue-policy']",
            "metadata.annotations['kube-queue/wait-for-pods-running']",
            "metadata.annotations['koord-queue/max-depth']",
            "metadata.annotations['koord-queue/enable-queueunit-preemption']",
            "metadata.annotations['kube-queue/queue-args']",
        ],
    ),
    "a queue of Volcano as its webhook fills it in": (
        volcano_queue({"weight": 1, "reclaimable": True, "parent": "root", "priority": 5}),
        [],
    ),
    "a queue of Volcano with all of it": (
        volcano_queue(
            {
                "weight": 4,
                "deserved": {"cpu": 1},
                "guarantee": {"resource": {"cpu": 1}},
                "capability": {"cpu": 8},
                "parent": "above",
                "extendClusters": [{"name": "c"}],
                "ofALaterVersion": "x",
            },
            annotations={"volcano.sh/hierarchy": "root/a", "fairway.io/allow-namespaces": "team-a"},
        ),
        [
            "metadata.annotations['volcano.sh/hierarchy']",
            "spec.weight",
            "spec.deserved",
            "spec.guarantee",
            "spec.capability",
            "spec.parent",
            "spec.extendClusters",
            "spec.ofALaterVersion",
        ],
    ),
    "a profile": (PROFILE, []),
}


@pytest.mark.parametrize(("manifest", "fields"), IN_VAIN.values(), ids=list(IN_VAIN))
def test_what_has_no_effect_is_named_and_taken(manifest: Json, fields: list[str]) -> None:
    assert [one.field for one in without_effect(manifest)] == fields
    assert unknown_fields(manifest) == ()
    assert hub_object(f"{manifest['kind']}.{manifest['apiVersion']}", manifest).understood[1] == ()


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("wide", [False, True], ids=["namespaced", "cluster-wide"])
def test_policies_of_both_groups_and_kinds_say_the_same(group: str, wide: bool) -> None:
    one = {**policy(wide=wide, activationPreference="Lazy"), "apiVersion": group}
    assert said_of(one) == f"; without effect: {TAKEN_BY_ALL}"
    assert warnings(one) == (f"without effect: {TAKEN_BY_ALL}",)


def test_the_same_on_many_nodes_of_a_tree_is_one_sentence() -> None:
    marks = {"attributes": {"resourceflavors": "x", "cost": "a"}}
    (flavors, cost) = without_effect(tree(node("a", **marks), node("b", **marks)))
    assert (cost.field, cost.more) == ("spec.root.children[0].attributes.cost", 1)
    assert str(flavors).startswith("spec.root.children[0].attributes.resourceflavors and 1 more (")


def test_of_very_many_the_first_are_named() -> None:
    said = said_of(tree(node("a", attributes={f"x{number}": "y" for number in range(100)})))
    assert said.endswith("; and 80 more")
    assert len(said) < 3_000


def test_of_no_setting_there_is_nothing_to_say() -> None:
    assert (said_of({"kind": "Job", "apiVersion": "batch/v1", "x": 1}), unknown_fields({"x": 1})) == ("", ())
