"""No pod of a member copy gets a token of its service account, unless its tenant was given that right."""

from typing import Any

import pytest

from fairway.workloads.kinds import registry
from fairway.workloads.member_copy import Terms, member_copy
from tests.cases.good_jobs import batch_job, kubeflow, ray_job, spark, volcano_job, workflow
from tests.cases.hostile_pods import SITES, reach
from tests.cases.pod_rules import but

MOUNT = "automountServiceAccountToken"
TEMPLATED = [site for site in SITES if site.fields is None and site.kind not in ("SparkApplication",)]


def copied(job: dict[str, Any], tokens: bool = False) -> dict[str, Any]:
    return member_copy(job, "j-1", 1, terms=Terms(tokens=tokens))["spec"]  # type: ignore[no-any-return]  # it is JSON


@pytest.mark.parametrize("site", TEMPLATED, ids=lambda site: f"{site.kind} {site.role}")
def test_every_pod_template_says_that_no_token_is_mounted(site: Any) -> None:
    spec = reach({"spec": copied(site.job())}, (*site.path, "spec"))
    needs = (site.kind, site.role) == ("MPIJob", "Launcher")
    assert spec.get(MOUNT) is (None if needs else False)
    assert MOUNT not in str(copied(site.job(), tokens=True))


def test_what_a_manifest_says_itself_stays() -> None:
    job = but(batch_job(), f"spec.template.spec.{MOUNT}", False)
    assert copied(job, tokens=True)["template"]["spec"][MOUNT] is False
    job["spec"]["template"]["spec"][MOUNT] = True
    assert copied(job, tokens=True)["template"]["spec"][MOUNT] is True


def test_a_driver_and_a_workflow_run_as_the_account_of_their_operators_chart() -> None:
    """Neither works without a token: the driver makes its executors, Argo's executor tells what came of a step."""
    for role in ("driver", "executor"):
        assert copied(spark())[role]["serviceAccount"] == "spark-operator-spark"
    assert copied(workflow())["serviceAccountName"] == "argo-workflow"
    assert "serviceAccount" not in str(copied(spark(), tokens=True))
    assert "serviceAccount" not in str(copied(workflow(), tokens=True))


def test_an_account_that_is_named_stays() -> None:
    assert copied(but(spark(), "spec.driver.serviceAccount", "mine"))["driver"]["serviceAccount"] == "mine"
    assert copied(but(workflow(), "spec.serviceAccountName", "mine"))["serviceAccountName"] == "mine"
    some = copied(but(workflow(), "spec.templates.0.serviceAccountName", "mine"))
    assert some["templates"][0]["serviceAccountName"] == "mine"


def test_a_head_that_scales_its_cluster_has_the_token_that_its_operator_makes_for_it() -> None:
    spec = copied(but(ray_job(), "spec.rayClusterSpec.enableInTreeAutoscaling", True))
    assert MOUNT not in spec["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    assert spec["rayClusterSpec"]["workerGroupSpecs"][0]["template"]["spec"][MOUNT] is False


def test_the_launcher_of_the_first_mpi_operator_enters_its_workers_as_an_account_of_its_own_job() -> None:
    roles = copied(kubeflow("MPIJob", "mpi", "Launcher", "Worker")())["mpiReplicaSpecs"]
    assert (roles["Launcher"]["template"]["spec"].get(MOUNT), roles["Worker"]["template"]["spec"][MOUNT]) == (
        None,
        False,
    )


def test_an_administrator_says_what_the_charts_accounts_are_called() -> None:
    before = registry.KINDS["Workflow.argoproj.io/v1alpha1"].account
    try:
        registry.run_as("Workflow", "pipelines")
        assert copied(workflow())["serviceAccountName"] == "pipelines"
        assert registry.read(but(workflow(), "spec.serviceAccountName", "pipelines")).pods == 1
    finally:
        registry.run_as("Workflow", before)
    with pytest.raises(KeyError):
        registry.run_as("Job", "pipelines")
    assert "serviceAccount" not in str(copied(volcano_job()))
