"""Cohorts in cohorts: what a cohort has of its own goes to its queues before others."""

from tests.spec.kueue.decided import Case, Runs
from tests.spec.kueue.trees import cohort, fleet, queue

_ADVANTAGE = fleet(cohort("c", queue("q"), cpu=2), queue("q_borrowing"))
_BESIDE = fleet(cohort("c", queue("q"), queue("q_same_cohort"), cpu=4, domain=True), queue("q_borrowing"), cpu=1)
_COMPLEX = fleet(
    cohort(
        "c11",
        cohort("c21", cohort("c31", queue("q5"), cpu=4), cohort("c32", queue("q4"), cpu=4), cpu=4),
        cohort("c22", queue("q3"), cpu=4),
        cohort("c23", queue("q2"), cpu=4),
        cpu=4,
    ),
    cohort("c12", queue("q1"), cpu=4),
)

CASES = {
    "preempt with hierarchical advantage": Case(
        _ADVANTAGE, {"admitted2": Runs("q_borrowing", 2)}, Runs("q", 2), "admitted2"
    ),
    "avoid queues within nominal quota": Case(
        fleet(queue("q_nominal", 2), cohort("c", queue("q"), cpu=2), queue("q_borrowing")),
        {"admitted1": Runs("q_nominal", 2, -10), "admitted2": Runs("q_borrowing", 2)},
        Runs("q", 2),
        "admitted2",
    ),
    "preempt multiple with hierarchical advantage": Case(
        _ADVANTAGE,
        {"admitted1": Runs("q_borrowing", 1, 1), "admitted2": Runs("q_borrowing", 1, 2)},
        Runs("q", 2),
        "admitted1 admitted2",
    ),
    "preempt in cohort and own CQ": Case(
        fleet(cohort("c", queue("q"), queue("q_same_cohort"), cpu=3, domain=True)),
        {
            "admitted_not_preemptible": Runs("q_same_cohort", 1, 1),
            "admitted_preemptible": Runs("q_same_cohort", 2),
            "admitted_own_queue": Runs("q", 1, -1),
        },
        Runs("q", 2, 1),
        "admitted_preemptible admitted_own_queue",
    ),
    "prefer to preempt hierarchical candidate": Case(
        _ADVANTAGE,
        {"admitted_borrowing": Runs("q_borrowing", 1, 1), "admitted_same_queue": Runs("q", 1, -2)},
        Runs("q", 1),
        "admitted_borrowing",
    ),
    "forced to preempt priority candidate": Case(
        fleet(cohort("c", queue("q"), queue("q_same_cohort"), cpu=2, domain=True), queue("q_nominal", 2)),
        {"admitted_nominal": Runs("q_nominal", 2, -10), "admitted_same_cohort": Runs("q_same_cohort", 2, -1)},
        Runs("q", 2),
        "admitted_same_cohort",
    ),
    "incoming workload fits in CQ nominal quota": Case(
        fleet(cohort("c", queue("q", 4), queue("q_same_cohort"), cpu=2), queue("q_borrowing")),
        {"admitted_borrowing": Runs("q_borrowing", 3, 10), "admitted_same_cohort": Runs("q_same_cohort", 3, 10)},
        Runs("q", 4),
        "admitted_borrowing admitted_same_cohort",
    ),
    "preempt hierarchical and priority candidates": Case(
        _BESIDE,
        {
            "admitted_borrowing": Runs("q_borrowing", 2, -1),
            "admitted_same_cohort_preemptible": Runs("q_same_cohort", 1, -1),
            "admitted_borrowing_not_preemptible": Runs("q_borrowing", 2, 1),
        },
        Runs("q", 3),
        "admitted_borrowing admitted_same_cohort_preemptible",
    ),
    "preempt hierarchical candidates and inside CQ": Case(
        _BESIDE,
        {
            "admitted_borrowing": Runs("q_borrowing", 2, -1),
            "admitted_same_queue_preemptible": Runs("q", 1, -1),
            "admitted_borrowing_not_preemptible": Runs("q_borrowing", 2, 1),
        },
        Runs("q", 3),
        "admitted_borrowing admitted_same_queue_preemptible",
    ),
    "reclaim nominal quota from lowest priority workload, excluding non-borrowing": Case(
        fleet(cohort("c", queue("q"), cpu=3), queue("q_borrowing"), queue("q_nominal", 2)),
        {
            "admitted_borrowing_prio_8": Runs("q_borrowing", 1, 8),
            "admitted_borrowing_prio_9": Runs("q_borrowing", 1, 9),
            "admitted_borrowing_prio_10": Runs("q_borrowing", 1, 9),
            "admitted_nominal": Runs("q_nominal", 2, -2),
        },
        Runs("q", 1),
        "admitted_borrowing_prio_8",
    ),
    "infeasible preemption all available workloads in pruned subtrees": Case(
        fleet(cohort("c", queue("q"), queue("q_same_cohort"), cpu=2), cohort("c_other", queue("q_other"), cpu=2)),
        {
            "admitted_other_1": Runs("q_other", 1, -10),
            "admitted_other_2": Runs("q_other", 1, -10),
            "admitted_same_cohort": Runs("q_same_cohort", 2),
        },
        Runs("q", 2),
    ),
    "hiearchical preemption with multiple resources": Case(
        fleet(
            cohort("c", queue("q", 0, 0), queue("q_same_cohort", 0, 0), cpu=4, memory=4),
            queue("q_borrowing", 0, 0),
            cpu=3,
        ),
        {
            "admitted_borrowing": Runs("q_borrowing", 3, 0, 1),
            "admitted_same_cohort": Runs("q_same_cohort", 1, -2, 3),
        },
        Runs("q", 2, -2, 1),
        "admitted_borrowing",
    ),
    "prefer to preempt evicted workloads": Case(
        fleet(cohort("c", queue("q"), queue("q_same_cohort"), cpu=2, domain=True), queue("q_borrowing")),
        {
            "admitted_borrowing": Runs("q_borrowing", 1, -10),
            "evicted_same_cohort": Runs("q_same_cohort", 1, -1, leaves=True),
        },
        Runs("q", 1),
    ),
    "respect lending limits": Case(
        fleet(cohort("c", queue("q", 3, lends=2), cpu=2), queue("q_borrowing")),
        {"admitted_borrowing": Runs("q_borrowing", 4)},
        Runs("q", 5, -2),
        "admitted_borrowing",
    ),
    "reclaim in complex hierarchy": Case(
        _COMPLEX,
        {
            "admitted_borrowing_1": Runs("q1", 4, -6),
            "admitted_borrowing_2": Runs("q1", 4, -5),
            "admitted_borrowing_3": Runs("q2", 4, -9),
            "admitted_borrowing_4": Runs("q2", 4, -10),
            "admitted_borrowing_5": Runs("q3", 4, -4),
            "admitted_borrowing_6": Runs("q3", 3, -3),
            "admitted_borrowing_7": Runs("q4", 2, 4),
            "admitted_borrowing_8": Runs("q4", 3, 2),
        },
        Runs("q5", 7, -2),
        "admitted_borrowing_1 admitted_borrowing_4",
    ),
}
