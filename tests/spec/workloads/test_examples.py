"""Every example under deploy/examples is accepted, and its policy is the one that decides for it."""

from pathlib import Path
from typing import Any

import pytest

from fairway.cli.manifests import TEMPLATE, Document
from fairway.cli.templates import written_out
from fairway.domain.queue_policy import QueuePolicy
from fairway.domain.quota.tree import ever_fits, leaf_of
from fairway.wire.policy import Policy
from fairway.workloads.gangs.pods import GANG
from fairway.workloads.kinds import registry
from fairway.workloads.kinds.generic import load_generic
from fairway.workloads.member_copy import member_copy
from fairway.workloads.reading.parse import parse_documents
from fairway.workloads.settings.policies import is_policy, read_policy, select
from fairway.workloads.settings.queues import read_queue
from fairway.workloads.settings.quota_trees import read_quota_tree
from tests.paths import ROOT

EXAMPLES = ROOT / "deploy" / "examples"
SETTINGS = ("tenants", "queues", "priorityclasses", "tenantprofiles")
FILES = [file for file in sorted(EXAMPLES.glob("*.yaml")) if file.stem not in SETTINGS]
DECLARED = [load_generic(file.read_bytes()) for file in sorted((EXAMPLES / "kinds").glob("*.yaml"))]
KINDS = {**registry.KINDS, **{kind.key: kind for kind in DECLARED}}
TREE = read_quota_tree(parse_documents((EXAMPLES / "tenants.yaml").read_bytes())[0])
POLICIES = [read_policy(one) for file in FILES for one in parse_documents(file.read_bytes()) if is_policy(one)]


def jobs(file: Path) -> list[dict[str, Any]]:
    """With what they refer to in them."""
    documents = [Document(str(file), one) for one in parse_documents(file.read_bytes()) if not is_policy(one)]
    return [one.manifest for one in written_out(documents) if one.role != TEMPLATE]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_example_is_accepted_with_one_policy_and_a_quota(file: Path) -> None:
    (manifest,) = jobs(file)
    workload = registry.read(manifest, KINDS)
    assert isinstance(select(POLICIES, manifest), Policy)
    path = leaf_of(TREE, workload.namespace, {})
    assert path
    for pods in workload.pod_sets:
        assert pods.requests
        assert ever_fits(path, {name: amount * pods.count for name, amount in pods.requests.items()}) is None
    if GANG not in manifest:  # whose pods are several objects in a member
        assert registry.read(without_ours(member_copy(manifest, "j", 1, KINDS)), KINDS) == workload


def without_ours(value: Any) -> Any:
    """The copy as if somebody submitted it again without our labels."""
    if isinstance(value, dict):
        return {key: without_ours(one) for key, one in value.items() if not key.startswith("fairway.io/")}
    return [without_ours(one) for one in value] if isinstance(value, list) else value


def test_every_kind_that_has_its_own_operator_has_an_example() -> None:
    shown = {f"{one['kind']}.{one['apiVersion']}" for file in FILES for one in jobs(file)}
    assert shown >= {
        "PyTorchJob.kubeflow.org/v1",
        "TFJob.kubeflow.org/v1",
        "MPIJob.kubeflow.org/v2beta1",
        "SparkApplication.sparkoperator.k8s.io/v1beta2",
        "Job.batch.volcano.sh/v1alpha1",
        "Workflow.argoproj.io/v1alpha1",
        "Job.batch/v1",
        "JobSet.jobset.x-k8s.io/v1alpha2",
        "TrainJob.trainer.kubeflow.org/v1alpha1",
        "AppWrapper.workload.codeflare.dev/v1beta2",
        "RayJob.ray.io/v1",
        "RayCluster.ray.io/v1",
        "LeaderWorkerSet.leaderworkerset.x-k8s.io/v1",
    }


def test_the_two_queues_behave_differently() -> None:
    queues = [read_queue(one) for one in parse_documents((EXAMPLES / "queues.yaml").read_bytes())]
    assert {queue.policy for queue in queues} == set(QueuePolicy)
