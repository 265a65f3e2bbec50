"""Whom to evict when quota is short or one reclaim forbids another, and what is said when nobody is evicted."""

import pytest
from msgspec.structs import replace

from fairway.lab.bench.evict.candidate_rows import CandidateRow
from fairway.placement.fleet import Fleet
from fairway.placement.relief.outcome import NoRelief, Relief
from fairway.placement.relief.relieve import relieve
from fairway.wire.policy import Affinity, Placement
from fairway.wire.preemption.evictions import Lender
from fairway.wire.reasons import Code
from tests.spec.placement.builders import GPU, NOW, cluster, context, job, node, workers
from tests.spec.placement.relief_builders import ANY, asked, full, lend, look, one


def test_quota_alone_is_given_back_by_the_fewest_in_any_cluster() -> None:
    views = [cluster([node("n0", gpu=8)], "a"), cluster([full("n0", x=2, y=2, z=4)], "b")]
    given = asked(
        *(one(name, "b", charge=gpus) for name, gpus in (("x", 2), ("y", 2), ("z", 4))),
        paths=(("root", "root/a"),),
        short={f"root|{GPU}": 4},
    )
    found = look(views, job(workers(8)), given)
    assert isinstance(found, Relief)
    assert (found.cluster, [(victim.job, victim.quota) for victim in found.victims]) == ("a", [("z", True)])


def test_who_gives_room_and_quota_goes_before_two_of_which_each_gives_one() -> None:
    view = cluster([full("n0", a=8), full("n1", b=8), full("n2", x=8)])
    given = asked(
        one("a", charge=8, path=1),
        one("x", charge=8),
        one("b", charge=8, path=1),
        paths=(("root/short",), ("root/other",)),
        short={f"root/short|{GPU}": 8},
    )
    found = look([view], job(workers(1, gpu=8)), given)
    assert isinstance(found, Relief)
    assert [(victim.job, victim.quota) for victim in found.victims] == [("x", True)]


def test_quota_from_one_and_room_from_another() -> None:
    view = cluster([full("n0", a=8), full("n1", b=1, rest=7)])
    given = asked(
        one("a", charge=8, path=1), one("b", charge=1), paths=(("root",), ("other",)), short={f"root|{GPU}": 1}
    )
    found = look([view], job(workers(1, gpu=8)), given)
    assert isinstance(found, Relief)
    assert sorted((victim.job, victim.quota) for victim in found.victims) == [("a", False), ("b", True)]


def test_what_is_missing_is_said_when_not_even_all_are_enough() -> None:
    views = [cluster([full("n0", a=4, rest=4)], "a"), cluster([full("n0", x=2, rest=6)], "b")]
    found = look(views, job(workers(6)), asked(one("a", "a"), one("x", "b")))
    assert isinstance(found, NoRelief)
    assert (found.cluster, found.missing, found.looked) == ("a", 2, 2)
    assert found.why.text == (
        "needs 6 pods of 1 cpu, 1 nvidia.com/gpu; 2 of 2 clusters have too little room, nearest is a: if all "
        "of 2 candidates went that may, 2 of its 6 pods would have no room"
    )


def test_what_quota_still_lacks_is_said_too() -> None:
    given = asked(one("a", charge=4), paths=(("root",),), short={f"root|{GPU}": 6})
    found = look([cluster([full("n0", a=4)])], job(workers(4)), given)
    assert isinstance(found, NoRelief)
    assert found.why.code is Code.WAITING_FOR_QUOTA
    assert found.why.text == (
        "quota is short, and evictions do not give enough back: of 1 candidates 1 may go; "
        "root would still lack 2 nvidia.com/gpu"
    )


def test_nobody_goes_from_a_silent_cluster_or_one_that_could_never_hold_it() -> None:
    views = [cluster([full("n0", a=8)], "a", observed_at=NOW - 60_000), cluster([full("n0", b=8)], "b")]
    found = look(views, job(workers(9)), asked(one("a", "a"), one("b", "b")))
    assert isinstance(found, NoRelief)
    assert (found.cluster, found.missing) == ("", 0)
    assert found.why.text == (
        "none of 2 clusters could take it now if all of 2 candidates went: "
        "a: its last report is 60 s old; 30 s is the limit; "
        "b: needs 9 pods of 1 cpu, 1 nvidia.com/gpu; even empty the cluster would hold 8 node by node, 8 by sum of "
        "resources"
    )


def test_of_ordered_affinities_each_cluster_is_told_with_what_it_said_when_it_was_selected_and_five_are_named() -> None:
    views = [cluster([full("n0", x=8)], name) for name in "abcdefg"]
    first = Affinity("first", ("a",))
    second = Affinity("second", tuple("bcdefg"))
    found = look(views, job(workers(9)), asked(one("x", "a")), Placement((first, second)))
    assert isinstance(found, NoRelief)
    each = "needs 9 pods of 1 cpu, 1 nvidia.com/gpu; even empty the cluster would hold 8 node by node, 8 by sum of "
    several = "; ".join(f"{name}: {each}resources" for name in "abcde")
    assert found.why.text == f"none of 7 clusters could take it now if all of 1 candidates went: {several}; and 2 more"


def test_other_sets_are_tried_where_one_reclaim_forbids_the_next() -> None:
    """The two on n0 give most and are too much for their lender together; the three on n1 are not."""
    nodes = [full("n0", a=4, b=4), full("n1", x=3, y=3, z=2), full("n2", a=4, b=4)]
    given = asked(*(one(name, lender=0) for name in "abxyz"), lenders=lend(6), reclaimable=(GPU,))
    found = look([cluster(nodes)], job(workers(1, gpu=8), gang=1), given)
    assert isinstance(found, Relief)
    assert [victim.job for victim in found.victims] == ["z", "x", "y"]


def test_by_quota_that_is_short_only_that_resource_is_reclaimed() -> None:
    """Its lender is over its min in GPUs, and it is cpu that lacks."""
    views = [cluster([node("n0", gpu=8)], "a"), cluster([full("n0", x=8)], "b")]
    other = CandidateRow("x", "b", lender=0, charge={"cpu": 1_000, GPU: 8})
    given = asked(other, lenders=lend(9), paths=(("root",),), short={"root|cpu": 1_000}, reclaimable=(GPU, "cpu"))
    assert isinstance(look(views, job(workers(8)), given), NoRelief)
    lenders = (Lender("root/0", -1, {"cpu": 1}),)
    assert isinstance(look(views, job(workers(8)), replace(given, lenders=lenders)), Relief)


@pytest.mark.parametrize("info", [{"observed_at": NOW - 60_000}, {"cordoned": True}])
def test_nobody_gives_quota_back_from_a_silent_or_cordoned_cluster(info: dict[str, object]) -> None:
    views = [cluster([node("n0", gpu=8)], "a"), cluster([full("n0", x=8)], "b", **info)]
    given = asked(one("x", "b", charge=8), paths=(("root",),), short={f"root|{GPU}": 1})
    assert isinstance(look(views, job(workers(8)), given), NoRelief)


def test_what_candidates_hold_is_read_again_when_their_nodes_change() -> None:
    fleet = Fleet({"c": cluster([full("n0", a=8), full("n1", b=8)])})
    given = asked(one("a"), one("b", priority=1))
    pod = job(workers(1, gpu=8))

    def victims() -> list[str]:
        found = relieve(fleet, pod, ANY, context(), given)
        return [victim.job for victim in getattr(found, "victims", ())]

    assert victims() == ["a"]
    fleet["c"].put(full("n0", other=8))
    assert victims() == ["b"]
    fleet["c"].put(full("n1", other=8))
    assert victims() == []
    fleet["c"].put(full("n0", a=8))
    assert victims() == ["a"]
