"""The policy that the index finds for a job is the one that a walk over all finds, along with the job or not."""

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from fairway.wire.policy import Policy, Selector
from fairway.wire.reasons import Refused
from fairway.wire.workload import Expression
from fairway.workloads.settings.label_index import LabelIndex
from fairway.workloads.settings.policies import CLUSTER_WIDE, NAMESPACED, matches, select
from fairway.workloads.settings.policy_index import PolicyIndex, selects

# So few of each that policies and jobs meet.
NAMES = ("a", "b", "c")
KEYS = ("app", "tier")
VALUES = ("x", "y")
SPACES = ("team-a", "team-b")
KINDS = (("batch/v1", "Job"), ("kubeflow.org/v1", "PyTorchJob"))


@st.composite
def expressions(draw: st.DrawFn) -> Expression:
    operator = draw(st.sampled_from(("In", "NotIn", "Exists", "DoesNotExist")))
    some = st.lists(st.sampled_from(VALUES), min_size=1, max_size=3).map(tuple)
    values = draw(some) if operator in ("In", "NotIn") else ()
    return Expression(draw(st.sampled_from(KEYS)), operator, values)


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    namespace = draw(st.sampled_from(("", *SPACES)))
    places = st.just(namespace) if namespace else st.sampled_from(("", *SPACES))
    selectors = []
    for _ in range(draw(st.integers(1, 4))):
        name = draw(st.sampled_from(("", "", *NAMES)))
        labels = () if name else tuple(draw(st.lists(expressions(), max_size=3)))
        selectors.append(Selector(*draw(st.sampled_from(KINDS)), namespace=draw(places), name=name, labels=labels))
    kind = NAMESPACED if namespace else CLUSTER_WIDE
    priority = draw(st.integers(-1, 1))
    name = draw(st.sampled_from(("p", "q", "r", "s", "t", "u", "v", "w")))
    return Policy("policy.karmada.io/v1alpha1", kind, namespace, name, tuple(selectors), priority=priority)


@st.composite
def jobs(draw: st.DrawFn) -> dict[str, Any]:
    api_version, kind = draw(st.sampled_from(KINDS))
    labels = draw(st.dictionaries(st.sampled_from(KEYS), st.sampled_from((*VALUES, "z"))))
    meta = {"name": draw(st.sampled_from(NAMES)), "namespace": draw(st.sampled_from(SPACES)), "labels": labels}
    return {"apiVersion": api_version, "kind": kind, "metadata": meta}


def plain(found: Policy | Refused) -> object:
    """A refusal as what it says."""
    return msgspec.to_builtins(found.reasons if isinstance(found, Refused) else found)


@given(st.lists(policies(), max_size=12), st.lists(policies(), max_size=2), st.lists(policies()), jobs())
def test_it_is_the_same(here: list[Policy], along: list[Policy], gone: list[Policy], job: dict[str, Any]) -> None:
    index = PolicyIndex()
    walked = dict[tuple[str, str, str], Policy]()
    for one in (*gone, *here):
        key = (one.kind, one.namespace, one.name)
        index.put(one)
        walked[key] = one
    for one in gone:
        key = (one.kind, one.namespace, one.name)
        index.drop(key)
        walked.pop(key, None)
    brought = {(one.kind, one.namespace, one.name): one for one in along}
    assert plain(index.select(job, brought)) == plain(select((walked | brought).values(), job))
    assert len(index) == len(walked)


@given(policies(), jobs())
def test_of_one_policy_too(one: Policy, job: dict[str, Any]) -> None:
    """A long one, whose entries are not walked, too."""
    long = msgspec.structs.replace(one, selectors=one.selectors * 9)
    assert selects(one, job) is selects(long, job) is isinstance(select([one], job), Policy)


@given(st.lists(policies(), max_size=12))
def test_nothing_is_kept_of_policies_that_are_gone(here: list[Policy]) -> None:
    index = PolicyIndex()
    for one in here:
        index.put(one)
    for one in here:
        index.drop((one.kind, one.namespace, one.name))
    assert not index.__dict__["_all"] and not index.__dict__["_places"]


@settings(max_examples=300)
@given(
    st.lists(st.lists(expressions(), min_size=1, max_size=3).map(tuple), min_size=1, max_size=4),
    st.dictionaries(st.sampled_from(KEYS), st.sampled_from((*VALUES, "z"))),
)
def test_of_label_selectors_all_that_hold_are_found(entries: list[tuple[Expression, ...]], has: dict[str, str]) -> None:
    index = LabelIndex()
    for number, labels in enumerate(entries):
        policy = Policy("v1", NAMESPACED, "team-a", str(number), (Selector("batch/v1", "Job", labels=labels),))
        index.put(labels, (NAMESPACED, "team-a", policy.name), policy)
    firsts = [one.first(()) for one in index.matching(has)]
    found = sorted(name for first in firsts if first is not None for _, _, name in first[1])
    hold = [str(number) for number, one in enumerate(entries) if all(matches(has, part) for part in one)]
    assert found == hold
