"""Why a queued job waits, by what it lacks."""

from msgspec import Struct

from fairway.domain import recorded_verdicts
from fairway.domain.job import Job
from fairway.domain.policy_terms import absent
from fairway.explain import wording
from fairway.wire.asks import QueuePlace
from fairway.wire.jobs import Verdict
from fairway.wire.reasons import Code

# What a queue's policy does with a job that cannot go (see the queue service).
_POLICIES = {"Priority": "jobs that cannot go are passed over", "Block": "the first job blocks those behind it"}
# Reasons that were found by looking at the clusters.
_OF_CLUSTERS = (Code.WAITING_FOR_ROOM, Code.NO_CLUSTER_EVER, Code.UNKNOWN_CLUSTER)
# A cluster was chosen, and the reserver did not have its room, or could not say.
_UNSURE = (
    Code.ROOM_TAKEN,
    Code.RESERVATION_EXPIRED,
    Code.CAPACITY_STALE,
    Code.CAPACITY_UNKNOWN,
    Code.CORDONED,
)

Found = tuple[str, tuple[str, ...], str]  # because, moves, next event


class Standing(Struct, frozen=True):
    """`where` continues the job's name, `because` stands alone; `moves` are conditions, any one of which would move
    it; `next_event` is the verb on the bus that would say so; `timer` what happens at `timer_at` (ms) without it."""

    reason: str
    where: str
    because: str
    moves: tuple[str, ...] = ()
    next_event: str = ""
    timer: str = ""
    timer_at: int = 0


def standing(job: Job, place: QueuePlace | None, now: int) -> Standing:
    code, text = _lacks(job, place)
    because, moves, event = _explained(job, place, code, text)
    opens = _opens(job, now) if code in _OF_CLUSTERS else 0
    return Standing(code.value, _where(job, place, now), because, moves, event, _timer(job, opens, now), opens)


def _lacks(job: Job, place: QueuePlace | None) -> tuple[Code, str]:
    """The queue knows best what the job waits for now; the row has the last reason that was recorded."""
    if job.removing:
        return Code.WAITING_FOR_REMOVAL, ""
    now = Code(place.lacks) if place and place.lacks else Code.UNKNOWN
    if place is not None and now is not Code.UNKNOWN:  # which is also a code that only later versions know
        recorded = job.why.text if job.why and job.why.code is now else ""
        return now, place.text or recorded
    if job.why is None or job.why.code is Code.WAITING_FOR_REMOVAL:
        return Code.QUEUED, f"nothing of attempt {job.attempt - 1} is left; it waits for its turn" if job.why else ""
    return job.why.code, job.why.text


def _where(job: Job, place: QueuePlace | None, now: int) -> str:
    waited = f"for {wording.span(now - (job.enqueued_at or job.since))}"
    if job.attempt > 1:
        waited = f"{waited} in all, {wording.span(now - job.since)} of it for attempt {job.attempt}"
    if place is None or not place.position:
        return f"waits in queue {job.queue} {waited}"
    rule = f": {_POLICIES[place.policy]}" if place.policy in _POLICIES else ""
    queue = f"queue {place.queue} ({place.policy}{rule})" if place.policy else f"queue {place.queue}"
    if place.position == 1:
        return f"waits first in line in {queue} {waited}"
    count = place.position - 1
    names = ", ".join(place.ahead) if count <= len(place.ahead) else f"the last of them {', '.join(place.ahead)}"
    behind = f"behind {wording.many(count, 'job')}" + (f": {names}" if place.ahead else "")
    return f"waits at position {place.position} in {queue} {waited}, {behind}"


def _explained(job: Job, place: QueuePlace | None, code: Code, text: str) -> Found:
    if code in _OF_CLUSTERS:
        return _room(job, code, text)
    if code is Code.WAITING_FOR_REMOVAL:
        return _removal(job)
    if code is Code.WAITING_FOR_QUOTA:
        # Its reason names the node of the tree that is full, which may be above the job's own leaf.
        named = job.why.field if job.why and job.why.code is code and job.why.field else ""
        node = f"quota {named}" if named and (not place or not place.text or named in place.text) else "that quota"
        moves = (f"a job charged to {node} ends or goes back to its queue", f"the max of {node} is raised")
        return text or f"{node} has no room for it now", moves, "dequeued"
    if code is Code.BEHIND_HEAD:
        known = place is not None and place.ahead and place.position == len(place.ahead) + 1
        head = place.ahead[0] if known and place else "the head of the queue"
        moves = (f"{head} is let go, or is cancelled", f"{head} turns out to be impossible: then it no longer blocks")
        return text or f"{head} stands first, and this queue lets nobody pass", moves, "dequeued"
    if code in _UNSURE:
        return text, ("its turn comes again: a cluster is then chosen on fresh numbers",), "dequeued"
    return _in_line(job, place, text)


def _in_line(job: Job, place: QueuePlace | None, text: str) -> Found:
    if place and place.position > 1:
        count = wording.many(place.position - 1, "job")
        because = text or f"{count} of its queue come first, by priority and then by age"
        return because, (f"those before it ({wording.listed(place.ahead)}) are let go or passed over",), "dequeued"
    because = text or "nothing is known to stand against it"
    return because, ("the queue looks at it, which it does at once when anything changes",), "dequeued"


def _removal(job: Job) -> Found:
    ended = next((one for one in reversed(job.attempts) if one.cluster == job.removing and one.why), None)
    cause = f" ({ended.why.text})" if ended and ended.why else ""
    number = ended.number if ended else job.attempt - 1
    because = (
        f"attempt {number} in {job.removing} ended{cause}, and its object or pods are still there; "
        f"attempt {job.attempt} may not start beside it"
    )
    return because, (f"{job.removing} shows nothing of attempt {number} any more",), "removed"


def _room(job: Job, code: Code, text: str) -> Found:
    asks = wording.gang(job.spec.workload) if job.spec else "the gang"
    if code is Code.NO_CLUSTER_EVER:
        least = text or f"no cluster could hold {asks} even when empty"
        grows = "a cluster or nodes that can hold it join the fleet"
        smaller = "it is submitted again, asking for less"
        return least, (grows, smaller, *_rules(job)), "queue"
    joins = _joins(job)
    if code is Code.UNKNOWN_CLUSTER:
        return text or "no cluster that its policy names is in the fleet", (*joins, *_rules(job)), "dequeued"
    because = text or f"no cluster can take {asks} now"
    told = recorded_verdicts.verdicts(job)
    moves = tuple(move for one in told if (move := _would_move(one))) + (joins if told else ())
    return because, moves or ("room is freed in a cluster that its policy allows",), "dequeued"


def _joins(job: Job) -> tuple[str, ...]:
    """For the clusters that its policy names and that were not there when it was last looked at."""
    there = {one.cluster for one in recorded_verdicts.verdicts(job)}
    absentees = absent(job.spec.placement, there) if job.spec else ()
    which = "one of the clusters" if len(absentees) > 1 else "cluster"
    return (f"{which} {wording.listed(absentees)} joins the fleet",) if absentees else ()


def _would_move(one: Verdict) -> str:
    """What would turn one cluster's no into a yes; empty when nothing that happens by itself would."""
    needed = one.numbers.get("needed", 0)
    by_node = one.numbers.get("by_node", 0)
    more = wording.many(max(1, needed - by_node), "more pod")
    match one.code:
        case Code.NOT_ENOUGH:
            return f"room for {more} is freed in {one.cluster} ({by_node} of {needed} fit)"
        case Code.FRAGMENTED:
            return f"whole nodes are freed in {one.cluster} for {more} ({by_node} of {needed} fit node by node)"
        case Code.CAPACITY_STALE | Code.CAPACITY_UNKNOWN:
            return f"the agent of {one.cluster} reports"
    return ""


def _rules(job: Job) -> tuple[str, ...]:
    ruled_out = (Code.NOT_SELECTED, Code.LABELS_DIFFER, Code.TAINTED)
    names = [one.cluster for one in recorded_verdicts.verdicts(job) if one.code in ruled_out]
    policy = job.spec.policy if job.spec else "its policy"
    return (f"{policy} admits {wording.listed(names)}, which it rules out now",) if names else ()


def _opens(job: Job, now: int) -> int:
    """When the first cluster that is avoided after a failure is open again; 0: none is avoided."""
    return min((at for at in recorded_verdicts.reopening(job).values() if at > now), default=0)


def _timer(job: Job, opens: int, now: int) -> str:
    if not opens:
        return ""
    names = sorted(cluster for cluster, until in recorded_verdicts.reopening(job).items() if until == opens)
    return f"{wording.listed(names)} is open to it again at {wording.clock(opens)} (in {wording.span(opens - now)})"
