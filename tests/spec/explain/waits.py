"""Jobs that wait, for quota, for their turn or for room, each with what is told of it."""

from dataclasses import dataclass

from fairway.explain.why import Why
from fairway.wire import jobs as wire
from fairway.wire.asks import QueuePlace
from fairway.wire.policy import Affinity, Placement
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import (
    FULL,
    NOT_NAMED,
    SMALL,
    SPLIT,
    T0,
    Life,
    S,
    admitted,
    back,
    dequeued,
    placed,
    queued,
)


@dataclass
class Case:
    given: Life
    reason: str
    says: tuple[str, ...]  # each stands somewhere in the answer
    place: QueuePlace | None = None
    event: str = ""
    timer_at: int = 0


def quota_full() -> Life:
    return queued().then(wire.Blocked, why=Reason(Code.WAITING_FOR_QUOTA, "root/a: asks 32 with 24 of 48 used"))


def everything(answer: Why) -> str:
    clusters = [f"{one.cluster} {one.text}" for one in answer.clusters]
    parts = (answer.where, answer.because, *answer.moves, answer.timer, *clusters, *answer.before)
    return "\n".join(parts)


def avoided(until: int) -> wire.Verdict:
    return wire.Verdict("c1", Code.RECENTLY_FAILED, "", {"left": 600_000, "until": until})


NAMES_C9 = Placement(affinities=(Affinity(cluster_names=("c2", "c9")),))
NO_ROOM = "none of 3 clusters can take it now"
WAITING = {
    "a job just admitted waits for the quota service": Case(
        admitted(), "Admitted", ("admitted 10 s ago", "checked against its quota"), event="queue"
    ),
    "a queued job names its position and who is ahead": Case(
        queued(),
        "Queued",
        ("at position 3 in queue gold", "passed over", "behind 2 jobs: a, b", "for 11 s"),
        QueuePlace("gold", "Priority", 3, ("a", "b")),
        "dequeued",
    ),
    "far back in the queue, only the next to go are named": Case(
        queued(),
        "Queued",
        ("behind 40 jobs: the last of them a, b", "40 jobs of its queue come first"),
        QueuePlace("gold", "Priority", 41, ("a", "b")),
        "dequeued",
    ),
    "when the queue does not answer, the row still says which queue": Case(
        queued(), "Queued", ("waits in queue gold for 11 s",), None, "dequeued"
    ),
    "waiting for quota: the queue's own numbers win over the recorded ones": Case(
        quota_full(),
        "WaitingForQuota",
        ("40 of 48 used", "that quota ends", "max of that quota is raised"),
        QueuePlace("gold", "Priority", 1, (), "WaitingForQuota", "root/a: asks 32 with 40 of 48 used"),
        "dequeued",
    ),
    "waiting for quota: the recorded numbers serve when the queue is silent": Case(
        quota_full(), "WaitingForQuota", ("24 of 48 used",), None, "dequeued"
    ),
    "blocked behind a head: the head is named": Case(
        queued(),
        "BehindHead",
        ("Block: the first job blocks", "big-1 stands first", "big-1 is let go"),
        QueuePlace("gold", "Block", 2, ("big-1",), "BehindHead"),
        "dequeued",
    ),
    "no room: every cluster in numbers, and what each would have to free": Case(
        back(dequeued(), Code.WAITING_FOR_ROOM, NO_ROOM, FULL, SPLIT, NOT_NAMED),
        "WaitingForRoom",
        (
            "None of 3 clusters",
            "Room for 3 more pods is freed in c2 (1 of 4 fit)",
            "2 more pods (2 of 4 fit node by node)",
            "needs 4 pods of 8 nvidia.com/gpu",
            "does not name it",
        ),
        event="dequeued",
    ),
    "a cluster that failed it opens again at a known time": Case(
        back(dequeued(), Code.WAITING_FOR_ROOM, NO_ROOM, FULL, avoided(T0 + 600 * S)),
        "WaitingForRoom",
        ("c1 is open to it again at 22:23:20Z (in 9 min 46 s)", "avoided for another 586 s"),
        event="dequeued",
        timer_at=T0 + 600 * S,
    ),
    "a time that has passed is no timer any more": Case(
        back(dequeued(), Code.WAITING_FOR_ROOM, NO_ROOM, FULL, avoided(T0 + 5 * S)),
        "WaitingForRoom",
        ("it may go there again",),
        event="dequeued",
    ),
    "its policy names a cluster that is not there: what would move it is that one's coming": Case(
        back(dequeued(placement=NAMES_C9), Code.UNKNOWN_CLUSTER, "the policy names c9, not in the fleet", NOT_NAMED),
        "UnknownCluster",
        ("names c9", "One of the clusters c2 and c9 joins the fleet.", "PropagationPolicy team-a/llm admits c4"),
        event="dequeued",
    ),
    "one of the clusters that its policy names is full, and one not there: either would move it": Case(
        back(dequeued(placement=NAMES_C9), Code.WAITING_FOR_ROOM, NO_ROOM, FULL),
        "WaitingForRoom",
        ("Room for 3 more pods is freed in c2", "Cluster c9 joins the fleet."),
        event="dequeued",
    ),
    "too big for any cluster: says so, and that waiting does not help": Case(
        back(dequeued(), Code.NO_CLUSTER_EVER, "none of 2 clusters could hold it even when empty", SMALL, NOT_NAMED),
        "NoClusterEver",
        (
            "even when empty",
            "even empty the cluster would hold 2",
            "join the fleet",
            "asking for less",
            "PropagationPolicy team-a/llm admits c4",
        ),
        event="queue",
    ),
    "room taken by another between choice and reservation": Case(
        back(placed(), Code.ROOM_TAKEN, "c1: 2 of 4 pods fit on fresh numbers"),
        "RoomTaken",
        ("2 of 4 pods fit on fresh numbers", "Its turn comes again"),
        event="dequeued",
    ),
    "the reserver has not heard of the cluster that was chosen": Case(
        back(placed(), Code.CAPACITY_STALE, "c1 was last heard of 45 s ago; 30 s is the limit"),
        "CapacityStale",
        ("last heard of 45 s ago", "Its turn comes again"),
        event="dequeued",
    ),
}
