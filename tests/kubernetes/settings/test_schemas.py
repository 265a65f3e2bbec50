"""The hub's definitions and Fairway's readers agree: over every policy, tree and queue that there is."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
import yaml

from fairway.wire.reasons import Refused
from fairway.workloads.hub.objects import SETTINGS
from fairway.workloads.settings.policies import read_policy
from fairway.workloads.settings.queues import read_queue
from fairway.workloads.settings.quota_trees import MOST_CHILDREN, MOST_NAMED, read_quota_tree
from fairway.workloads.settings.tenant_profiles import read_tenant_profile
from tests.kubernetes.settings.profile_cases import PROFILES
from tests.kubernetes.support.fleet import Api, RealFleet
from tests.kubernetes.support.own_hub import path_of
from tests.paths import ROOT
from tests.spec.workloads.builders import with_at
from tests.spec.workloads.settings.cases import (
    BAD_QUEUES,
    BAD_TREES,
    CHANGES_WHERE,
    FULL,
    JOB,
    ORGANISATION,
    QUEUES,
    TWO_WAYS,
    node,
    policy,
    queue,
    tree,
)

Json = dict[str, Any]
DEFINED = {kind for kind in SETTINGS if not kind.startswith("PriorityClass.")}
# What a schema cannot see beside annotations: labels, unknown fields, the namespace, what is far apart or deep.
ONLY_FAIRWAY = {
    "a typing error",
    "another namespace",
    "root/b/a has the name of root/a",
    "root has the name of",
    "root/b already in root/a",
    "an unknown policy on a queue's label",
    "a child above its parent four levels down",
    "a misspelt resource",
    "a part of a device",
    "a tree too deep",
    "a profile with a misspelt bound",
}


def examples() -> Iterator[tuple[str, Json]]:
    for path in sorted((ROOT / "deploy").glob("*/**/*.yaml")):
        for index, one in enumerate(yaml.safe_load_all(path.read_text())):
            if isinstance(one, dict) and f"{one.get('kind')}.{one.get('apiVersion')}" in DEFINED:
                yield f"{path.relative_to(ROOT)} {index}", one


def placed(**placement: Any) -> Json:
    return policy(placement=placement)


def nested(levels: int, **deepest: Any) -> Json:
    inner = node(f"n{levels}", **deepest)
    for level in range(levels - 1, 0, -1):
        inner = node(f"n{level}", max={"cpu": 4}, children=[inner])
    return tree(inner, max={"cpu": 4})


def selecting(**labels: Any) -> Json:
    return placed(clusterAffinity={"labelSelector": {"matchExpressions": [labels]}})


IN = {"key": "gpu", "operator": "In", "values": ["a100"]}
HERE = {"key": "gpu", "operator": "Exists"}
MORE: dict[str, Json] = {
    "the smallest policy": policy(),
    "a cluster-wide policy": policy(wide=True),
    "clusters by label": selecting(**IN),
    "clusters by the presence of a label": selecting(**HERE),
    "In without values": selecting(key="gpu", operator="In"),
    "Exists with values": selecting(**{**IN, "operator": "Exists"}),
    "an operator that compares numbers": selecting(key="gpu", operator="Gt", values=["1"]),
    "a toleration of everything": placed(clusterTolerations=[{"operator": "Exists"}]),
    "a toleration of nothing": placed(clusterTolerations=[{"value": "x"}]),
    "a toleration with a value too many": placed(clusterTolerations=[{"key": "a", "operator": "Exists", "value": "x"}]),
    "a toleration of an unknown effect": placed(clusterTolerations=[{"key": "a", "effect": "Never"}]),
    "spread by label": placed(spreadConstraints=[{"spreadByLabel": "zone"}]),
    "divided and aggregated": placed(
        replicaScheduling={"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}
    ),
    "an empty replica scheduling": placed(replicaScheduling={}),
    "a gang of copies": placed(
        replicaScheduling={"replicaSchedulingType": "Duplicated", "customSchedulingType": "Gang"}
    ),
    "an unknown custom type": placed(replicaScheduling={"customSchedulingType": "Herd"}),
    "an excluded cluster that is none": placed(clusterAffinity={"exclude": ["No!"]}),
    "a selector in no namespace": policy(resourceSelectors=[{**JOB, "namespace": "No!"}]),
    "fields of Karmada that change nothing": policy(
        association=True,
        conflictResolution="Overwrite",
        preemption="Always",
        activationPreference="Lazy",
        schedulerName="default-scheduler",
        dependentOverrides=["a"],
        preserveResourcesOnDeletion=False,
    ),
    "dispatching held": policy(suspension={"dispatching": True}),
    "dispatching not held": policy(suspension={"dispatching": False, "scheduling": True}),
    "more than a week of toleration": policy(
        failover={"application": {"decisionConditions": {"tolerationSeconds": 604_801}}}
    ),
    "a priority beyond 32 bits": policy(priority=2**31),
    "too many tiers": placed(clusterAffinities=[{"affinityName": f"t{n}"} for n in range(51)]),
    "many tiers": placed(clusterAffinities=[{"affinityName": f"t{n}"} for n in range(50)]),
    "a tree of nobody": tree(),
    "no tree": {**tree(), "spec": {"root": {}}},
    "quantities of every shape": tree(
        max={"cpu": "1500m", "memory": "1.5Gi", "storage": "1e3", "a.b/c": "+3", "x": ".5", "y": 7, "z": "5."}
    ),
    "a negative amount": tree(max={"cpu": "-1"}),
    "a word for an amount": tree(max={"cpu": "much"}),
    "an amount between spaces": tree(max={"cpu": " 1 "}),
    "a part of a device": tree(max={"nvidia.com/gpu": "500m"}),
    "a misspelt resource": tree(max={"nvidia.com/gpu/": 1}),
    "children of one name": tree(node("a"), node("a")),
    "a child without a name": tree({"max": {"cpu": 1}}),
    "a namespace twice in a leaf": tree(node("a", namespaces=["x", "x"])),
    "amounts written differently": tree(node("a", max={"memory": "1024Mi"}), max={"memory": "1Gi"}),
    "a child of no limit below a limit": tree(node("a", max={"cpu": 2147483647}), max={"cpu": 4}),
    "three levels down, above its max": nested(2, min={"cpu": 5}, max={"cpu": 4}),
    "a grandchild above its parent": nested(2, max={"cpu": 9}),
    "a child above its parent four levels down": nested(4, max={"cpu": 9}),
    "a deep tree": nested(19),
    "a tree too deep": nested(60),
    "a broad tree": tree(*(node(f"n{n}") for n in range(MOST_CHILDREN))),
    "a tree too broad": tree(*(node(f"n{n}") for n in range(MOST_CHILDREN + 1))),
    "many resources": tree(max={f"r{n}": n for n in range(MOST_NAMED)}),
    "too many resources": tree(max={f"r{n}": n for n in range(MOST_NAMED + 1)}),
    "mins that add up exactly": tree(
        *(node(f"n{n}", 1, min={"cpu": "100m"}) for n in range(10)), min={"cpu": 1}, max={"cpu": 1}
    ),
    "an unknown policy on a queue's label": queue({}, labels={"kube-queue/queue-policy": "Fair"}),
    "an unknown policy beside a known label": queue(
        {"queuePolicy": "Fair"}, labels={"kube-queue/queue-policy": "Block"}
    ),
    "a queue of a long name": queue({}, name="q" * 64),
    "a queue open to a namespace": queue({}, annotations={"fairway.io/allow-namespaces": "team-a"}),
    "a queue without a spec": {key: value for key, value in queue({}).items() if key != "spec"},
}
CASES: dict[str, Json] = {
    **dict(examples()),
    **MORE,
    **PROFILES,
    "a full policy": FULL,
    "a full policy of the other group": {**FULL, "apiVersion": "policy.one.alibabacloud.com/v1alpha1"},
    "an organisation": ORGANISATION,
    "two ways to name clusters": TWO_WAYS,
    **{name: with_at(policy(), path, value) for name, path, value, _ in CHANGES_WHERE},
    **{f"{path} {says}": one for one, path, says in BAD_TREES},
    **{f"queue {number}": one for number, (one, _) in enumerate(QUEUES)},
    **{f"bad queue {field}": one for one, field in BAD_QUEUES},
}


def reader(manifest: Json) -> Callable[[Json], object]:
    readers = {"ElasticQuotaTree": read_quota_tree, "Queue": read_queue, "TenantProfile": read_tenant_profile}
    return readers.get(manifest["kind"], read_policy)


def read_ok(manifest: Json) -> str:
    """Empty when the reader takes it, else its reasons."""
    try:
        reader(manifest)(manifest)
    except Refused as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def hub(fleet: RealFleet) -> Api:
    """The shared one: what is only tried disturbs nobody."""
    for namespace in sorted({manifest["metadata"].get("namespace", "default") for manifest in CASES.values()}):
        fleet.hub.http.post("/api/v1/namespaces", json={"metadata": {"name": namespace}})
    return fleet.hub


def tried(hub: Api, manifest: Json) -> httpx.Response:
    """The server's answer to the object, which is not kept."""
    path = "/apis/" + path_of(manifest)
    return hub.http.post(path, params={"dryRun": "All"}, json=copy.deepcopy(manifest))


@pytest.mark.parametrize("name", CASES)
def test_the_server_takes_what_the_reader_takes_and_refuses_what_a_schema_can_see(hub: Api, name: str) -> None:
    manifest = CASES[name]
    if f"{manifest['kind']}.{manifest['apiVersion']}" not in DEFINED:
        assert read_ok(manifest)  # the hub serves no such kind
        return
    answer = tried(hub, manifest)
    read = read_ok(manifest)
    if answer.is_success:
        unseen = name in ONLY_FAIRWAY or read.startswith("metadata.annotations")
        assert bool(read) == unseen, f"the server takes it, the reader says: {read or 'nothing'}"
    else:
        assert answer.status_code == 422, answer.text
        assert name not in ONLY_FAIRWAY
        assert read, f"the reader takes it, the server says: {answer.json()['message']}"


@pytest.mark.parametrize(
    ("manifest", "says"),
    [
        pytest.param(BAD_TREES[0][0], 'spec.root.children[0]: Invalid value: "object": min is above max', id="tree"),
        pytest.param(BAD_TREES[1][0], "children have a max above the max of this node; lower it there", id="parent"),
        pytest.param(BAD_TREES[2][0], "children have mins that add up to more than the min", id="sum"),
        pytest.param(policy(resourceSelectors=[]), "spec.resourceSelectors is empty", id="no selectors"),
        pytest.param(TWO_WAYS, 'spec.placement: Invalid value: "object": clusterAffinities stands', id="two ways"),
        pytest.param(queue({"queuePolicy": "Fair"}), 'spec.queuePolicy: Unsupported value: "Fair"', id="queue"),
        pytest.param(MORE["Exists with values"], "Exists and DoesNotExist take none", id="expression"),
    ],
)
def test_a_refusal_names_the_field_and_the_remedy(hub: Api, manifest: Json, says: str) -> None:
    assert says in " ".join(tried(hub, manifest).json()["message"].split())


def test_what_only_fairway_sees_is_kept_for_it_to_see(hub: Api) -> None:
    """A typing error that the server dropped would widen the policy, and nobody would know."""
    typed = CASES["a typing error"]
    assert tried(hub, typed).json()["spec"]["placement"] == {"clusterAfinity": {"clusterNames": ["north"]}}
