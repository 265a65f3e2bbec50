"""Every example under deploy/examples is accepted, and its policy is the one that decides for it."""

from pathlib import Path
from typing import Any

import pytest

from fairway.cli.manifests import TEMPLATE, Document
from fairway.cli.templates import written_out
from fairway.domain.batch_resources import batch_pod_sets
from fairway.domain.queue_policy import QueuePolicy
from fairway.domain.quota.tree import ever_fits, leaf_of
from fairway.wire.policy import Policy
from fairway.workloads.companions.apart import apart
from fairway.workloads.companions.named import named
from fairway.workloads.gangs.pods import GANG
from fairway.workloads.hub.objects import cleaned
from fairway.workloads.kinds import registry
from fairway.workloads.kinds.generic import load_generic
from fairway.workloads.member_copy import Terms, member_copy
from fairway.workloads.reading.parse import parse_documents
from fairway.workloads.schedules.registry import SCHEDULES
from fairway.workloads.schedules.schedule import stamp
from fairway.workloads.settings.policies import is_policy, read_policy, select
from fairway.workloads.settings.queues import read_queue
from fairway.workloads.settings.quota_trees import read_quota_tree
from fairway.workloads.settings.volcano_queues import KIND as VOLCANO_QUEUE
from fairway.workloads.settings.volcano_queues import read_volcano_queue
from tests.paths import ROOT

EXAMPLES = ROOT / "deploy" / "examples"
SETTINGS = ("tenants", "queues", "priorityclasses", "tenantprofiles")
HUB = sorted((EXAMPLES / "hub").glob("*.yaml"))
FILES = [*(file for file in sorted(EXAMPLES.glob("*.yaml")) if file.stem not in SETTINGS), *HUB]
DECLARED = [load_generic(file.read_bytes()) for file in sorted((EXAMPLES / "kinds").glob("*.yaml"))]
KINDS = {**registry.KINDS, **{kind.key: kind for kind in DECLARED}}
TREE = read_quota_tree(parse_documents((EXAMPLES / "tenants.yaml").read_bytes())[0])
POLICIES = [read_policy(one) for file in FILES for one in parse_documents(file.read_bytes()) if is_policy(one)]


def jobs(file: Path) -> list[dict[str, Any]]:
    """With what they refer to in them; of a schedule its next run, as the hub would show it."""
    documents = [Document(str(file), one) for one in parse_documents(file.read_bytes()) if not is_policy(one)]
    found = [one for one in written_out(documents) if one.role != TEMPLATE and not apart(one.manifest)]
    return [run_of(one) for one in found if one.key != VOLCANO_QUEUE]


def run_of(one: Document) -> dict[str, Any]:
    schedule = SCHEDULES.get(one.key)
    if schedule is None:
        return one.manifest
    made = {**one.manifest, "metadata": {**one.manifest["metadata"], "uid": "u", "creationTimestamp": stamp(0)}}
    at = schedule.read(made).next(0)
    assert at is not None
    return cleaned(schedule.run_of(made, at))


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
        copy = member_copy(manifest, "j", 1, KINDS, Terms(batch=batch_pod_sets(workload)))
        assert registry.read(without_ours(copy), KINDS) == workload


def without_ours(value: Any) -> Any:
    """The copy as if somebody submitted it again without our labels."""
    if isinstance(value, dict):
        return {key: without_ours(one) for key, one in value.items() if not key.startswith("fairway.io/")}
    return [without_ours(one) for one in value] if isinstance(value, list) else value


def test_every_kind_has_an_example_but_those_that_are_written_as_another_is() -> None:
    shown = {f"{one['kind']}.{one['apiVersion']}" for file in FILES for one in jobs(file)}
    without = {"MPIJob.kubeflow.org/v1", *(f"{name}.kubeflow.org/v1" for name in ("XGBoostJob", "PaddleJob", "MXJob"))}
    assert set(registry.KINDS) - shown == without


def test_what_is_applied_on_the_hub_alone_is_in_a_folder_of_its_own() -> None:
    """Else fairway submit would refuse a file of the examples."""
    for file in FILES:
        documents = [Document(str(file), one) for one in parse_documents(file.read_bytes())]
        there = [one for one in documents if apart(one.manifest) or one.key in (VOLCANO_QUEUE, *SCHEDULES)]
        assert bool(there) is (file in HUB), file


def test_what_goes_along_is_what_the_job_and_its_policy_name() -> None:
    documents = parse_documents((EXAMPLES / "hub/companions.yaml").read_bytes())
    (job,) = jobs(EXAMPLES / "hub/companions.yaml")
    (policy,) = [read_policy(one) for one in documents if is_policy(one)]
    said = {str(one) for one in named(job, registry.KINDS["Job.batch/v1"])}
    said |= {f"{one.kind} {one.name}" for one in policy.companions}
    assert said == {f"{one['kind']} {one['metadata']['name']}" for one in documents if apart(one)}


def test_the_queue_of_volcano_is_the_one_that_its_job_names() -> None:
    queue, job, _ = parse_documents((EXAMPLES / "hub/volcanoqueue.yaml").read_bytes())
    found = read_volcano_queue(queue)
    assert (found.name, job["metadata"]["namespace"] in found.allows) == (job["spec"]["queue"], True)


def test_the_two_queues_behave_differently() -> None:
    queues = [read_queue(one) for one in parse_documents((EXAMPLES / "queues.yaml").read_bytes())]
    assert {queue.policy for queue in queues} == set(QueuePolicy)
