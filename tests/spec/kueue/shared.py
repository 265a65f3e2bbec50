"""Cohorts in which priority counts across queues, lend limits, cohorts of three queues, and a long way between two."""

from tests.spec.kueue.decided import Case, Runs
from tests.spec.kueue.trees import cohort, fleet, queue

SHARED = fleet(
    queue("a_standard", 1),
    queue("b_standard", 1),
    queue("a_best_effort", 1),
    queue("b_best_effort"),
    queue("shared", 10),
    domain=True,
)
LENDING = fleet(queue("lend1", 6, lends=4), queue("lend2", 6, lends=2))
THREE = fleet(queue("a", 2, 2), queue("b", 2, 2, never=True), queue("c", 2, 2, never=True))
FAR = fleet(cohort("cohort-left", queue("cq-left", 10)), cohort("cohort-right", queue("cq-right")))

CASES = {
    "use BorrowWithinCohort; allow preempting a lower-priority workload from another ClusterQueue while "
    "borrowing": Case(
        SHARED,
        {"a_best_effort_low": Runs("a_best_effort", 10, -1), "b_best_effort_low": Runs("b_best_effort", 1, -1)},
        Runs("a_standard", 10),
        "a_best_effort_low",
    ),
    "use BorrowWithinCohort; don't allow preempting a lower-priority workload with priority above "
    "MaxPriorityThreshold, if borrowing is required even after the preemption": Case(
        SHARED, {"b_standard": Runs("b_standard", 10, 1)}, Runs("a_standard", 10, 2)
    ),
    "use BorrowWithinCohort; allow preempting a lower-priority workload with priority above MaxPriorityThreshold, if "
    "borrowing is not required after the preemption": Case(
        SHARED, {"b_standard": Runs("b_standard", 13, 1)}, Runs("a_standard", 1, 2), "b_standard"
    ),
    "use BorrowWithinCohort; don't allow for preemption of lower-priority workload from the same ClusterQueue": Case(
        SHARED, {"a_standard": Runs("a_standard", 13, 1)}, Runs("a_standard", 1, 2)
    ),
    "use BorrowWithinCohort; only preempt from CQ if no workloads below threshold and already above nominal": Case(
        SHARED,
        {
            "a_standard_1": Runs("a_standard", 10, 1),
            "a_standard_2": Runs("a_standard", 1, 1),
            "b_standard_1": Runs("b_standard", 1, 1),
            "b_standard_2": Runs("b_standard", 1, 2),
        },
        Runs("b_standard", 1, 3),
        "b_standard_1",
    ),
    "use BorrowWithinCohort; preempt from CQ and from other CQs with workloads below threshold": Case(
        SHARED,
        {
            "b_standard_high": Runs("b_standard", 10, 2),
            "b_standard_mid": Runs("b_standard", 1, 1),
            "a_best_effort_low": Runs("a_best_effort", 1, -1),
            "a_best_effort_lower": Runs("a_best_effort", 1, -2),
        },
        Runs("b_standard", 2, 2),
        "b_standard_mid a_best_effort_lower",
    ),
    "reclaim quota from lender": Case(
        LENDING,
        {"lend1-low": Runs("lend1", 3, -1), "lend2-mid": Runs("lend2", 3), "lend2-high": Runs("lend2", 4, 1)},
        Runs("lend1", 3, 1),
        "lend2-mid",
    ),
    "preempt from all ClusterQueues in cohort-lend": Case(
        LENDING,
        {
            "lend1-low": Runs("lend1", 3, -1),
            "lend1-mid": Runs("lend1", 2),
            "lend2-low": Runs("lend2", 3, -1),
            "lend2-mid": Runs("lend2", 4),
        },
        Runs("lend1", 4),
        "lend1-low lend2-low",
    ),
    "cannot preempt from other ClusterQueues if exceeds requestable quota including lending limit": Case(
        LENDING, {"lend2-low": Runs("lend2", 10, -1)}, Runs("lend1", 9)
    ),
    "preemptions from cq when target queue is exhausted for the single requested resource": Case(
        THREE,
        {
            "a1": Runs("a", 1, -2),
            "a2": Runs("a", 1, -2),
            "a3": Runs("a", 1, -1),
            **{f"b{number}": Runs("b", 1) for number in (1, 2, 3)},
        },
        Runs("a", 2),
        "a1 a2",
    ),
    "preemptions from cq when target queue is exhausted for two requested resources": Case(
        THREE,
        {
            "a1": Runs("a", 1, -2, 1),
            "a2": Runs("a", 1, -2, 1),
            "a3": Runs("a", 1, -1, 1),
            **{f"b{number}": Runs("b", 1, 0, 1) for number in (1, 2, 3)},
        },
        Runs("a", 2, 0, 2),
        "a1 a2",
    ),
    "preemptions from cq when target queue is exhausted for one requested resource, but not the other": Case(
        THREE,
        {
            "a1": Runs("a", 1, -2),
            "a2": Runs("a", 1, -2),
            "a3": Runs("a", 1, -1),
            **{f"b{number}": Runs("b", 1) for number in (1, 2, 3)},
        },
        Runs("a", 2, 0, 2),
        "a1 a2",
    ),
    "allow preemption from other cluster queues if target cq is not exhausted for the requested resource": Case(
        THREE,
        {
            "a1": Runs("a", 1, -1),
            **{f"b{number}": Runs("b", 1) for number in (1, 2, 3, 4)},
            "b5": Runs("b", 1, -1),
        },
        Runs("a", 2),
        "a1 b5",
    ),
    "long range preemption": Case(FAR, {"to-be-preempted": Runs("cq-right", 5)}, Runs("cq-left", 8), "to-be-preempted"),
}
