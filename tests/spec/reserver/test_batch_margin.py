"""How much of a cluster's batch resources is left alone, by how they fell."""

import pytest

from fairway.domain.resources import BATCH_CPU, BATCH_MEMORY
from fairway.reserver.batch_margin import WINDOW_MS, followed, percent, with_margins
from fairway.wire.capacity import Falls, Node
from fairway.wire.fleet import Report

CPU = {BATCH_CPU: 100_000}


def windows(*lowest: int) -> Falls:
    """After five minutes each, in which batch cpu of a hundred cores fell to that and came back."""
    now = 1_000
    falls = followed(Falls(), CPU, now)
    for amount in lowest:
        falls = followed(falls, {BATCH_CPU: amount}, now + 1_000)
        now += WINDOW_MS
        falls = followed(falls, CPU, now)
    return falls


def test_a_tenth_is_left_alone_where_nothing_is_known() -> None:
    assert percent(Falls()) == percent(windows()) == percent(windows(100_000)) == 10


@pytest.mark.parametrize(
    ("falls", "share"),
    [
        pytest.param([100_000] * 19 + [50_000], 10, id="one of twenty is passed over"),
        pytest.param([100_000] * 18 + [50_000] * 2, 50, id="two of twenty are not"),
        pytest.param([93_000] * 20, 10, id="less than a tenth"),
        pytest.param([69_000] * 20, 35, id="rounded up to a twentieth"),
        pytest.param([0] * 20, 100, id="all of it"),
    ],
)
def test_what_it_fell_by_in_all_but_one_of_twenty_times_is_left_alone(falls: list[int], share: int) -> None:
    assert percent(windows(*falls)) == share


def test_a_fall_counts_that_came_back_within_the_five_minutes_and_one_of_the_other_resource() -> None:
    falls = followed(Falls(), {BATCH_CPU: 10, BATCH_MEMORY: 100}, 1)
    falls = followed(falls, {BATCH_CPU: 10, BATCH_MEMORY: 40}, 2)
    falls = followed(falls, {BATCH_CPU: 10, BATCH_MEMORY: 100}, 1 + WINDOW_MS)
    assert falls.counts == (0,) * 12 + (1,)


def test_what_became_less_while_nobody_reported_is_no_fall_of_five_minutes() -> None:
    falls = followed(Falls(), CPU, 1)
    falls = followed(falls, {BATCH_CPU: 0}, 1 + 2 * WINDOW_MS)
    assert falls.counts == ()
    assert falls.first == {BATCH_CPU: 0}


def test_batch_resources_that_are_gone_fell_to_nothing() -> None:
    falls = followed(followed(Falls(), CPU, 1), {}, 1 + WINDOW_MS)
    assert falls.counts == (0,) * 20 + (1,)


@pytest.mark.parametrize(("lowest", "share"), [([0], 10), ([0, 0], 100), ([100_000, 0, 50_000], 50)])
def test_one_fall_of_a_cluster_that_is_followed_for_a_short_time_keeps_nothing_back(
    lowest: list[int], share: int
) -> None:
    assert percent(windows(*lowest)) == share


def test_a_day_ago_counts_less() -> None:
    quiet = windows(*[0] * 30, *[100_000] * 700)
    assert percent(quiet) == 10
    assert sum(quiet.counts) <= 288


def test_a_cluster_without_batch_resources_has_no_falls() -> None:
    assert followed(Falls(), {"cpu": 5}, 1) == Falls()


def test_of_each_node_its_share_is_left_alone_rounded_up_whatever_its_agent_says() -> None:
    node = Node("n", {"cpu": 4_000, BATCH_CPU: 1_001}, margin={"cpu": 4_000})
    plain = Node("m", {"cpu": 4_000}, margin={"cpu": 1})
    found = with_margins(Report(cluster="c", epoch="e", sequence=1, nodes=(node, plain)), 10)
    assert [one.margin for one in found.nodes] == [{BATCH_CPU: 101}, {}]
