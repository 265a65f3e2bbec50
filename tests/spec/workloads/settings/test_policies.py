"""Policies: what is read, what is refused by name, and which one decides for an object."""

from typing import Any

import pytest

from fairway.wire.policy import Affinity, Policy
from fairway.wire.reasons import Code, Refused
from fairway.wire.workload import Expression, Toleration
from fairway.workloads.settings.policies import GROUPS, read_policy, select
from tests.spec.workloads.builders import batch_job, refusal, with_at
from tests.spec.workloads.settings.cases import CHANGES_WHERE, FULL, JOB, PLACEMENT, TWO_WAYS, policy


@pytest.mark.parametrize("group", GROUPS)
def test_a_full_policy_of_either_group(group: str) -> None:
    found = read_policy({**FULL, "apiVersion": group})
    assert found.api_version == group
    assert found.placement.affinities == (
        Affinity(name="first", cluster_names=("north",), exclude=("west",)),
        Affinity(name="then", labels=(Expression("gpu", "In", ("v100",)),)),
    )
    assert found.placement.tolerations == (Toleration(key="drain", operator="Exists"),)
    assert found.placement.gang
    assert (found.priority, found.start_timeout) == (7, 30_000)
    assert found.selectors[0].namespace == "team-data"


def test_an_empty_policy_has_the_documented_defaults() -> None:
    found = read_policy(policy())
    assert found == Policy(found.api_version, found.kind, "team-data", "p", found.selectors, placement=found.placement)
    assert found.placement.affinities == (Affinity(),)


def test_annotations_win_over_the_failover_toleration() -> None:
    manifest = policy(failover={"application": {"decisionConditions": {"tolerationSeconds": 30}}})
    manifest["metadata"]["annotations"] = {
        "fairway.io/max-attempts": "5",
        "fairway.io/start-timeout": "1h30m",
        "fairway.io/avoid-failed-for": "0s",
    }
    found = read_policy(manifest)
    assert (found.attempts, found.start_timeout, found.avoid) == (5, 5_400_000, 0)


@pytest.mark.parametrize(
    ("path", "value", "says"), [one[1:] for one in CHANGES_WHERE], ids=[one[0] for one in CHANGES_WHERE]
)
def test_what_cannot_be_honoured_is_refused_by_name(path: str, value: Any, says: str) -> None:
    reasons = refusal(lambda: read_policy(with_at(policy(), path, value)))
    (field,) = (field for field in reasons if field.startswith(path))
    with pytest.raises(Refused) as caught:
        read_policy(with_at(policy(), path, value))
    reason = next(one for one in caught.value.reasons if one.field == field)
    assert says in f"{reason.text}; {reason.remedy}"


def test_two_ways_to_name_clusters_are_one_too_many() -> None:
    assert refusal(lambda: read_policy(TWO_WAYS)) == {f"{PLACEMENT}.clusterAffinities": "stands beside clusterAffinity"}


def chosen(*manifests: dict[str, Any], labels: dict[str, str] | None = None) -> str:
    """The name of the policy that decides for Job team-data/one, or the code of the refusal."""
    policies = [read_policy(one) for one in manifests]
    found = {
        one.name if isinstance(one, Policy) else one.reasons[0].code.value
        for one in (select(order, batch_job(labels=labels or {})) for order in (policies, policies[::-1]))
    }
    (answer,) = found  # the order of the policies does not matter
    return answer


BY_NAME = [{**JOB, "name": "one"}]
BY_LABEL = [{**JOB, "labelSelector": {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["gold"]}]}}]


@pytest.mark.parametrize(
    ("manifests", "want"),
    [
        pytest.param([], "NoPolicy", id="none"),
        pytest.param([policy(resourceSelectors=[{**JOB, "name": "two"}])], "NoPolicy", id="another object"),
        pytest.param([policy(resourceSelectors=[{**JOB, "kind": "CronJob"}])], "NoPolicy", id="another kind"),
        pytest.param([policy("a"), policy("b")], "TwoPolicies", id="two alike"),
        pytest.param([policy("wide", wide=True, priority=9), policy("own")], "own", id="namespaced first"),
        pytest.param([policy("a", priority=1), policy("b", resourceSelectors=BY_NAME)], "a", id="then priority"),
        pytest.param([policy("a"), policy("b", resourceSelectors=BY_NAME)], "b", id="then by name"),
        pytest.param([policy("a"), policy("b", resourceSelectors=BY_LABEL)], "b", id="labels before kind"),
        pytest.param(
            [policy("a", resourceSelectors=BY_NAME), policy("b", resourceSelectors=BY_LABEL)],
            "a",
            id="name before labels",
        ),
        pytest.param([policy("a", resourceSelectors=[JOB, *BY_NAME]), policy("b")], "a", id="the closest entry counts"),
    ],
)
def test_one_policy_decides(manifests: list[dict[str, Any]], want: str) -> None:
    assert chosen(*manifests, labels={"tier": "gold"}) == want


def test_a_policy_of_another_namespace_does_not_select() -> None:
    foreign = with_at(policy(), "metadata.namespace", "team-x")
    assert chosen(foreign) == "NoPolicy"
    assert chosen(policy("a", wide=True, resourceSelectors=[{**JOB, "namespace": "team-x"}])) == "NoPolicy"


def test_labels_that_do_not_match_do_not_select() -> None:
    assert chosen(policy(resourceSelectors=BY_LABEL), labels={"tier": "tin"}) == "NoPolicy"


def test_an_object_that_nothing_selects_is_told_how_to_name_it() -> None:
    found = select([], batch_job())
    assert isinstance(found, Refused)
    assert "hold {apiVersion: batch/v1, kind: Job, name: one}" in found.reasons[0].remedy


def test_two_policies_are_both_named() -> None:
    found = select([read_policy(policy("b")), read_policy(policy("a"))], batch_job())
    assert isinstance(found, Refused)
    (reason,) = found.reasons
    assert reason.code == Code.TWO_POLICIES
    assert "PropagationPolicy team-data/a and PropagationPolicy team-data/b" in reason.text
