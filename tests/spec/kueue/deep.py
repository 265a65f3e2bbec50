"""Fair sharing over cohorts in cohorts."""

from tests.spec.kueue.decided import Case, Runs
from tests.spec.kueue.trees import cohort, fleet, queue

_BRANCHES = fleet(
    cohort("LEFT", queue("a", 1, weight=2), queue("b", 1), cpu=5, weight=2),
    queue("c", 1),
    cohort("RIGHT", queue("d", 1), queue("e", 1), cpu=5),
    cpu=5,
)
_DEEP = fleet(
    cohort("A", cohort("AA", cohort("AAA", queue("a"))), weight=2),
    cohort("B", cohort("BB", cohort("BBB", queue("b")))),
    cohort("C", cohort("CC", cohort("CCC", cohort("CCCC", cpu=1)))),
)
_LOW = {f"a{number}": Runs("a", 1, -1) for number in (1, 2, 3)}

CASES = {
    "hierarchical preemption": Case(
        _BRANCHES,
        {f"{leaf}{number}": Runs(leaf, 1, number) for leaf in "bcde" for number in range(1, 6)},
        Runs("a", 5),
        "b1 b2 c1 c2 e1",
    ),
    "borrowing cq in non-borrowing cohort is protected": Case(
        fleet(queue("a", 5, weight=10), cohort("RIGHT", queue("b"), cpu=1)),
        {**_LOW, "b1": Runs("b", 1, -1)},
        Runs("a", 5),
        "a1 a2 a3",
    ),
    "forced to preempt within clusterqueue because borrowing workload too important": Case(
        fleet(queue("a", 5, weight=10), cohort("RIGHT", queue("b"), cpu=3)),
        {**_LOW, "b1": Runs("b", 4, 100)},
        Runs("a", 4),
        "a1 a2 a3",
    ),
    "deep preemption": Case(_DEEP, {"b1": Runs("b", 1)}, Runs("a", 1), "b1"),
    "cq with zero weight can reclaim nominal quota": Case(
        fleet(queue("a", 1, weight=0), queue("b")), {"b1": Runs("b", 1)}, Runs("a", 1), "b1"
    ),
    "cohort with zero weight can reclaim nominal quota": Case(
        fleet(cohort("A", queue("a", weight=0), cpu=1, weight=0), queue("b")),
        {"b1": Runs("b", 1)},
        Runs("a", 1),
        "b1",
    ),
}
