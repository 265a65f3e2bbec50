"""The pods that real operators make of a job are those that its reader derives: what is looked at before a job is
admitted is what runs. What an operator puts beside that is named here, kind by kind.

Not compared is `nodeName`, which the scheduler has written by then. Not here is the MPIJob of v2beta1, which is
mpi-operator's: that is not built here (kubereal/sources/modules). It is read as the other kubeflow.org kinds are.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from fairway.cli.manifests import Document
from fairway.cli.templates import written_out
from fairway.domain.resources import Resources
from fairway.workloads.kinds.registry import read_unchecked
from fairway.workloads.member_copy import PLACEHOLDER_LABEL, POD_SET_LABEL, member_copy
from fairway.workloads.reading.fields import Field, Problems
from fairway.workloads.reading.pods import read_pod, read_requests
from tests.cases.derived_pods import derived
from tests.cases.pod_flaws import CONTEXT
from tests.kubernetes.support.fleet import Json, RealFleet, until
from tests.kubernetes.support.manifests import EXAMPLES_OF_KINDS, Example, example

# Containers that operators add to pods, by the kind's name. They are the members' administrators' own.
ADDED = {
    "PyTorchJob": {"init-pytorch"},
    "AppWrapper": {"init-pytorch"},
    "MPIJob": {"kubectl-delivery"},
    "Workflow": {"init", "wait"},
    "RayJob": {"wait-gcs-ready"},
    "RayCluster": {"wait-gcs-ready"},
}
# Accounts that pods may have beside the one of their manifest: what training-operator makes for this one launcher, and
# what the fleet says that Argo's pods run as (FAIRWAY_OPERATOR_ACCOUNTS).
ACCOUNTS = {"MPIJob": "mpijob-launcher", "Workflow": "default"}
# Containers whose size stands elsewhere than in their template: in resourcesPerNode.
RESIZED = {"TrainJob": {"node"}}
# Of which not every pod is there at once: charged are as many as may be (spec/workloads/workflow).
IN_WAVES = ("Workflow",)
# What a member writes as the scheduler of its pods: training-operator and Volcano there, and a policy of the member.
SCHEDULERS = {"south": "volcano", "west": "koord-scheduler"}
# What an API server writes where nothing is said, and the tolerations that it adds to every pod.
_ACCOUNT = "default"
_SCHEDULER = "default-scheduler"
_SERVERS_OWN = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}
_TAINT = {"key": "example.org/dedicated", "operator": "Equal", "value": "team", "effect": "NoSchedule"}
_VOLUME = {"name": "scratch", "emptyDir": {"sizeLimit": "1Gi"}}
_OF_POD: Json = {"runAsUser": 1007, "fsGroup": 7, "seccompProfile": {"type": "RuntimeDefault"}}
_OF_SPEC = ("hostNetwork", "hostPID", "hostIPC", "runtimeClassName", "automountServiceAccountToken")
# spark-submit is played here and the operator's webhook is not there, so that neither brings a securityContext.
HARDENED = [case for case in EXAMPLES_OF_KINDS if case.kind != "SparkApplication"]


def hardened(value: Any) -> Any:
    """Every pod of a job with a securityContext that nobody would make by chance."""
    if isinstance(value, list):
        return [hardened(one) for one in value]
    if not isinstance(value, dict):
        return value
    made = {key: hardened(one) for key, one in value.items()}
    if "containers" in made:
        made["securityContext"] = _OF_POD
        made["containers"] = [{**one, "securityContext": CONTEXT} for one in made["containers"]]
        made |= {"tolerations": [_TAINT], "volumes": [_VOLUME]}
    if "entrypoint" in made and "templates" in made:  # a workflow's
        made |= {"securityContext": _OF_POD, "tolerations": [_TAINT], "volumes": [_VOLUME]}
    if isinstance(made.get("container"), dict):
        # Argo gives a pod those volumes alone that its containers mount.
        mounts = [{"name": _VOLUME["name"], "mountPath": "/scratch"}]
        made["container"] = {**made["container"], "securityContext": CONTEXT, "volumeMounts": mounts}
    return made


def containers(pod: Json) -> dict[str, Any]:
    """What each container may do, by its name."""
    listed = [*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]]
    return {
        one["name"]: (one.get("securityContext"), [port.get("hostPort", 0) for port in one.get("ports") or ()])
        for one in listed
    }


def requests(pod: Json) -> dict[str, Resources]:
    """What each container requests, by its name."""
    listed = [*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]]
    return {one["name"]: read_requests(Field(one.get("resources") or {}, Problems())) for one in listed}


def sizes(pods: list[Json]) -> dict[str, list[Resources]]:
    """What each pod requests, by the pod set of which it says that it is. What only holds room is no pod of the job."""
    found: dict[str, list[Resources]] = {}
    for one in pods:
        labels = one["metadata"].get("labels") or {}
        if PLACEHOLDER_LABEL not in labels and "deletionTimestamp" not in one["metadata"]:
            found.setdefault(labels.get(POD_SET_LABEL, ""), []).append(read_pod(Field(one["spec"], Problems())))
    return found


def charged(manifest: Json) -> dict[str, list[Resources]]:
    """The same as the job's reader has it."""
    return {one.name: [one.requests] * one.count for one in read_unchecked(manifest).pod_sets}


def volumes(pod: Json) -> dict[str, set[str]]:
    """What kind each volume is of, by its name."""
    return {one["name"]: one.keys() - {"name"} for one in pod["spec"].get("volumes") or ()}


def named(pod: Json) -> Json:
    """What it names of the cluster."""
    spec = pod["spec"]
    return {
        "account": spec.get("serviceAccountName") or _ACCOUNT,
        "class": spec.get("priorityClassName") or "",
        "scheduler": spec.get("schedulerName") or _SCHEDULER,
        "tolerations": [one for one in spec.get("tolerations") or () if one.get("key") not in _SERVERS_OWN],
        **{name: spec.get(name) for name in _OF_SPEC},
        "securityContext": spec.get("securityContext") or {},
    }


def differences(real: Json, ours: Json, case: Example) -> Json:
    """Of two pods: what is not the same, as both say it. The real one has more names, and what its operator adds."""
    mine = containers(ours)
    theirs = containers(real)
    added = ADDED.get(case.kind, set())
    given = {"account": ACCOUNTS.get(case.kind), "scheduler": SCHEDULERS.get(case.cluster)}
    found: Json = {name: (one[0], theirs[name][0]) for name, one in mine.items() if name in theirs}
    found = {name: both for name, both in found.items() if both[0] != both[1]}
    sized = requests(real)
    for name in requests(ours).keys() & sized.keys() - RESIZED.get(case.kind, set()):
        if requests(ours)[name] != sized[name]:
            found[f"requests of {name}"] = (requests(ours)[name], sized[name])
    if more := theirs.keys() - mine.keys() - added:
        found["containers"] = more
    if ports := {name: taken for name, (_, taken) in theirs.items() if any(taken)}:
        found["ports"] = ports
    for name, (one, other) in {name: (one, named(real)[name]) for name, one in named(ours).items()}.items():
        if one != other and (other is None or other != given.get(name)):
            found[name] = (one, other)
    kinds = volumes(real)
    if lost := {name for name, kind in volumes(ours).items() if kinds.get(name) != kind}:
        found["volumes"] = lost
    if paths := {name for name, kind in kinds.items() if "hostPath" in kind and name not in volumes(ours)}:
        found["paths"] = paths
    return found


@pytest.mark.parametrize("case", HARDENED, ids=[f"{one.kind} in {one.cluster}" for one in HARDENED])
@pytest.mark.usefixtures("classes")
def test_operators_make_the_pods_that_were_looked_at(fleet: RealFleet, tenant: str, case: Example) -> None:
    *objects, policy = example(case.file, tenant, case.cluster, run_for="10s")
    objects = hardened(objects)
    *_, whole = written_out([Document(case.file, one) for one in objects])
    expected = derived(member_copy(whole.manifest, "j", 1))
    fleet.hub.apply(*objects, policy)
    seen: dict[str, Json] = {}

    until(partial(_looked, fleet.members[case.cluster], tenant, seen, expected), f"a pod of each role of {case.kind}")

    strange = {name: [differences(one, ours, case) for ours in expected] for name, one in seen.items()}
    assert {name: found for name, found in strange.items() if all(found)} == {}
    if case.kind not in IN_WAVES:
        _all_are_there(partial(fleet.members[case.cluster].pods, tenant), charged(whole.manifest))


def _looked(member: Any, tenant: str, seen: dict[str, Json], expected: list[Json]) -> bool:
    """Whether there has been a pod with the containers of each pod that is expected."""
    seen |= {one["metadata"]["name"]: one for one in member.pods(tenant)}
    found = [containers(one).keys() for one in seen.values()]
    return len(seen) > 0 and all(any(containers(one).keys() <= names for names in found) for one in expected)


def _all_are_there(pods: Callable[[], list[Json]], wanted: dict[str, list[Resources]]) -> None:
    """So many of each pod set, of that size: operators make some of them later than others."""
    there: dict[str, list[Resources]] = {}

    def look() -> bool:
        there.clear()
        there.update(sizes(pods()))
        return there == wanted

    with suppress(AssertionError):  # the next line shows what differs
        until(look, "the pods of every pod set")
    assert there == wanted
