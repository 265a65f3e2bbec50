"""Policies are found by what they may select, and no longer once they are gone or another."""

from typing import Any

from fairway.wire.reasons import Refused
from fairway.workloads.settings.policies import read_policy
from fairway.workloads.settings.policy_index import Key, PolicyIndex

Json = dict[str, Any]
JOB: Json = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "namespace": "team-a"}}


def policy(name: str, where: str = "team-a", /, **selector: str) -> Json:
    kind = "PropagationPolicy" if where else "ClusterPropagationPolicy"
    spec = {"resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job", **selector}]}
    meta = {"name": name, **({"namespace": where} if where else {})}
    return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": kind, "metadata": meta, "spec": spec}


def index(*policies: Json) -> PolicyIndex:
    made = PolicyIndex()
    for one in policies:
        made.put(read_policy(one))
    return made


def key(name: str, namespace: str = "team-a") -> Key:
    return ("PropagationPolicy" if namespace else "ClusterPropagationPolicy", namespace, name)


def found(made: PolicyIndex) -> str:
    """The policy that decides for the job, or why none does."""
    policy = made.select(JOB)
    return policy.reasons[0].code.value if isinstance(policy, Refused) else policy.name


def test_of_all_that_select_the_job_the_closest_of_its_own_namespace_decides() -> None:
    many = [policy(f"p{number}", name=f"train-{number}") for number in range(50)]
    others = [policy("other", "team-b"), policy("elsewhere", "", namespace="team-b"), policy("wide", "", name="train")]
    assert found(index(*many, *others)) == "wide"
    assert found(index(*many, *others, policy("all"))) == "all"
    assert found(index(*many, *others, policy("all"), policy("one", name="train"))) == "one"


def test_of_many_equal_ones_five_are_named() -> None:
    refused = index(*(policy(f"p{number}") for number in range(9))).select(JOB)
    assert isinstance(refused, Refused)
    names = ", ".join(f"PropagationPolicy team-a/p{number}" for number in range(5))
    assert refused.reasons[0].text == f"{names} and 4 more select this object equally"


def test_a_policy_that_changes_is_found_by_what_it_selects_now() -> None:
    made = index(policy("one", name="train"), policy("one", name="other"))
    assert (found(made), len(made), made.names("team-a", "Job.batch/v1", "train")) == ("NoPolicy", 1, False)
    assert made.names("team-a", "Job.batch/v1", "other")


def test_a_policy_that_is_gone_is_found_no_more() -> None:
    made = index(policy("one", name="train"), policy("all"))
    for name in ("one", "all", "never"):
        made.drop(key(name))
    assert (found(made), len(made), made.get(key("one"))) == ("NoPolicy", 0, None)


def test_one_that_came_along_stands_in_the_place_of_the_one_that_is_here() -> None:
    made = index(policy("one", name="train"))
    assert isinstance(made.select(JOB, {key("one"): read_policy(policy("one", name="other"))}), Refused)
