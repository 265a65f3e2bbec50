"""Victims of an eviction: they may go, they are enough node by node, each was needed, and there are few of them."""

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from fairway.domain.resources import fits
from fairway.lab.bench.evict.candidate_rows import CandidateRow, in_rows
from fairway.lab.bench.evict.optimum import compared
from fairway.placement.cluster import taken
from fairway.placement.fit import Plan, Shortfall, fit
from fairway.placement.fleet import Fleet
from fairway.placement.recheck import recheck
from fairway.placement.relief.outcome import Relief
from fairway.placement.relief.relieve import relieve
from fairway.wire.capacity import Node
from tests.properties.models.evictions import Rights, legal, price, quota_left, without
from tests.properties.relief.cases import ANYWHERE, CONTEXT, GPU, Given, cases, view


def chosen(case: Given, found: Relief) -> list[CandidateRow]:
    by_key = {(one.job, one.attempt): one for one in in_rows(case.asked)}
    return [by_key[one.job, one.attempt] for one in found.victims]


@given(cases(sets=3))
def test_victims_may_go_in_the_order_in_which_they_are_named(case: Given) -> None:
    found = case.relieve()
    if isinstance(found, Relief):
        rights = Rights(case.asked, case.views, case.workload, found.cluster)
        assert legal(rights, chosen(case, found), found.victims)


@given(cases(sets=3))
def test_with_them_gone_the_gang_has_room_node_by_node_and_quota(case: Given) -> None:
    found = case.relieve()
    if not isinstance(found, Relief):
        return
    left = without(case.views[found.cluster], found.victims)
    assert not quota_left(case.asked, chosen(case, found))
    requests = {one.name: one.requests for one in case.workload.pod_sets}
    for name, amounts in taken(found.slots, requests).items():
        assert left.nodes[name].schedulable
        assert fits(amounts, left.free(name))
    assert isinstance(recheck(left, case.workload, found.slots), Plan)
    if isinstance(fit(case.views[found.cluster], case.workload), Shortfall):
        assert fit(left, case.workload) == Plan(found.slots, sum(one.count for one in found.slots))


@given(cases(sets=3))
def test_each_of_them_was_needed(case: Given) -> None:
    found = case.relieve()
    if isinstance(found, Relief):
        for one in found.victims:
            others = [other for other in chosen(case, found) if other.job != one.job]
            assert not case.enough(found.cluster, others)


def cheapest(case: Given) -> tuple[int, int, int, int] | None:
    """Of every set that may go, the least that is enough: its highest level and priority, the jobs, the lost work."""
    fitting = [name for name, one in case.views.items() if isinstance(fit(one, case.workload), Plan)]
    prices = []
    for name in fitting[:1] or case.nodes:
        for gone in sorted(Rights(case.asked, case.views, case.workload, name).sets(), key=price):
            if case.pods(name, gone) >= case.workload.gang_minimum and not quota_left(case.asked, gone):
                prices.append(price(gone))
                break
    return min(prices, default=None)


@settings(max_examples=300)
@given(cases(), st.sampled_from(((), ("cpu",), (GPU,))))
def test_one_shape_has_an_answer_whenever_any_set_is_one(case: Given, reclaimable: tuple[str, ...]) -> None:
    """Of those that go by reclaim of one resource; of several, some orders are not tried."""
    case.asked = replace(case.asked, reclaimable=reclaimable)
    assert isinstance(case.relieve(), Relief) == (cheapest(case) is not None)


@given(cases(sets=2), st.randoms(use_true_random=False))
def test_the_order_of_nodes_clusters_and_holds_changes_nothing(case: Given, shuffle) -> None:  # type: ignore[no-untyped-def]  # hypothesis gives a Random
    nodes: dict[str, list[Node]] = {}
    for name in shuffle.sample(list(case.nodes), len(case.nodes)):
        mixed = shuffle.sample(case.nodes[name], len(case.nodes[name]))
        nodes[name] = [
            replace(one, holds=dict(shuffle.sample(list(one.holds.items()), len(one.holds)))) for one in mixed
        ]
    assert Given(nodes, case.workload, case.asked).relieve() == case.relieve() == case.relieve()


@given(cases(sets=2))
def test_nothing_in_the_fleet_is_changed(case: Given) -> None:
    fleet = Fleet(case.views)
    before = {name: dict(one.nodes) for name, one in fleet.items()}
    said = relieve(fleet, case.workload, ANYWHERE, CONTEXT, case.asked)
    assert {name: dict(one.nodes) for name, one in fleet.items()} == before
    assert relieve(fleet, case.workload, ANYWHERE, CONTEXT, case.asked) == said


@given(cases(sets=2), cases(sets=2))
def test_what_is_kept_from_one_question_to_the_next_is_what_a_new_fleet_says(case: Given, later: Given) -> None:
    fleet = Fleet({name: view(name, nodes) for name, nodes in case.nodes.items()})
    relieve(fleet, case.workload, ANYWHERE, CONTEXT, case.asked)
    for name, nodes in later.nodes.items():
        if name in fleet:
            for gone in fleet[name].nodes.keys() - {one.name for one in nodes}:
                fleet[name].remove(gone)
            for one in nodes:
                fleet[name].put(one)
        else:
            fleet[name] = view(name, nodes)
    for name in fleet.keys() - later.nodes.keys():
        del fleet[name]
    assert relieve(fleet, later.workload, ANYWHERE, CONTEXT, later.asked) == later.relieve()


def test_few_more_jobs_go_than_have_to() -> None:
    found = [one for one in map(compared, range(120)) if one is not None]
    assert sum(one.jobs for one in found) <= 1.2 * sum(one.fewest for one in found)
