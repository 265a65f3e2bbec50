"""What a user of Karmada or kubectl looks at: bindings, Events and the plugin, on a real hub; and what they cost it."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairway.lab.kubereal.build import tools
from tests.kubernetes.support.fleet import RealFleet, condition, environment, until

Json = dict[str, Any]
BINDINGS = "work.karmada.io/v1alpha2/namespaces/{}/resourcebindings"
# By us on the hub: its binding when it is dispatched, runs and has ended, and an Event each. What runs within half a
# second of its dispatch costs two less.
MOST_WRITES = 6


def pytorchjob(tenant: str, name: str, run_for: str = "1s", gpus: int = 1, workers: int = 1) -> Json:
    meta = {"annotations": {"fairway.test/run-for": run_for}}
    limits = {"cpu": "1", "memory": "1Gi", **({"nvidia.com/gpu": str(gpus)} if gpus else {})}
    container = {"name": "pytorch", "image": "train:1", "command": ["train"], "resources": {"limits": limits}}
    role = {"restartPolicy": "Never", "template": {"metadata": meta, "spec": {"containers": [container]}}}
    replicas = {"Master": {**role, "replicas": 1}, **({"Worker": {**role, "replicas": workers}} if workers else {})}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name, "namespace": tenant},
        "spec": {"pytorchReplicaSpecs": replicas},
    }


def policy(tenant: str, name: str, cluster: str = "north", kind: str = "PyTorchJob") -> Json:
    selector = {"apiVersion": "kubeflow.org/v1", "kind": kind, "name": name}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": name, "namespace": tenant},
        "spec": {"resourceSelectors": [selector], "placement": {"clusterAffinity": {"clusterNames": [cluster]}}},
    }


def binding(fleet: RealFleet, tenant: str, name: str) -> Json | None:
    return fleet.hub.get(f"{BINDINGS.format(tenant)}/{name}-pytorchjob")


def bound(fleet: RealFleet, tenant: str, name: str, want: Callable[[Json], bool], what: str) -> Json:
    def look() -> Json | None:
        found = binding(fleet, tenant, name)
        return found if found and want(found) else None

    found = until(look, f"the binding of {name} {what}")
    assert found is not None
    return found


def scheduled(one: Json) -> Json:
    found: Json = next(entry for entry in one["status"]["conditions"] if entry["type"] == "Scheduled")
    return found


def health(one: Json) -> str:
    return str(next((entry.get("health", "") for entry in parts(one)), ""))


def events(fleet: RealFleet, tenant: str, name: str) -> list[Json]:
    return fleet.hub.items(f"v1/namespaces/{tenant}/events", fieldSelector=f"involvedObject.name={name}")


def told(fleet: RealFleet, tenant: str, name: str) -> list[str]:
    """The reasons of our Events, once for each time that they were told."""
    ours = [one for one in events(fleet, tenant, name) if one["source"].get("component") == "fairway"]
    return [one["reason"] for one in ours for _ in range(one.get("count", 1))]


def state(fleet: RealFleet, tenant: str, name: str, kind: str) -> bool:
    return condition(fleet.hub.job("PyTorchJob", tenant, name), kind) == "True"


def test_a_binding_says_where_the_job_is_and_how_it_stands_there_until_it_goes_with_its_job(
    fleet: RealFleet, tenant: str
) -> None:
    fleet.hub.apply(pytorchjob(tenant, "train", run_for="3s"), policy(tenant, "train"))
    running = bound(fleet, tenant, "train", lambda one: health(one) == "Healthy", "to say that it runs")
    assert running["spec"]["clusters"] == [{"name": "north", "replicas": 2}]
    assert [one["name"] for one in running["spec"]["components"]] == ["Master", "Worker"]
    assert condition(running, "Scheduled") == condition(running, "FullyApplied") == "True"
    assert condition(running, "Queuing") == "False"
    table = fleet.hub.kubectl("-n", tenant, "get", "rb", "-o", "wide").splitlines()
    assert table[1].split()[:4] == ["train-pytorchjob", "True", "True", "north"]

    def succeeded(one: Json) -> bool:
        return any(condition(part, "Succeeded") == "True" for part in parts(one))

    ended = bound(fleet, tenant, "train", succeeded, "to have the member's last status")
    assert health(ended) == "Healthy"
    # The hub has no garbage collector.
    fleet.hub.kubectl("-n", tenant, "delete", "pytorchjob", "train", "--wait=false")
    until(lambda: binding(fleet, tenant, "train") is None, "the binding to go with its job")


def test_kubectl_describe_alone_says_why_a_job_is_pending_with_the_numbers(fleet: RealFleet, tenant: str) -> None:
    fleet.hub.apply(pytorchjob(tenant, "big", gpus=8, workers=63), policy(tenant, "big"))
    waiting = bound(fleet, tenant, "big", lambda one: scheduled(one)["status"] == "False", "to wait")
    until(lambda: events(fleet, tenant, "big"), "an Event")
    described = fleet.hub.kubectl("-n", tenant, "describe", "pytorchjob", "big")
    reason = scheduled(waiting)["reason"]
    # Above them its condition Suspended says so, too, one field a line.
    told = described.partition("\nEvents:")[2]
    line = next(line for line in told.splitlines() if reason in line)
    assert "64 pods of" in line
    assert "north" in line
    assert condition(waiting, "Queuing") == "True"
    assert "64 pods of" in scheduled(waiting)["message"]


def test_a_waiting_job_is_told_each_reason_once_however_often_it_is_looked_at(fleet: RealFleet, tenant: str) -> None:
    fleet.hub.apply(pytorchjob(tenant, "big", gpus=8, workers=63), policy(tenant, "big"))
    bound(fleet, tenant, "big", lambda one: scheduled(one)["status"] == "False", "to wait")
    for name in ("first", "second"):  # what ends makes room, for which those that wait are looked at again
        fleet.hub.apply(pytorchjob(tenant, name, run_for="100ms"), policy(tenant, name))
        until(lambda name=name: state(fleet, tenant, name, "Succeeded"), f"{name} to succeed")
        until(lambda name=name: "Succeeded" in told(fleet, tenant, name), f"{name} to be told so")
    again = told(fleet, tenant, "big")
    assert again
    assert sorted(set(again)) == sorted(again)


def test_a_job_without_a_policy_says_so_until_it_has_one(fleet: RealFleet, tenant: str) -> None:
    fleet.hub.apply(pytorchjob(tenant, "train"))
    lacks = bound(fleet, tenant, "train", lambda one: scheduled(one)["reason"] == "NoPolicy", "to lack a policy")
    assert condition(lacks, "Queuing") == "True"
    assert "apply a PropagationPolicy" in scheduled(lacks)["message"]
    fleet.hub.apply(policy(tenant, "train"))
    bound(fleet, tenant, "train", lambda one: scheduled(one)["status"] == "True", "to be scheduled")


def test_a_job_whose_queue_is_not_there_says_so_until_it_names_another_or_none(fleet: RealFleet, tenant: str) -> None:
    lost = pytorchjob(tenant, "train")
    lost["metadata"]["annotations"] = {"kube-queue/queue-name": "no-such-queue"}
    fleet.hub.apply(lost, policy(tenant, "train"))
    waits = bound(fleet, tenant, "train", lambda one: scheduled(one)["reason"] == "UnknownQueue", "to lack its queue")
    assert "no-such-queue" in scheduled(waits)["message"]
    assert condition(waits, "Queuing") == "True"
    fleet.hub.apply(pytorchjob(tenant, "train"))
    until(lambda: state(fleet, tenant, "train", "Succeeded"), "the job to succeed")


def test_a_job_whose_policy_names_no_cluster_of_the_fleet_waits_until_it_names_one(
    fleet: RealFleet, tenant: str
) -> None:
    fleet.hub.apply(pytorchjob(tenant, "train"), policy(tenant, "train", cluster="nowhere"))
    waits = bound(fleet, tenant, "train", lambda one: scheduled(one)["reason"] == "UnknownCluster", "to wait for it")
    assert "nowhere, which is not in the fleet" in scheduled(waits)["message"]
    assert condition(waits, "Queuing") == "True"
    fleet.hub.apply(policy(tenant, "train"))
    until(lambda: state(fleet, tenant, "train", "Succeeded"), "the job to succeed")


def test_a_refused_job_that_is_corrected_by_kubectl_runs(fleet: RealFleet, tenant: str) -> None:
    unsafe = pytorchjob(tenant, "train")
    unsafe["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["hostNetwork"] = True
    fleet.hub.apply(unsafe, policy(tenant, "train"))
    refused = bound(fleet, tenant, "train", lambda one: scheduled(one)["reason"] == "UnsafePod", "to be refused")
    assert "hostNetwork" in scheduled(refused)["message"]
    fleet.hub.apply(pytorchjob(tenant, "train"))
    until(lambda: state(fleet, tenant, "train", "Succeeded"), "the corrected job to succeed")
    fleet.hub.kubectl("-n", tenant, "delete", "pytorchjob", "train", "--wait=false")
    until(lambda: fleet.where("PyTorchJob", tenant, "train") == [], "nothing to be left of it in a member")


def test_a_whole_life_costs_the_hub_few_writes_of_ours(fleet: RealFleet, tenant: str) -> None:
    fleet.hub.apply(pytorchjob(tenant, "train", run_for="3s"), policy(tenant, "train"))
    writes = watched(fleet, tenant, lambda one: any(condition(part, "Succeeded") == "True" for part in parts(one)))
    until(lambda: "Succeeded" in told(fleet, tenant, "train"), "the last Event")
    reasons = told(fleet, tenant, "train")
    assert sorted(set(reasons)) == sorted(reasons)
    # On a machine so busy that a second passes between two steps, each of these says where the job is.
    waited = {"Queued", "Placed"} & set(reasons)
    assert len(reasons) + writes <= MOST_WRITES + 2 * len(waited), (reasons, writes)


def parts(binding: Json) -> list[Json]:
    found: list[Json] = binding["status"]["aggregatedStatus"]
    return found


def watched(fleet: RealFleet, tenant: str, last: Callable[[Json], bool]) -> int:
    """How often the tenant's only binding was written, up to the change that `last` is true of."""
    path = f"/apis/{BINDINGS.format(tenant)}"
    query = {"watch": "1", "timeoutSeconds": "30", "resourceVersion": "0"}
    count = 0
    # An API server that has only just heard of a kind refuses to watch it from its cache (429).
    until(lambda: fleet.hub.http.get(path, params={"resourceVersion": "0"}).is_success, "the hub serves bindings")
    with fleet.hub.http.stream("GET", path, params=query, timeout=40) as answer:
        answer.raise_for_status()
        for line in answer.iter_lines():
            count += 1
            if last(json.loads(line)["object"]):
                return count
    raise AssertionError("the binding was not written to its end")


@pytest.fixture
def plugin(tmp_path: Path) -> dict[str, str]:
    """An environment in which kubectl finds `kubectl-fairway` on the PATH, and itself."""
    script = tmp_path / "kubectl-fairway"
    script.write_text(f"#!{sys.executable}\nfrom fairway.cli.main import main\nmain()\n")
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    found = environment()
    path = os.pathsep.join((str(tmp_path), str(tools().program("kubectl").parent), found["PATH"]))
    return {**found, "PATH": path, "HOME": str(tmp_path)}


def asked(plugin: dict[str, str], home: Path, *args: str) -> str:
    done = subprocess.run(
        ["kubectl", "fairway", *args], env=plugin, cwd=home, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_kubectl_fairway_finds_the_fleet_through_the_hub_and_explains_a_job(
    fleet: RealFleet, tenant: str, plugin: dict[str, str], tmp_path: Path
) -> None:
    fleet.hub.apply(pytorchjob(tenant, "big", gpus=8, workers=63), policy(tenant, "big"))
    bound(fleet, tenant, "big", lambda one: scheduled(one)["status"] == "False", "to wait")
    hub = f"--kubeconfig={fleet.hub.kubeconfig}"
    why = asked(plugin, tmp_path, "why", "pytorchjob/big", "-n", tenant, hub)
    assert f"PyTorchJob {tenant}/big waits" in why
    story = asked({**plugin, "KUBECONFIG": str(fleet.hub.kubeconfig)}, tmp_path, "story", "big", "-n", tenant)
    assert "Admitted: PyTorchJob" in story
    waiting = asked(plugin, tmp_path, "queue", hub)
    assert f"{tenant}/big" in waiting
    assert "64 pods of" in waiting
    # Without -n it is the namespace of kubectl's context, as everywhere in kubectl.
    assert f"{tenant} " not in asked(plugin, tmp_path, "get", "jobs", hub)
    assert f"{tenant} " in asked(plugin, tmp_path, "get", "jobs", "-A", hub)
    assert "north" in asked(plugin, tmp_path, "clusters", hub)
    assert "kubectl fairway" in asked(plugin, tmp_path, "--help")
