"""quota: a job that may not be evicted has to be guaranteed whole, at every node of its path."""

from typing import Any

import pytest

from fairway.domain.quota.tree import MAX_JOBS, QuotaNode
from fairway.domain.resources import BATCH_CPU
from fairway.quota.decide import decide
from fairway.wire.reasons import Code
from fairway.wire.workload import PodSet, Workload
from tests.spec.builders.lives import GPU, T0, S, admitted
from tests.spec.builders.views import events, heard, of

NOW = T0 + 9 * S
AMPLE = {GPU: 32}


def tree(leaf: dict[str, int], inner: dict[str, int], most: dict[str, int]) -> QuotaNode:
    """root, root/team, root/team/a of team-a, with these mins of the last two; only the leaf has a max."""
    last = QuotaNode("a", "root/team/a", leaf, most, namespaces=("team-a",))
    team = QuotaNode("team", "root/team", inner, {}, children=(last,))
    return QuotaNode("root", "root", inner, {}, children=(team,))


def said_of(view: QuotaNode | None, **more: Any) -> Any:
    life = admitted(**more)
    (said,) = events(decide(of(life, tree=view), heard(life), NOW))
    return said


# The job asks for 4 pods of 8 GPUs.
CASES: dict[str, tuple[QuotaNode | None, str]] = {
    "there is no tree": (None, ""),
    "it fits the min of all nodes exactly": (tree(AMPLE, AMPLE, {GPU: 40}), ""),
    "the leaf guarantees less": (tree({GPU: 31}, AMPLE, {GPU: 40}), "min of quota root/team/a is 31"),
    "a node above guarantees less": (tree(AMPLE, {GPU: 31}, {GPU: 40}), "min of quota root is 31"),
    "the leaf bounds it and guarantees none": (tree({}, AMPLE, {GPU: 40}), "min of quota root/team/a is 0"),
    "no node counts it": (tree({}, {}, {}), ""),
    "jobs as such cannot be guaranteed": (tree(AMPLE, AMPLE, {MAX_JOBS: 5}), ""),
}


@pytest.mark.parametrize(("given", "want"), CASES.values(), ids=list(CASES))
def test_a_job_that_may_not_be_evicted_needs_min(given: QuotaNode | None, want: str) -> None:
    said = said_of(given, evictable=False)
    if not want:
        assert said.verb == "queue"
        return
    (reason,) = said.reasons
    assert (said.verb, reason.code, bool(reason.remedy)) == ("rejected", Code.EXCEEDS_MIN_QUOTA, True)
    assert want in reason.text and "asks for 32 nvidia.com/gpu" in reason.text


@pytest.mark.parametrize("given", [one for one, _ in CASES.values()], ids=list(CASES))
def test_one_that_may_be_evicted_borrows_what_it_needs(given: QuotaNode | None) -> None:
    assert said_of(given).verb == "queue"


def test_what_is_above_its_max_is_told_first() -> None:
    (reason,) = said_of(tree({GPU: 8}, AMPLE, {GPU: 16}), evictable=False).reasons
    assert reason.code is Code.EXCEEDS_MAX_QUOTA


@pytest.mark.parametrize(
    ("least", "verb"),
    [
        pytest.param({"cpu": 1_000, BATCH_CPU: 0}, "queue", id="cpu alone"),
        pytest.param({"cpu": 0, BATCH_CPU: 1_000}, "queue", id="batch resources alone"),
        pytest.param({"cpu": 0, BATCH_CPU: 0}, "rejected", id="neither"),
    ],
)
def test_one_that_may_have_either_needs_the_min_of_one(least: dict[str, int], verb: str) -> None:
    pods = (PodSet("pod", 1, {"cpu": 1_000}),)
    work = Workload("batch/v1", "Job", "team-a", "a", pods, 1, batch_first=True)
    assert said_of(tree(least, least, {}), workload=work, evictable=False).verb == verb
