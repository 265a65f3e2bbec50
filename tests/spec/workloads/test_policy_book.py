"""Policies are found by what they may select, and no longer once they are gone or another."""

from typing import Any

from fairway.workloads.policies import read_policy
from fairway.workloads.policy_book import Key, PolicyBook

Json = dict[str, Any]
JOB: Json = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "namespace": "team-a"}}


def policy(name: str, where: str = "team-a", /, **selector: str) -> Json:
    kind = "PropagationPolicy" if where else "ClusterPropagationPolicy"
    spec = {"resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job", **selector}]}
    meta = {"name": name, **({"namespace": where} if where else {})}
    return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": kind, "metadata": meta, "spec": spec}


def book(*policies: Json) -> PolicyBook:
    made = PolicyBook()
    for one in policies:
        made.put(read_policy(one))
    return made


def key(name: str, namespace: str = "team-a") -> Key:
    return ("PropagationPolicy" if namespace else "ClusterPropagationPolicy", namespace, name)


def test_only_policies_that_may_select_the_object_are_near_it() -> None:
    many = [policy(f"p{number}", name=f"train-{number}") for number in range(50)]
    near = [policy("one", name="train"), policy("all"), policy("wide", ""), policy("there", "", namespace="team-a")]
    found = book(*many, *near, policy("other", "team-b"), policy("elsewhere", "", namespace="team-b")).near(JOB)
    assert set(found) == {key("one"), key("all"), key("wide", ""), key("there", "")}


def test_a_policy_that_changes_is_found_by_what_it_selects_now() -> None:
    made = book(policy("one", name="train"), policy("one", name="other"))
    assert (list(made.near(JOB)), len(made), made.names("team-a", "Job.batch/v1", "train")) == ([], 1, False)
    assert made.names("team-a", "Job.batch/v1", "other")


def test_a_policy_that_is_gone_is_found_no_more() -> None:
    made = book(policy("one", name="train"), policy("all"))
    for name in ("one", "all", "never"):
        made.drop(key(name))
    assert (dict(made.near(JOB)), len(made), made.get(key("one"))) == ({}, 0, None)
