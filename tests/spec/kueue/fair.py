"""Cohorts under fair sharing: several queues of the same nominal quota, weights, and depth."""

from tests.spec.kueue.decided import Case, Runs
from tests.spec.kueue.trees import cohort, fleet, queue

BASE = fleet(queue("a", 3), queue("b", 3), queue("c", 3), queue("preemptible", never=True))


def units(leaf: str, count: int, priority: int = 0) -> dict[str, Runs]:
    """So many jobs of one cpu each, `b1` and so on."""
    return {f"{leaf}{number}": Runs(leaf, 1, priority) for number in range(1, count + 1)}


_FULL = {**units("a", 3), **units("b", 5), **units("c", 1)}
_BORROWED = {"b_low": Runs("b", 5), "b_high": Runs("b", 1, 1), "a1": Runs("a", 3)}

CASES = {
    "reclaim nominal from user using the most": Case(BASE, _FULL, Runs("c", 1), "b1"),
    "can reclaim from queue using less, if taking the latest workload from user using the most isn't enough": Case(
        BASE,
        {"a1": Runs("a", 3), "a2": Runs("a", 1), "b1": Runs("b", 2), "b2": Runs("b", 3)},
        Runs("c", 3),
        "a1",
    ),
    "reclaim borrowable quota from user using the most": Case(BASE, _FULL, Runs("a", 1), "b1"),
    "preempt one from each CQ borrowing": Case(
        BASE,
        {
            "a1": Runs("a", 0.5),
            "a2": Runs("a", 0.5),
            "a3": Runs("a", 3),
            "b1": Runs("b", 0.5),
            "b2": Runs("b", 0.5),
            "b3": Runs("b", 3),
        },
        Runs("c", 2),
        "a1 b1",
    ),
    "can't preempt when everyone under nominal": Case(
        BASE, {**units("a", 3), **units("b", 3), **units("c", 3)}, Runs("c", 1)
    ),
    "can't preempt when it would switch the imbalance": Case(BASE, {**units("a", 3), **units("b", 5)}, Runs("a", 2)),
    "can preempt lower priority workloads from same CQ": Case(
        BASE,
        {
            "a1_low": Runs("a", 1, -1),
            "a2_low": Runs("a", 1, -1),
            "a3": Runs("a", 1),
            "a4": Runs("a", 1),
            **units("b", 5),
        },
        Runs("a", 2),
        "a1_low a2_low",
    ),
    "can preempt a combination of same CQ and highest user": Case(
        BASE,
        {"a_low": Runs("a", 1, -1), "a2": Runs("a", 1), "a3": Runs("a", 1), **units("b", 6)},
        Runs("a", 2),
        "a_low b1",
    ),
    "preempt huge workload if there is no other option, as long as the target CQ gets a lower share": Case(
        BASE, {"b1": Runs("b", 9)}, Runs("a", 2), "b1"
    ),
    "can't preempt huge workload if the incoming is also huge": Case(
        BASE, {"a1": Runs("a", 2), "b1": Runs("b", 7)}, Runs("a", 5)
    ),
    "can't preempt 2 smaller workloads if the incoming is huge": Case(
        BASE, {"b1": Runs("b", 2), "b2": Runs("b", 2), "b3": Runs("b", 3)}, Runs("a", 6)
    ),
    "preempt from target and others even if over nominal": Case(
        BASE,
        {"a1_low": Runs("a", 2, -1), "a2_low": Runs("a", 1, -1), "b1": Runs("b", 3), "b2": Runs("b", 3)},
        Runs("a", 4),
        "a1_low b1",
    ),
    "prefer to preempt workloads that don't make the target CQ have the biggest share": Case(
        BASE,
        {"b1": Runs("b", 2), "b2": Runs("b", 1), "b3": Runs("b", 2), "c1": Runs("c", 1)},
        Runs("a", 3.5),
        "b2",
    ),
    "preempt from different cluster queues if the end result has a smaller max share": Case(
        BASE,
        {"b1": Runs("b", 2), "b2": Runs("b", 2.5), "c1": Runs("c", 2), "c2": Runs("c", 2.5)},
        Runs("a", 3.5),
        "b1 c1",
    ),
    "scenario above does not flap": Case(
        BASE, {"a1": Runs("a", 3.5), "b2": Runs("b", 2.5), "c2": Runs("c", 2.5)}, Runs("b", 2)
    ),
    "cannot preempt if it would make the candidate CQ go under nominal after preempting one element": Case(
        BASE, {"b1": Runs("b", 3), "b2": Runs("b", 3), "c1": Runs("c", 3)}, Runs("a", 4)
    ),
    "workloads under priority threshold not capriciously preempted": Case(
        BASE, {**units("a", 3), **units("b", 3), **units("preemptible", 3, -3)}, Runs("a", 2)
    ),
    "preempt lower priority first, even if big": Case(BASE, _BORROWED, Runs("a", 1), "b_low"),
    "preempt workload that doesn't transfer the imbalance, even if high priority": Case(
        BASE, _BORROWED, Runs("a", 1), "b_high"
    ),
    "CQ with higher weight can preempt more": Case(
        fleet(queue("a", 3, weight=2), queue("b", 3), queue("c", 3)),
        {**units("a", 3), **units("b", 6)},
        Runs("a", 2),
        "b1 b2",
    ),
    "can preempt anything borrowing from CQ with 0 weight": Case(
        fleet(queue("a", 3), queue("b", 3, weight=0), queue("c", 3)),
        {**units("a", 3), **units("b", 6)},
        Runs("a", 3),
        "b1 b2 b3",
    ),
    "can't preempt nominal from CQ with 0 weight": Case(
        fleet(queue("a", 3), queue("b", 3, weight=0)), {**units("a", 3), **units("b", 3)}, Runs("a", 1)
    ),
    "can't preempt nominal from Cohort with 0 weight": Case(
        fleet(queue("left-cq"), cohort("right-cohort", queue("right-cq", weight=0), cpu=1, weight=0)),
        {"right-1": Runs("right-cq", 1)},
        Runs("left-cq", 1),
    ),
    "can preempt within cluster queue when no cohort": Case(
        fleet(queue("a", 1)), {"a1": Runs("a", 1)}, Runs("a", 1, 1000), "a1"
    ),
    "zero weight borrowing preemptor cannot preempt from a borrowing CQ with a non-zero weight": Case(
        fleet(queue("a", 1, weight=0), queue("b", 1)), {**units("a", 1), **units("b", 2)}, Runs("a", 1)
    ),
    # Its flavors premium and cheap are two resources here.
    "nominal first: workload fitting within nominal can preempt despite high aggregate DRS": Case(
        fleet(queue("a", 3, 0), queue("b", 0, 6)),
        {
            **{f"a_prem{number}": Runs("a", 1) for number in (1, 2)},
            **{f"a_cheap{number}": Runs("a", 0, memory=1) for number in range(1, 6)},
            "b_prem1": Runs("b", 1),
        },
        Runs("a", 1),
        "b_prem1",
    ),
}
