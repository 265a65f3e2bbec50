"""The account of Fairway's services on a hub, as deploy/hub makes it and docs/joining-clusters.md hands it out."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from fairway.lab.kubereal.build import tools
from tests.kubernetes.support.fleet import Api, condition, until
from tests.kubernetes.support.own import Own
from tests.paths import ROOT

DEPLOY = ROOT / "deploy"
SCRIPT = DEPLOY / "hub" / "kubeconfig.sh"
HOME = "v1/namespaces/fairway-system"
MAY = {
    "fairway-hub": ["read jobs", "tell Events", "make jobs"],
    "fairway-gateway": ["say where the gateway is", "make queues"],
    "fairway-clusters": ["read the members' Secrets", "read what a job names"],
    "fairway": [
        "read jobs",
        "read the members' Secrets",
        "read what a job names",
        "say where the gateway is",
        "tell Events",
        "make queues",
        "make jobs",
    ],
}


def printed(kubeconfig: Path, to: Path, *more: str) -> Path:
    """What the script prints, with the kubectl of the tests."""
    path = f"{tools().program('kubectl').parent}:{os.environ['PATH']}"
    command = ["sh", str(SCRIPT), str(kubeconfig), *more]
    done = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    to.write_text(done.stdout)
    return to


@pytest.fixture
def hub(own: Own) -> Api:
    hub = own.api("ruled")
    hub.apply(*yaml.safe_load_all((DEPLOY / "hub/rights.yaml").read_text()))
    return hub


@pytest.fixture
def account(hub: Api, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Api]:
    """Of that name; without one, what the script prints by itself."""
    more = ("720h", request.param) if hasattr(request, "param") else ()
    found = Api("hub", printed(hub.kubeconfig, tmp_path / "hub.kubeconfig", *more))
    yield found
    found.http.close()


@pytest.mark.parametrize(("account", "name"), [(name, name) for name in MAY], indirect=["account"], ids=list(MAY))
def test_its_kubeconfig_has_the_rights_of_its_processes_and_no_others(account: Api, name: str) -> None:
    tries = {
        "read jobs": ("GET", "apis/batch/v1/jobs"),
        "read the members' Secrets": ("GET", f"api/{HOME}/secrets"),
        "read what a job names": ("GET", "api/v1/namespaces/default/secrets/db"),
        "say where the gateway is": ("POST", f"api/{HOME}/configmaps"),
        "tell Events": ("POST", "api/v1/namespaces/default/events"),
        "make queues": ("POST", "apis/scheduling.x-k8s.io/v1alpha1/namespaces/kube-queue/queues"),
        "make Secrets": ("POST", f"api/{HOME}/secrets"),
        "read other Secrets": ("GET", "api/v1/namespaces/kube-system/secrets"),
        "make jobs": ("POST", "apis/batch/v1/namespaces/default/jobs"),
        "make pods": ("POST", "api/v1/namespaces/default/pods"),
        "ask for another's token": ("POST", f"api/{HOME}/serviceaccounts/default/token"),
        "give rights": ("POST", "apis/rbac.authorization.k8s.io/v1/clusterrolebindings"),
    }
    # A body that no kind takes: who may is told that it is bad, and nothing is made.
    asked = {what: account.http.request(*how, json={} if how[0] == "POST" else None) for what, how in tries.items()}
    may = [what for what, answer in asked.items() if answer.status_code != 403]
    assert may == MAY[name]


@pytest.mark.parametrize("account", ["fairway-gateway"], indirect=True)
def test_it_renews_its_own_kubeconfig_and_no_others(account: Api, tmp_path: Path) -> None:
    again = Api("hub", printed(account.kubeconfig, tmp_path / "next.kubeconfig"))
    try:
        assert "user: fairway-gateway" in again.kubeconfig.read_text()
    finally:
        again.http.close()
    with pytest.raises(AssertionError, match="forbidden"):
        printed(account.kubeconfig, tmp_path / "other.kubeconfig", "720h", "fairway")


def test_what_the_script_prints_by_itself_renews_itself(account: Api, tmp_path: Path) -> None:
    before = account.kubeconfig.read_text()
    again = Api("hub", printed(account.kubeconfig, tmp_path / "next.kubeconfig"))
    try:
        assert again.items("batch/v1/jobs") is not None
    finally:
        again.http.close()
    assert again.kubeconfig.read_text() != before


def test_the_first_job_of_the_page_is_taken_by_a_hub_with_controllers_and_not_run_there(hub: Api) -> None:
    for path in sorted((DEPLOY / "crds").glob("*propagationpolicies.policy.karmada.io.yaml")):
        hub.apply(yaml.safe_load(path.read_text()))
    hub.apply(*yaml.safe_load_all((DEPLOY / "hub/managed-by.yaml").read_text()))
    space, policy, job = yaml.safe_load_all((DEPLOY / "examples/first/job.yaml").read_text())
    hub.apply(space)

    def refused() -> bool:
        bare = yaml.safe_dump({**job, "spec": {**job["spec"], "managedBy": None}})
        return "set spec.managedBy" in hub.kubectl("apply", "--dry-run=server", "-f", "-", stdin=bare, check=False)

    until(refused, "the policy is in force in the namespace of the first job")
    until(lambda: "created" in hub.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(policy), check=False), "the kind")
    hub.apply(job)
    # Another Job, that the hub does run, is how long its controller takes to see one.
    template = {"metadata": {"annotations": {"fairway.test/run-for": "100ms"}}, **job["spec"]["template"]}
    theirs = {"metadata": {"name": "theirs"}, "spec": {"template": template}}
    hub.create("batch/v1/namespaces/default/jobs", theirs)
    done = "batch/v1/namespaces/default/jobs/theirs"
    until(lambda: condition(hub.get(done), "Complete") == "True", "the hub runs its own")
    assert hub.pods("team-a") == []
