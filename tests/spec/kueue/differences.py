"""The cases whose answer is another one here than in Kueue, and why."""

from typing import NamedTuple

BORROWED = (
    "A job that does not fit what is left of its leaf's min is borrowed as a whole, and a borrowed one evicts none "
    "that is guaranteed, whatever their priorities."
)
ANY_PRIORITY = "A guarantee does not ask for priorities: who has borrowed gives back, whatever its own."
NEWER = "Equal priority never evicts: who came later stays."
NO_THRESHOLD = "In a domain priority counts at every height, and no threshold spares anybody."
ONE_LEAF = "A domain counts as one leaf: who evicts by priority in it evicts in its own leaf as well."
SHARES = (
    "Who has less of what is above the guarantees goes first, and evicts nobody for that: share-eviction is not built."
)
AS_A_WHOLE = "A job is within the share of one node as a whole, never with parts of it in those of several."
COUNTED_BEFORE = (
    "What leaves have borrowed is counted before anybody goes: of two with as much, one may give all of it."
)
CLUSTERS = (
    "There are no flavors: other nodes are another cluster, and a job goes as a whole where the least have to leave."
)

NO_QUEUE_USAGE = "What a Queue has used orders nobody: within a leaf those of the lowest priority go."


class Difference(NamedTuple):
    victims: str
    why: str


DIFFERENCES = {
    "preempting locally and borrowing other resources in cohort, without cohort candidates": Difference("", BORROWED),
    "preempting locally and borrowing other resources in cohort, with cohort candidates": Difference("", BORROWED),
    "use BorrowWithinCohort; preempt from CQ and from other CQs with workloads below threshold": Difference(
        "", BORROWED
    ),
    "can preempt lower priority workloads from same CQ": Difference("", BORROWED),
    "can preempt a combination of same CQ and highest user": Difference("", BORROWED),
    "do not reclaim borrowed quota from same priority for withinCohort=ReclaimFromLowerPriority": Difference(
        "c2-1", ANY_PRIORITY
    ),
    "preempt hierarchical and priority candidates": Difference(
        "admitted_borrowing admitted_borrowing_not_preemptible", ANY_PRIORITY
    ),
    "preempt hierarchical candidates and inside CQ": Difference(
        "admitted_borrowing admitted_borrowing_not_preemptible", ANY_PRIORITY
    ),
    "preempt newer workloads with the same priority": Difference("", NEWER),
    "use BorrowWithinCohort; don't allow preempting a lower-priority workload with priority above "
    "MaxPriorityThreshold, if borrowing is required even after the preemption": Difference("b_standard", NO_THRESHOLD),
    "use BorrowWithinCohort; don't allow for preemption of lower-priority workload from the same ClusterQueue": (
        Difference("a_standard", ONE_LEAF)
    ),
    "only preempt workloads using the chosen flavor": Difference("low", CLUSTERS),
    "each podset preempts a different flavor": Difference("", CLUSTERS),
    "reclaim borrowable quota from user using the most": Difference("", SHARES),
    "preempt from target and others even if over nominal": Difference("", SHARES),
    "prefer to preempt workloads that don't make the target CQ have the biggest share": Difference("", SHARES),
    "preempt from different cluster queues if the end result has a smaller max share": Difference("", SHARES),
    "preempt lower priority first, even if big": Difference("", SHARES),
    "preempt workload that doesn't transfer the imbalance, even if high priority": Difference("", SHARES),
    "CQ with higher weight can preempt more": Difference("", SHARES),
    "can preempt anything borrowing from CQ with 0 weight": Difference("", SHARES),
    "hierarchical preemption": Difference("", SHARES),
    "deep preemption": Difference("", SHARES),
    "preempt one from each CQ borrowing": Difference("a1 a2", COUNTED_BEFORE),
    "respect lending limits": Difference("", AS_A_WHOLE),
    "reclaim in complex hierarchy": Difference("", AS_A_WHOLE),
    "workloads with higher LQ usage first": Difference("low_lq_usage", NO_QUEUE_USAGE),
}
