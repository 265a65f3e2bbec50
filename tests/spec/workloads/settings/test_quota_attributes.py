"""The attributes of quota nodes: each is read as a value, or refused by node and name."""

from typing import Any

import pytest

from fairway.domain.quota.node_terms import (
    FLEET,
    PreemptionTerms,
    max_grace,
    max_graces,
    order,
    preemption_terms,
    weight,
    withheld,
)
from fairway.domain.quota.tree import leaf_named
from fairway.wire.reasons import Refused
from fairway.workloads.settings.field_effects import unknown_fields
from fairway.workloads.settings.quota_trees import read_quota_tree
from tests.spec.workloads.builders import refusal
from tests.spec.workloads.settings.cases import node, tree

LEND = "alibabacloud.com/lendlimit"
SHARED = "quota.scheduling.koordinator.sh/shared-weight"
OURS = "fairway.io"
CHILD = "spec.root.children[0]"
ROOT = {"min": {"cpu": 10}, "max": {"cpu": 10}}


def leaf(**attributes: Any) -> dict[str, Any]:
    """A tree of one leaf that is guaranteed all, with one attribute by its name without slashes."""
    return tree(node("a", 10, 10, attributes=attributes), **ROOT)


def inner(**attributes: Any) -> dict[str, Any]:
    return tree(node("a", 10, 10, attributes=attributes, children=[node("b", 10, 5)]), **ROOT)


def root(**attributes: Any) -> dict[str, Any]:
    return tree(node("a", 10, 10), attributes=attributes, **ROOT)


BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "lends what is no JSON": (leaf(**{LEND: "10"}), LEND, "no JSON object"),
    "lends a list": (leaf(**{LEND: "[1]"}), LEND, "no JSON object"),
    "lends nothing written": (leaf(**{LEND: ""}), LEND, "no JSON object"),
    "lends what no parser should follow": (leaf(**{LEND: '{"cpu": ' + "[" * 100_000}), LEND, "no JSON object"),
    "lends half a letter": (leaf(**{LEND: '{"cpu": "\ud800"}'}), LEND, "no JSON object"),
    "lends no quantity": (leaf(**{LEND: '{"cpu": "many"}'}), LEND, "'many' is not a quantity"),
    "lends a flag": (leaf(**{LEND: '{"cpu": true}'}), LEND, "is no quantity"),
    "lends less than nothing": (leaf(**{LEND: '{"cpu": -1}'}), LEND, "is negative"),
    "lends above its min": (leaf(**{LEND: '{"cpu": "10001m"}'}), LEND, "lends 10.001 cpu, above its min of 10"),
    "lends what is not in its min": (leaf(**{LEND: '{"memory": 0}'}), LEND, "lends 'memory', of which it has no min"),
    "preempts otherwise": (leaf(**{"preempt-policy": "never"}), "preempt-policy", "is 'never'"),
    "weighs less than nothing": (leaf(**{f"{OURS}/weight": "-1"}), f"{OURS}/weight", "from 0 to 1000000"),
    "weighs a part": (leaf(**{f"{OURS}/weight": "1.5"}), f"{OURS}/weight", "from 0 to 1000000"),
    "weighs too much": (leaf(**{f"{OURS}/weight": "1000001"}), f"{OURS}/weight", "from 0 to 1000000"),
    "weighs two things": (
        leaf(**{f"{OURS}/weight": "2", SHARED: "3"}),
        f"{OURS}/weight",
        "is '2', and quota.scheduling.koordinator.sh/shared-weight is '3'",
    ),
    "a leaf is a domain": (leaf(**{f"{OURS}/preempt-domain": "true"}), f"{OURS}/preempt-domain", "no nodes below"),
    "a leaf is no domain": (leaf(**{f"{OURS}/preempt-domain": "false"}), f"{OURS}/preempt-domain", "no nodes below"),
    "a domain perhaps": (inner(**{f"{OURS}/preempt-domain": "yes"}), f"{OURS}/preempt-domain", "is 'yes'"),
    "reclaims after a bare number": (leaf(**{f"{OURS}/reclaim-after": "5"}), f"{OURS}/reclaim-after", "no duration"),
    "preempts after two units": (leaf(**{f"{OURS}/preempt-after": "1m30s"}), f"{OURS}/preempt-after", "no duration"),
    "runs for more than a day": (leaf(**{f"{OURS}/min-runtime": "1441m"}), f"{OURS}/min-runtime", "is too long"),
    "has a grace without a unit": (leaf(**{f"{OURS}/max-grace": "120"}), f"{OURS}/max-grace", "no duration"),
    "has a grace of more than a day": (leaf(**{f"{OURS}/max-grace": "25h"}), f"{OURS}/max-grace", "is too long"),
    "is evicted too often": (leaf(**{f"{OURS}/max-evictions": "1001"}), f"{OURS}/max-evictions", "from 0 to 1000"),
    "orders below the root": (inner(**{f"{OURS}/order": "share"}), f"{OURS}/order", "holds for the whole tree"),
}


@pytest.mark.parametrize(("manifest", "name", "says"), BAD.values(), ids=list(BAD))
def test_a_bad_attribute_is_refused_by_its_node_and_its_name(manifest: dict[str, Any], name: str, says: str) -> None:
    (found,) = refusal(lambda: read_quota_tree(manifest)).items()
    where, text = found
    assert where == (f"{CHILD}.attributes['{name}']" if "/" in name else f"{CHILD}.attributes.{name}")
    assert text.startswith("quota root/a: ") and says in text


def test_of_a_root_there_are_two_orders() -> None:
    reasons = refusal(lambda: read_quota_tree(root(**{f"{OURS}/order": "size"})))
    assert reasons["spec.root.attributes['fairway.io/order']"] == "quota root: is 'size'"
    assert [order(read_quota_tree(root(**{f"{OURS}/order": word}))) for word in ("time", "share")] == ["time", "share"]
    assert (order(read_quota_tree(root())), order(None)) == ("time", "time")


@pytest.mark.parametrize("name", ["share-eviction", "share-after", "enforce-max", "protect-after"])
def test_what_is_not_there_yet_is_no_attribute(name: str) -> None:
    (reason,) = unknown_fields(leaf(**{f"{OURS}/{name}": "true"}))
    assert reason.field == f"{CHILD}.attributes['fairway.io/{name}']"


TERMS: dict[str, tuple[dict[str, Any], PreemptionTerms]] = {
    "of a leaf that says nothing": (leaf(), PreemptionTerms("root/a")),
    "of a leaf that says all": (
        leaf(
            **{
                "preempt-policy": "Never",
                f"{OURS}/reclaim-after": "0s",
                f"{OURS}/preempt-after": "24h",
                f"{OURS}/min-runtime": "500ms",
                f"{OURS}/max-evictions": "0",
            }
        ),
        PreemptionTerms("root/a", False, 0, 86_400_000, 500, 0),
    ),
}


@pytest.mark.parametrize(("manifest", "want"), TERMS.values(), ids=list(TERMS))
def test_the_terms_of_preemption(manifest: dict[str, Any], want: PreemptionTerms) -> None:
    assert preemption_terms(leaf_named(read_quota_tree(manifest), "a") or ()) == want


def test_a_leaf_has_the_terms_of_the_nearest_node_and_the_widest_domain() -> None:
    above = {f"{OURS}/preempt-domain": "true", "preempt-policy": "Never", f"{OURS}/reclaim-after": "2m"}
    below = node("b", 10, 5, attributes={"preempt-policy": "PreemptLowerPriority"})
    read = read_quota_tree(tree(node("a", 10, 10, attributes=above, children=[below]), **ROOT))
    assert preemption_terms(leaf_named(read, "b") or ()) == PreemptionTerms("root/a", True, 120_000)


def test_without_a_tree_the_fleet_is_one_domain() -> None:
    assert preemption_terms(()) == FLEET == PreemptionTerms("")


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param(None, {}, id="all is lent where nothing is said"),
        pytest.param("{}", {}, id="and what is not named"),
        pytest.param('{"cpu": 0}', {"cpu": 10_000}, id="nothing is lent"),
        pytest.param('{"cpu": "2500m"}', {"cpu": 7_500}, id="a part is lent"),
        pytest.param('{"cpu": 10}', {}, id="all is lent"),
    ],
)
def test_what_is_not_lent_is_withheld(text: str | None, want: dict[str, int]) -> None:
    said = {LEND: text} if text is not None else {}
    assert withheld(read_quota_tree(leaf(**said)).children[0]) == want


@pytest.mark.parametrize(
    ("attributes", "want"),
    [
        pytest.param({}, 1, id="one where nothing is said"),
        pytest.param({f"{OURS}/weight": "0"}, 0, id="none"),
        pytest.param({f"{OURS}/weight": "1000000"}, 1_000_000, id="the most"),
        pytest.param({SHARED: "7"}, 7, id="Koordinator's as a plain number"),
        pytest.param({SHARED: '{"cpu": "40"}'}, 1, id="Koordinator's by resource says nothing"),
        pytest.param({f"{OURS}/weight": "2", SHARED: '{"cpu": "40"}'}, 2, id="ours beside that"),
        pytest.param({f"{OURS}/weight": "2", SHARED: "2"}, 2, id="both the same"),
    ],
)
def test_the_weight_of_a_node(attributes: dict[str, str], want: int) -> None:
    assert weight(read_quota_tree(leaf(**attributes)).children[0]) == want


def test_what_an_earlier_version_took_unread_stays_without_effect_and_ends_no_tree() -> None:
    old = leaf(**{LEND: "all", "preempt-policy": "Sometimes"})
    assert read_quota_tree(old, in_force=True).children[0].attributes == {}
    with pytest.raises(Refused, match="lendlimit"):
        read_quota_tree(old)


def test_what_no_version_ever_took_is_refused_of_a_tree_in_force_too() -> None:
    with pytest.raises(Refused, match="weight"):
        read_quota_tree(leaf(**{f"{OURS}/weight": "much"}), in_force=True)


def test_a_job_has_the_longest_grace_of_the_nearest_node_that_says_one() -> None:
    said = max_graces(read_quota_tree(inner(**{f"{OURS}/max-grace": "10m"})))
    assert max_graces(None) == max_graces(read_quota_tree(leaf())) == {}
    assert max_graces(read_quota_tree(leaf(**{f"{OURS}/max-grace": "0s"}))) == {"root/a": 0}
    below = max_grace(("root", "root/a", "root/a/b"), {**said, "root": 1})
    assert (below, max_grace(("root", "root/z"), said), max_grace((), said)) == (600_000, 120_000, 120_000)
