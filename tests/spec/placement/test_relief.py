"""Whom to evict: the cases that other schedulers' users complain of, each by its name."""

import pytest

from fairway.placement.relief.outcome import Relief
from fairway.wire.capacity import Node, Slot
from fairway.wire.policy import Affinity, Placement
from fairway.wire.preemption.claims import Cause
from fairway.wire.preemption.evictions import Lender, Relieve
from fairway.wire.workload import Workload
from tests.spec.placement.builders import GPU, cluster, job, node, workers
from tests.spec.placement.relief_builders import asked, full, lend, look, one


@pytest.mark.parametrize(
    ("nodes", "when", "given", "want"),
    [
        pytest.param(
            [full("n0", a=8), full("n1", b=8)],
            job(workers(1, gpu=8)),
            asked(one("a", priority=1), one("b", lost=99)),
            ["b"],
            id="the lowest priority goes first, whatever work is lost",
        ),
        pytest.param(
            [full("n0", a=8), full("n1", b=8)],
            job(workers(1, gpu=8)),
            asked(one("a", level=1), one("b", priority=9)),
            ["b"],
            id="the lowest level goes before the lowest priority",
        ),
        pytest.param(
            [full("n0", a=4, b=4), full("n1", c=8)],
            job(workers(1, gpu=8)),
            asked(one("a"), one("b"), one("c", lost=99)),
            ["c"],
            id="one job rather than two",
        ),
        pytest.param(
            [full("n0", a=8), full("n1", b=8)],
            job(workers(1, gpu=8)),
            asked(one("a", lost=5), one("b", lost=4)),
            ["b"],
            id="of equals the one that loses least",
        ),
        pytest.param(
            [full("n0", a=4, b=4), full("n1", c=4, d=4)],
            job(workers(1, gpu=8)),
            asked(one("a"), one("c"), one("d")),
            ["c", "d"],
            id="room on one node, not the sum of two",
        ),
        pytest.param(
            [full("n0", a=2, b=2, c=4)],
            job(workers(1, gpu=4)),
            asked(one("a"), one("b"), one("c")),
            ["c"],
            id="nobody is evicted who is not needed",
        ),
        pytest.param(
            [full("n0", a=4, b=4), full("n1", a=1, b=1, c=6)],
            job(workers(1, gpu=8)),
            asked(one("a"), one("b"), one("c")),
            ["a", "b"],
            id="nor who gives most by himself, once the others are enough",
        ),
        pytest.param(
            [full("n0", a=5, b=3), full("n1", c=4, d=4), full("n2", c=4, d=4)],
            job(workers(12)),
            asked(one("a"), one("b"), one("c"), one("d", lost=9)),
            ["a", "c"],
            id="what a second one gives counts as far as it is still missing",
        ),
        pytest.param(
            [full("n0", a=8), full("n1", a=8), full("n2", b=8), full("n3", c=8)],
            job(workers(2, gpu=8)),
            asked(one("a"), one("b"), one("c")),
            ["a"],
            id="an attempt goes from all of its nodes",
        ),
        pytest.param(
            [full("n0", a=8), full("n1", b=8), full("n2", c=8)],
            job(workers(3, gpu=8), gang=2),
            asked(one("a"), one("b"), one("c")),
            ["a", "b"],
            id="room for the gang, not for the wish",
        ),
        pytest.param(
            [full("n0", a=8), node("n1", cpu=2_000, holds={"b/1": {"cpu": 2_000, "pods": 1}})],
            job(workers(1, gpu=0, cpu=2_000, name="Launcher"), workers(8)),
            asked(one("a"), one("b")),
            ["a"],
            id="several shapes: the launcher goes where a was, too",
        ),
        pytest.param(
            [full("n0", a=8), node("n1", cpu=2_000, holds={"b/1": {"cpu": 2_000, "pods": 1}})],
            job(workers(1, gpu=0, cpu=64_000, name="Launcher"), workers(8)),
            asked(one("a"), one("b")),
            [],
            id="several shapes that fit one by one and not together",
        ),
    ],
)
def test_who_goes(nodes: list[Node], when: Workload, given: Relieve, want: list[str]) -> None:
    found = look([cluster(nodes)], when, given)
    assert [victim.job for victim in getattr(found, "victims", ())] == want
    assert isinstance(found, Relief) is bool(want)


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param(
            {"lenders": lend(8), "reclaimable": (GPU,)}, ["a", "b"], id="as far as its lender is over its min"
        ),
        pytest.param({"lenders": lend(5), "reclaimable": (GPU,)}, ["a", "b"], id="over it before the last goes"),
        pytest.param({"lenders": lend(4), "reclaimable": (GPU,)}, [], id="not below it"),
        pytest.param({"lenders": lend(9), "reclaimable": ("cpu",)}, [], id="only what the guarantee names"),
        pytest.param(
            {"lenders": (*lend(9, above=1), Lender("root", -1, {GPU: 4})), "reclaimable": (GPU,)},
            [],
            id="nor below the min of a node above its lender",
        ),
        pytest.param(
            {"lenders": (Lender("root/0", -1, {"cpu": 9}),), "reclaimable": (GPU, "cpu")}, [], id="what lacks"
        ),
    ],
)
def test_reclaim_stops_at_min(given: dict[str, object], want: list[str]) -> None:
    """Two attempts of 4 GPUs on a node of 8, and a pod that needs all of it."""
    found = look(
        [cluster([full("n0", a=4, b=4)])],
        job(workers(1, gpu=8)),
        asked(one("a", lender=0), one("b", lender=0), **given),
    )
    assert [victim.job for victim in getattr(found, "victims", ())] == want
    assert {victim.cause for victim in getattr(found, "victims", ())} <= {Cause.RECLAIM}


def test_a_cluster_where_it_fits_as_it_is_wins() -> None:
    views = [cluster([full("n0", a=8)], "a"), cluster([node("n0", gpu=8)], "b")]
    found = look(views, job(workers(8)), asked(one("a", "a")))
    assert found == Relief("b", (Slot("Worker", "n0", 8),), (), 1)


def test_all_victims_are_of_one_cluster() -> None:
    views = [cluster([full("n0", a=4, b=4)], "a"), cluster([full("n0", x=8)], "b", cordoned=True)]
    given = asked(one("a", "a"), one("b", "a"), one("x", "b"))
    found = look(views, job(workers(8)), given)
    assert isinstance(found, Relief)
    assert (found.cluster, [victim.job for victim in found.victims]) == ("a", ["a", "b"])


def test_the_cheaper_of_two_clusters_is_chosen_and_of_equal_ones_the_first_by_name() -> None:
    views = [cluster([full("n0", a=4, b=4)], "a"), cluster([full("n0", x=8)], "b"), cluster([full("n0", y=8)], "d")]
    given = asked(one("a", "a"), one("b", "a"), one("x", "b"), one("y", "d"))
    found = look(views, job(workers(8)), given)
    assert isinstance(found, Relief)
    assert (found.cluster, [victim.job for victim in found.victims]) == ("b", ["x"])


def test_the_first_affinity_that_has_an_answer_decides() -> None:
    views = [cluster([full("n0", a=4, b=4)], "a"), cluster([full("n0", x=8)], "b")]
    given = asked(one("a", "a"), one("b", "a"), one("x", "b"))
    found = look(views, job(workers(8)), given, Placement((Affinity("first", ("a",)), Affinity("second", ("b",)))))
    assert isinstance(found, Relief)
    assert found.cluster == "a"
