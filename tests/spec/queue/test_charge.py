"""queue: what a turn charges to the quotas of its path, and that a share which is owed is given back once."""

import pytest
from msgspec.structs import replace

from fairway.domain.decision import Add, Put
from fairway.domain.quota.charge import Share, owed_key, request
from fairway.queue.decide import decide
from fairway.queue.standing import Standings
from fairway.wire import jobs as wire
from tests.spec.builders.lives import GPU, T0, S, admitted
from tests.spec.builders.views import adds, events, gone, heard, of, tree, verbs
from tests.spec.builders.waiting import LEAF, flying, quota, room, waiting

NOW = T0 + 900 * S
FULL = {"root/a|nvidia.com/gpu": 32}


def test_the_charge_goes_with_the_turn_to_every_node_of_the_path_within_its_maximum() -> None:
    life = waiting("a")
    decision = decide(of(life, tree=tree()), heard(life), NOW)
    (said,) = events(decision)
    assert (said.path, said.charge) == (("root", "root/a"), {GPU: 8, "kube-queue/max-jobs": 1})
    assert adds(decision) == {
        "quota root|nvidia.com/gpu": 8,
        "quota root|kube-queue/max-jobs": 1,
        "quota root/a|nvidia.com/gpu": 8,
        "quota root/a|kube-queue/max-jobs": 1,
    }
    limits = {write.key: write.most for write in decision.steps[0].writes if hasattr(write, "most")}
    assert limits["root/a|nvidia.com/gpu"] == 32
    assert limits["root|kube-queue/max-jobs"] is None


@pytest.mark.parametrize("asked", [0, 5])
def test_a_job_counts_as_one_at_least_whatever_its_pods_ask_for_in_the_name_of_the_counter(asked: int) -> None:
    job = admitted().now
    assert job.spec is not None
    (pods,) = job.spec.workload.pod_sets
    named = replace(pods, requests={**pods.requests, "kube-queue/max-jobs": asked})
    work = replace(job.spec.workload, pod_sets=(named,))
    asks = request(work)
    assert asks["kube-queue/max-jobs"] == 1 + asked * pods.count


@pytest.mark.parametrize("gone_on", [False, True])
def test_a_share_that_is_heard_to_be_over_is_given_back_once_and_is_for_the_next(gone_on: bool) -> None:
    life = flying("x").then(wire.Queue, queue="gold", leaf=LEAF, enqueued_at=T0, why=room())
    share = {owed_key("x", life.now.entered): Share(LEAF, {GPU: 8})}
    back = heard(life)
    if gone_on:
        life.then(wire.Dequeued, path=LEAF, charge={GPU: 8})
    view = of(life, waiting("a", 1, why=quota()), tree=tree(), usage=FULL, owed=share)
    decision = decide(view, back, NOW)
    taken, *_ = decision.steps
    assert taken.writes == (
        Put("owed", *share, None, expect=1),
        Add("quota", f"root|{GPU}", -8),
        Add("quota", f"root/a|{GPU}", -8),
    )
    assert gone(decision) == ["a"]


def test_what_is_owed_is_not_free_before_it_is_heard() -> None:
    fresh = waiting("a", 1)
    share = {owed_key("x", 5): Share(LEAF, {GPU: 8})}
    assert verbs(decide(of(fresh, tree=tree(), usage=FULL, owed=share), heard(fresh), NOW)) == ["blocked"]


def test_what_one_decision_charges_counts_once_however_often_it_is_asked() -> None:
    stands = Standings(of(waiting("a"), tree=tree(), usage={"root|x": 1}), NOW)
    stands.count([Add("quota", "root|x", 2)])
    assert [stands.usage["root|x"], stands.usage["root|x"]] == [3, 3]
    stands.count([Add("quota", "root|x", -1)])
    assert (stands.usage["root|x"], stands.view.usage["root|x"]) == (2, 1)
