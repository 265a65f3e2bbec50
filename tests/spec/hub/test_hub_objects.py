"""What of an object of the hub is passed on, what makes it news, and what is wrong with it."""

from dataclasses import dataclass
from typing import Any

import pytest

from fairway.domain.submission import Asked, cancellation, submission
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason
from fairway.workloads.hub.ends import ended
from fairway.workloads.hub.objects import (
    SETTINGS,
    HubObject,
    cleaned,
    configured,
    hub_object,
    leaving,
    not_taken,
    of_hub,
    only_named,
    owned,
    problems_of,
    withdrawn,
)
from tests.spec.hub.hub_objects import CLASS, CPP, JOB, PP, PROFILE, QUEUE, TREE, job, policy, thing, tree

HTTP = Actor("ada", "http", "r-1")

APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def test_only_what_its_owner_wrote_is_passed_on() -> None:
    noisy = thing(
        JOB,
        "train",
        metadata={
            "managedFields": [{}],
            "resourceVersion": "7",
            "generation": 2,
            "finalizers": ["x"],
            "annotations": {APPLIED: "{}", "mine": "1"},
            "labels": {"team": "a"},
        },
        spec={"parallelism": 2},
        status={"active": 1},
    )
    assert cleaned(noisy) == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "spec": {"parallelism": 2},
        "metadata": {"name": "train", "namespace": "team-a", "annotations": {"mine": "1"}, "labels": {"team": "a"}},
    }


@pytest.mark.parametrize(
    ("change", "news"),
    [
        pytest.param({"metadata": {"resourceVersion": "8"}}, False, id="another resourceVersion is no news"),
        pytest.param({"status": {"conditions": []}}, False, id="a status is no news"),
        pytest.param({"metadata": {"annotations": {APPLIED: "{}"}}}, False, id="kubectl's own note is no news"),
        pytest.param({"metadata": {"labels": {"kube-queue/queue-policy": "Block"}}}, True, id="a label is"),
        pytest.param({"spec": {"priority": 3}}, True, id="its spec is"),
    ],
)
def test_news_is_what_the_owner_changed(change: dict[str, Any], news: bool) -> None:
    before = thing(QUEUE, "gold", spec={})
    after = {**before, **change, "metadata": {**before["metadata"], **change.get("metadata", {})}}
    assert (hub_object(QUEUE, after).digest != hub_object(QUEUE, before).digest) is news


@dataclass
class Bad:
    given: HubObject
    field: str


def settings(kind: str, **more: Any) -> HubObject:
    return hub_object(kind, thing(kind, "x", **more))


BAD_TREE = {"root": {"name": "root", "max": {"cpu": "4"}, "children": [{"name": "a", "max": {"cpu": "9"}}]}}
BAD = {
    "a policy that selects nothing": Bad(settings(PP, spec={}), "spec.resourceSelectors"),
    "a tree whose child may have more than its parent": Bad(
        settings(TREE, namespace="kube-system", spec=BAD_TREE), "spec.root"
    ),
    "a tree of a tenant's": Bad(settings(TREE, spec=tree().manifest["spec"]), "metadata.namespace"),
    "a queue of a tenant's": Bad(settings(QUEUE, spec={}), "metadata.namespace"),
    "a queue of an unknown policy": Bad(
        settings(QUEUE, namespace="kube-queue", spec={"queuePolicy": "Fair"}), "spec.queuePolicy"
    ),
    "a profile of nobody": Bad(settings(PROFILE, namespace="", spec={"queues": ["q"]}), "spec.namespaces"),
    "a profile with a misspelt bound": Bad(
        settings(PROFILE, namespace="", spec={"namespaces": ["a"], "cluster": ["c1"]}), "spec.cluster"
    ),
    "a priority class without a value": Bad(settings(CLASS, namespace=""), "value"),
    "a priority class whose value is text": Bad(settings(CLASS, namespace="", value="high"), "value"),
}


@pytest.mark.parametrize("case", BAD.values(), ids=list(BAD))
def test_it_is_refused_with_its_field_and_a_remedy(case: Bad) -> None:
    reasons = problems_of(case.given)
    assert case.field in {reason.field for reason in reasons}
    assert all(reason.text and reason.remedy for reason in reasons)


GOOD = {
    "a policy": policy("p"),
    "a cluster-wide policy": policy("p", namespace="", kind=f"{CPP}.policy.karmada.io/v1alpha1"),
    "the tree that is in force, changed": tree("16"),
    "a queue": settings(QUEUE, namespace="kube-queue", spec={"queuePolicy": "Block"}),
    "a profile": settings(PROFILE, namespace="", spec={"namespaces": ["team-a"], "podSecurity": "restricted"}),
    "a priority class of the system": settings(CLASS, namespace="", value=2_000_000_000, globalDefault=False),
}


@pytest.mark.parametrize("one", GOOD.values(), ids=list(GOOD))
def test_it_is_taken(one: HubObject) -> None:
    assert problems_of(one) == ()
    said = configured(one, HTTP, 5)
    assert (said.message.kind, said.message.name) == (one.plain, one.name)
    assert said.subject.startswith(f"fairway.config.{one.plain}.")


def test_both_groups_of_policies_are_watched() -> None:
    assert {kind.partition(".")[2] for kind in SETTINGS if kind.startswith("PropagationPolicy")} == {
        "policy.karmada.io/v1alpha1",
        "policy.one.alibabacloud.com/v1alpha1",
    }


def test_a_refusal_does_not_take_the_place_of_the_last_good_one() -> None:
    bad = not_taken(settings(QUEUE), (Reason(Code.INVALID, "x"),), 5)
    good = configured(settings(QUEUE), HTTP, 5)
    assert bad.subject not in (good.subject, withdrawn(settings(QUEUE).key, "", 5).subject)


def test_an_object_that_changes_back_is_said_again() -> None:
    first = tree("8")
    again = tree("8")
    again.manifest["metadata"]["resourceVersion"] = "9"
    assert first.digest == again.digest
    assert configured(first, HTTP, 5).id != configured(again, HTTP, 5).id


# Jobs


def test_an_object_is_submitted_once_for_its_uid_whatever_its_policies() -> None:
    def said(*policies: Any) -> str:
        asked = Asked(cleaned(job().manifest), policies, "hub:u-1")
        return submission(asked, of_hub("team-a", "u-1"), 5, wire.HubRef("u-1")).say.id

    assert said(policy("a").manifest) == said(policy("b").manifest)


def test_over_http_another_body_is_another_message() -> None:
    def said(name: str) -> str:
        return submission(Asked({"metadata": {"name": "n", "labels": {"l": name}}}, (), "k"), HTTP, 5).say.id

    assert said("a") != said("b")
    assert said("a") == said("a")


def test_a_cancellation_that_came_too_early_can_be_repeated_later() -> None:
    assert cancellation("j", "t", HTTP, 5_000).id == cancellation("j", "t", HTTP, 5_999).id
    assert cancellation("j", "t", HTTP, 5_000).id != cancellation("j", "t", HTTP, 6_000).id


def made_by(kind: str, controller: bool = True) -> HubObject:
    plain, _, version = kind.partition(".")
    return job(ownerReferences=[{"kind": plain, "apiVersion": version, "controller": controller}])


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param(job(), False, id="a job of its own"),
        pytest.param(made_by("PyTorchJob.kubeflow.org/v1"), True, id="one that an operator made for another job kind"),
        pytest.param(made_by("RayJob.ray.io/v1"), True, id="the RayCluster of a RayJob"),
        pytest.param(made_by("CronJob.batch/v1"), False, id="one that a CronJob made: that is no job kind"),
        pytest.param(made_by("PyTorchJob.kubeflow.org/v1", controller=False), False, id="one that is only related"),
    ],
)
def test_the_children_of_a_job_are_not_jobs(given: HubObject, want: bool) -> None:
    assert owned(given) is want


@pytest.mark.parametrize(
    ("status", "want"),
    [
        pytest.param(None, False, id="no status yet"),
        pytest.param({"active": 1}, False, id="running"),
        pytest.param({"conditions": [{"type": "Complete", "status": "True"}]}, True, id="complete"),
        pytest.param({"conditions": [{"type": "Failed", "status": "True"}]}, True, id="failed"),
        pytest.param({"conditions": "nonsense"}, False, id="a status that nobody can read"),
    ],
)
def test_a_job_that_is_over_is_not_run_again(status: Any, want: bool) -> None:
    one = job()
    assert ended(hub_object(one.kind, {**one.manifest, "status": status})) is want


def test_an_object_whose_deletion_was_asked_for_is_leaving() -> None:
    assert leaving(job(deletionTimestamp="2025-01-01T00:00:00Z"))
    assert not leaving(job())


@pytest.mark.parametrize(
    ("one", "want"),
    [
        pytest.param(policy("p", {"name": "a"}, {"name": "b"}), True, id="of jobs that it names"),
        pytest.param(policy("p", {"name": "a"}, {}), False, id="of others, too"),
        pytest.param(settings(QUEUE, spec={"queuePolicy": "Block"}), False, id="a queue"),
    ],
)
def test_a_policy_selects_only_what_it_names(one: HubObject, want: bool) -> None:
    assert only_named(one) is want
