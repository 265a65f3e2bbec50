"""Queues alone, and cohorts of one or two queues that may borrow."""

from tests.spec.kueue.decided import Case, Runs
from tests.spec.kueue.trees import fleet, queue

ALONE = fleet(queue("standalone", 6, 6))
_ALL = {"cpu": 12_000, "memory": 6}
TWO = fleet(queue("c1", 6, 3, most=_ALL), queue("c2", 6, 3, most=_ALL, never=True))
UNLIMITED = fleet(queue("d1", 6, 3), queue("d2", 6, 3, never=True))
SINGLE = fleet(queue("l1", 6, 3))
# Kueue's flavors alpha and beta.
FLAVORS = {"alpha": {"cpu": 3_000, "memory": 3}, "beta": {"cpu": 3_000, "memory": 3}}


def on(flavor: str, memory: int, priority: int = 0) -> Runs:
    return Runs("standalone", 0, priority, memory, flavor)


CASES = {
    "preempt lowest priority": Case(
        ALONE,
        {"low": Runs("standalone", 2, -1), "mid": Runs("standalone", 2), "high": Runs("standalone", 2, 1)},
        Runs("standalone", 2, 1),
        "low",
    ),
    "preempt multiple": Case(
        ALONE,
        {"low": Runs("standalone", 2, -1), "mid": Runs("standalone", 2), "high": Runs("standalone", 2, 1)},
        Runs("standalone", 3, 1),
        "low mid",
    ),
    "no preemption for low priority": Case(
        ALONE,
        {"low": Runs("standalone", 3, -1), "mid": Runs("standalone", 3)},
        Runs("standalone", 1, -1),
    ),
    "not enough low priority workloads": Case(
        ALONE,
        {"low": Runs("standalone", 3, -1), "mid": Runs("standalone", 3)},
        Runs("standalone", 4),
    ),
    "some free quota, preempt low priority": Case(
        ALONE,
        {"low": Runs("standalone", 1, -1), "mid": Runs("standalone", 1), "high": Runs("standalone", 3, 1)},
        Runs("standalone", 2, 1),
        "low",
    ),
    "minimal set excludes low priority": Case(
        ALONE,
        {"low": Runs("standalone", 1, -1), "mid": Runs("standalone", 2), "high": Runs("standalone", 3, 1)},
        Runs("standalone", 2, 1),
        "mid",
    ),
    "reclaim quota from borrower": Case(
        TWO,
        {"c1-low": Runs("c1", 3, -1), "c2-mid": Runs("c2", 3), "c2-high": Runs("c2", 6, 1)},
        Runs("c1", 3, 1),
        "c2-mid",
    ),
    "reclaim quota if workload requests 0 resources for a resource at nominal quota": Case(
        TWO,
        {"c1-low": Runs("c1", 3, -1, memory=3), "c2-mid": Runs("c2", 3), "c2-high": Runs("c2", 6, 1)},
        Runs("c1", 3, 1, memory=0),
        "c2-mid",
    ),
    "no workloads borrowing": Case(
        TWO,
        {"c1-high": Runs("c1", 4, 1), "c2-low-1": Runs("c2", 4, -1)},
        Runs("c1", 4, 1),
    ),
    "not enough workloads borrowing": Case(
        TWO,
        {"c1-high": Runs("c1", 4, 1), "c2-low-1": Runs("c2", 4, -1), "c2-low-2": Runs("c2", 4, -1)},
        Runs("c1", 4, 1),
    ),
    "preempting locally and borrowing other resources in cohort, without cohort candidates": Case(
        TWO,
        {"c1-low": Runs("c1", 4, -1), "c2-low-1": Runs("c2", 4, -1), "c2-high-2": Runs("c2", 4, 1)},
        Runs("c1", 4, 1, memory=5),
        "c1-low",
    ),
    "preempting locally and borrowing same resource in cohort": Case(
        TWO,
        {"c1-med": Runs("c1", 4), "c1-low": Runs("c1", 4, -1), "c2-low-1": Runs("c2", 4, -1)},
        Runs("c1", 4, 1),
        "c1-low",
    ),
    "preempting locally and borrowing same resource in cohort; no borrowing limit in the cohort": Case(
        UNLIMITED,
        {"d1-med": Runs("d1", 4), "d1-low": Runs("d1", 4, -1), "d2-low-1": Runs("d2", 4, -1)},
        Runs("d1", 4, 1),
        "d1-low",
    ),
    "preempting locally and borrowing other resources in cohort, with cohort candidates": Case(
        TWO,
        {
            "c1-med": Runs("c1", 4),
            "c2-low-1": Runs("c2", 5, -1),
            "c2-low-2": Runs("c2", 1, -1),
            "c2-low-3": Runs("c2", 1, -1),
        },
        Runs("c1", 2, 1, memory=5),
        "c1-med",
    ),
    "preempting locally and not borrowing same resource in 1-queue cohort": Case(
        SINGLE,
        {"l1-med": Runs("l1", 4), "l1-low": Runs("l1", 2, -1)},
        Runs("l1", 4, 1),
        "l1-med",
    ),
    "do not reclaim borrowed quota from same priority for withinCohort=ReclaimFromLowerPriority": Case(
        TWO,
        {"c1": Runs("c1", 2), "c2-1": Runs("c2", 4), "c2-2": Runs("c2", 4)},
        Runs("c1", 4),
    ),
    "reclaim borrowed quota from same priority for withinCohort=ReclaimFromAny": Case(
        TWO,
        {"c1-1": Runs("c1", 4), "c1-2": Runs("c1", 4, 1), "c2": Runs("c2", 2)},
        Runs("c2", 4),
        "c1-1",
    ),
    "preempt from all ClusterQueues in cohort": Case(
        TWO,
        {
            "c1-low": Runs("c1", 3, -1),
            "c1-mid": Runs("c1", 2),
            "c2-low": Runs("c2", 3, -1),
            "c2-mid": Runs("c2", 4),
        },
        Runs("c1", 4),
        "c1-low c2-low",
    ),
    "can't preempt workloads in ClusterQueue for withinClusterQueue=Never": Case(
        TWO,
        {"c2-low": Runs("c2", 3, -1)},
        Runs("c2", 4, 1),
    ),
    "preempt newer workloads with the same priority": Case(
        ALONE,
        {"wl2": Runs("standalone", 2, 1), "wl3": Runs("standalone", 2, 1), "wl1": Runs("standalone", 2, 2)},
        Runs("standalone", 2, 1),
        "wl2",
    ),
    "only preempt workloads using the chosen flavor": Case(
        ALONE,
        {"low": on("alpha", 2, -1), "mid": on("beta", 1), "high": on("beta", 1, 1)},
        Runs("standalone", 1, 1, memory=2),
        "mid",
        FLAVORS,
    ),
    "each podset preempts a different flavor": Case(
        ALONE,
        {"low-alpha": on("alpha", 2, -1), "low-beta": on("beta", 2, -1)},
        Runs("standalone", 0, memory=4),
        "low-alpha low-beta",
        FLAVORS,
    ),
}
