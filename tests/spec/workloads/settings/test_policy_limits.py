"""How large a policy may be, alone and with the others of its namespace."""

from typing import Any

import pytest

from fairway.workloads.settings.policies import read_policy
from fairway.workloads.settings.policy_limits import MOST_TERMS, PolicySize, Together, size_of, too_large

Json = dict[str, Any]
KIND = {"apiVersion": "batch/v1", "kind": "Job"}


def policy(*selectors: Json, **meta: Any) -> Json:
    head = {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy"}
    meta = {"name": "p", "namespace": "team-a", **meta}
    return {**head, "metadata": meta, "spec": {"resourceSelectors": [{**KIND, **one} for one in selectors or ({},)]}}


def labelled(*expressions: Json, **labels: str) -> Json:
    return {"labelSelector": {"matchLabels": labels, "matchExpressions": list(expressions)}}


def within(count: int) -> Json:
    return {"key": "app", "operator": "In", "values": [f"v{number}" for number in range(count)]}


ENTRY = "spec.resourceSelectors[1].labelSelector"


@pytest.mark.parametrize(
    ("manifest", "field", "text"),
    [
        pytest.param(
            policy({}, labelled(**{f"k{number}": "v" for number in range(51)})),
            f"{ENTRY}.matchLabels",
            "has 51 labels, more than 50",
            id="the labels of an entry",
        ),
        pytest.param(
            policy({}, labelled(within(1), within(501))),
            f"{ENTRY}.matchExpressions[1].values",
            "has 501 values, more than 500",
            id="the values of an expression",
        ),
        pytest.param(
            policy(*(labelled(within(20)) for _ in range(300))),
            "spec",
            "the policy has more than 5000 fields and values",
            id="its fields together",
        ),
        pytest.param(
            policy(annotations={"note": "x" * 2**18}),
            "spec",
            "bytes, more than 262144 (256 KiB)",
            id="its bytes",
        ),
    ],
)
def test_one_that_is_larger_is_refused_with_field_and_remedy(manifest: Json, field: str, text: str) -> None:
    read_policy(manifest)  # what is in the record of an older version is read all the same
    (reason,) = too_large(manifest)
    assert (reason.code, reason.field, text in reason.text, bool(reason.remedy)) == ("TooLarge", field, True, True)


def test_the_largest_that_people_write_are_not() -> None:
    by_name = policy(*({"name": f"train-{number:03}", "namespace": "team-a"} for number in range(500)))
    by_label = policy(labelled(*(within(10) for _ in range(50)), **{f"k{number}": "v" for number in range(50)}))
    assert (too_large(by_name), too_large(by_label), too_large(policy(labelled(within(500))))) == ((), (), ())


@pytest.mark.parametrize("spec", [None, [], "x", {"resourceSelectors": {}}, {"resourceSelectors": ["x", None, 7]}])
def test_what_is_no_policy_is_left_to_its_reader(spec: Any) -> None:
    manifest = {**policy(), "spec": spec}
    assert too_large(manifest) == ()
    assert size_of(manifest).terms <= 3


def test_entries_by_kind_and_labels_count_and_those_by_name_do_not() -> None:
    assert size_of(policy({"name": "a"}, {"name": "b", **labelled(within(9))})).terms == 0
    assert size_of(policy({}, labelled(within(9), a="b"))).terms == 1 + (1 + 1 + 10)


def full(namespace: str = "team-a") -> Together:
    made = Together()
    for number in range(4):
        made.put(("PropagationPolicy", namespace, f"p{number}"), PolicySize(100, MOST_TERMS // 4))
    return made


def test_a_namespace_that_is_full_takes_no_more_and_says_so_and_others_do() -> None:
    made = full()
    one = PolicySize(100, 1)
    why = made.too_many(("PropagationPolicy", "team-a", "new"), one)
    assert why is not None and (why.code, why.field) == ("TooManyPolicies", "metadata.namespace")
    assert why.text.startswith("the policies of namespace team-a would have 20001 entries by kind")
    assert made.too_many(("PropagationPolicy", "team-b", "new"), one) is None
    assert made.too_many(("ClusterPropagationPolicy", "", "new"), one) is None
    assert made.too_many(("PropagationPolicy", "team-a", "new"), PolicySize(100, 0)) is None


def test_what_is_there_may_change_but_not_grow_and_what_goes_makes_room() -> None:
    made = full()
    assert made.too_many(("PropagationPolicy", "team-a", "p0"), PolicySize(100, MOST_TERMS // 4)) is None
    assert made.too_many(("PropagationPolicy", "team-a", "p0"), PolicySize(90, MOST_TERMS // 4 + 1)) is not None
    made.drop(("PropagationPolicy", "team-a", "p1"))
    assert made.too_many(("PropagationPolicy", "team-a", "p0"), PolicySize(90, MOST_TERMS // 4 + 1)) is None


@pytest.mark.parametrize(
    ("count", "bytes_each", "text"),
    [
        pytest.param(50_000, 10, "would be 50001, more than 50000", id="policies"),
        pytest.param(64, 2**19, "would have 33554433 bytes, more than 33554432", id="bytes"),
    ],
)
def test_the_cluster_wide_ones_are_bounded_too(count: int, bytes_each: int, text: str) -> None:
    made = Together()
    for number in range(count):
        made.put(("ClusterPropagationPolicy", "", f"p{number}"), PolicySize(bytes_each, 0))
    why = made.too_many(("ClusterPropagationPolicy", "", "new"), PolicySize(1, 0))
    assert why is not None and why.text == f"the ClusterPropagationPolicies {text}"
