"""Why a queued job waits, by what it lacks."""

from msgspec import Struct

from fairway.domain import recorded_verdicts
from fairway.domain.job import Job
from fairway.domain.policy_terms import absent
from fairway.explain import wording
from fairway.explain.claims import ClaimAnswer, awaits, claim_answer
from fairway.wire.asks import MOST_AHEAD, QueuePlace
from fairway.wire.jobs import Verdict
from fairway.wire.reasons import Code, Reason

# What a queue's policy does with a job that cannot go (see the queue service).
_POLICIES = {"Priority": "jobs that cannot go are passed over", "Block": "the first job blocks those behind it"}
# Reasons that were found by looking at the clusters.
_OF_CLUSTERS = (Code.WAITING_FOR_ROOM, Code.NO_CLUSTER_EVER, Code.UNKNOWN_CLUSTER)
# Said of cpu and memory, where a job may have batch resources in their place.
_EITHER = (Code.WAITING_FOR_QUOTA, *_OF_CLUSTERS)
_ON_BATCH = "a cluster has batch resources free that hold it, and its quota takes it on them"
# A cluster was chosen, and the reserver did not have its room, or could not say.
_UNSURE = (
    Code.ROOM_TAKEN,
    Code.RESERVATION_EXPIRED,
    Code.CAPACITY_STALE,
    Code.CAPACITY_UNKNOWN,
    Code.CORDONED,
)


class GateAnswer(Struct, frozen=True):
    """What there is to say of one gate."""

    because: str
    moves: tuple[str, ...]
    next_event: str


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
    """Of every gate that is shut; the code is that of the first."""
    gates = _gates(job, place)
    found = [_explained(job, place, one) for one in gates]
    moves = dict.fromkeys(move for one in found for move in one.moves)
    if job.spec and job.spec.workload.batch_first and any(one.code in _EITHER for one in gates):
        moves[_ON_BATCH] = None
    opens = _opens(job, now) if any(one.code in _OF_CLUSTERS for one in gates) else 0
    claims = claim_answer(job, tuple(one.code for one in gates), now)
    moves |= dict.fromkeys(claims.moves)
    told = reason(job, place)
    because = f"{told.text}; {claims.because}" if claims.because else told.text
    timer, at = _first(claims, _timer(job, opens, now), opens)
    return Standing(told.code.value, _where(job, place, now), because, tuple(moves), found[0].next_event, timer, at)


def _first(claims: ClaimAnswer, timer: str, at: int) -> tuple[str, int]:
    """What happens by itself first."""
    return (claims.timer, claims.timer_at) if claims.timer_at and not 0 < at < claims.timer_at else (timer, at)


def reason(job: Job, place: QueuePlace | None) -> Reason:
    """What a waiting job waits for now, as a list and `why` say it: the first gate that is shut, with what there is to
    say of all of them."""
    gates = _gates(job, place)
    if place is not None and place.text and place.lacks == gates[0].code:
        return Reason(gates[0].code, place.text)
    return Reason(gates[0].code, "; and ".join(_explained(job, place, one).because for one in gates))


def _gates(job: Job, place: QueuePlace | None) -> tuple[Reason, ...]:
    """The queue knows best what the job waits for now; the row has the last reasons that were recorded."""
    now = Code(place.lacks) if place and place.lacks else Code.UNKNOWN
    if place is not None and now is not Code.UNKNOWN:  # which is also a code that only later versions know
        recorded = job.why.text if job.why and job.why.code is now else ""
        return place.gates or (Reason(now, place.text or recorded),)
    if job.held:
        return (Reason(Code.SUSPENDED, "suspended by its owner"),)
    if job.removing:
        return (Reason(Code.WAITING_FOR_REMOVAL, ""),)
    if job.why is None or job.why.code in (Code.WAITING_FOR_REMOVAL, Code.SUSPENDED):
        text = (
            f"nothing of attempt {job.attempt - 1} is left; it waits for its turn"
            if job.why and job.attempt > 1
            else ""
        )
        return (Reason(Code.QUEUED, text),)
    claim = job.open_claim
    if claim is None or not claim.cluster or any(one.code is Code.WAITING_FOR_EVICTIONS for one in job.waits_for):
        return job.waits_for
    return (awaits(claim), *(one for one in job.waits_for if one.code not in _OF_CLUSTERS))


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
    few = count <= max(len(place.ahead), MOST_AHEAD)
    names = ", ".join(place.ahead) if few else f"the last of them {', '.join(place.ahead)}"
    behind = f"behind {wording.many(count, 'job')}" + (f": {names}" if place.ahead else "")
    return f"waits at position {place.position} in {queue} {waited}, {behind}"


def _explained(job: Job, place: QueuePlace | None, gate: Reason) -> GateAnswer:
    code = gate.code
    if code in _OF_CLUSTERS:
        return _room(job, gate)
    if code is Code.SUSPENDED:
        return GateAnswer(gate.text, ("its owner sets suspend to false",), "held")
    if code is Code.WAITING_FOR_REMOVAL:
        return _removal(job, gate)
    if code is Code.WAITING_FOR_EVICTIONS:
        return GateAnswer(gate.text, (), "dequeued")
    if code is Code.WAITING_FOR_QUOTA:
        # Its reason names the node of the tree that is full, which may be above the job's own leaf.
        named = gate.field or next((one.field for one in job.waits_for if one.code is code), "")
        node = f"quota {named}" if named and (not gate.text or named in gate.text) else "that quota"
        moves = (f"a job charged to {node} ends or goes back to its queue", f"the max of {node} is raised")
        return GateAnswer(gate.text or f"{node} has no room for it now", moves, "dequeued")
    if code is Code.BEHIND_HEAD:
        return _turn(place, gate)
    if code in _UNSURE:
        return GateAnswer(gate.text, ("its turn comes again: a cluster is then chosen on fresh numbers",), "dequeued")
    return _in_line(place, gate)


def _turn(place: QueuePlace | None, gate: Reason) -> GateAnswer:
    known = place is not None and place.ahead and place.position == len(place.ahead) + 1
    first = place.behind[-1] if place and place.behind else place.ahead[0] if place and known else ""
    head = first or "the head of the queue"
    moves = (f"{head} is let go, or is cancelled", f"{head} turns out to be impossible: then it no longer blocks")
    return GateAnswer(gate.text or f"{head} stands first, and this queue lets nobody pass", moves, "dequeued")


def _in_line(place: QueuePlace | None, gate: Reason) -> GateAnswer:
    if place and place.position > 1:
        count = wording.many(place.position - 1, "job")
        because = gate.text or f"{count} of its queue come first, by priority and then by age"
        moves = (f"those before it ({wording.listed(place.ahead)}) are let go or passed over",)
        return GateAnswer(because, moves, "dequeued")
    because = gate.text or "nothing is known to stand against it"
    return GateAnswer(because, ("the queue looks at it, which it does at once when anything changes",), "dequeued")


def _removal(job: Job, gate: Reason) -> GateAnswer:
    ended = next((one for one in reversed(job.attempts) if one.cluster == job.removing and one.why), None)
    number = ended.number if ended else job.attempt - 1
    because = gate.text
    if not because:
        cause = f" ({ended.why.text})" if ended and ended.why else ""
        because = (
            f"attempt {number} in {job.removing} ended{cause}, and its object or pods are still there; "
            f"attempt {job.attempt} may not start beside it"
        )
    return GateAnswer(because, (f"{job.removing} shows nothing of attempt {number} any more",), "removed")


def _room(job: Job, gate: Reason) -> GateAnswer:
    asks = wording.gang(job.spec.workload) if job.spec else "the gang"
    if gate.code is Code.NO_CLUSTER_EVER:
        least = gate.text or f"no cluster could hold {asks} even when empty"
        grows = "a cluster or nodes that can hold it join the fleet"
        smaller = "it is submitted again, asking for less"
        return GateAnswer(least, (grows, smaller, *_rules(job)), "queue")
    joins = _joins(job)
    if gate.code is Code.UNKNOWN_CLUSTER:
        because = gate.text or "no cluster that its policy names is in the fleet"
        return GateAnswer(because, (*joins, *_rules(job)), "dequeued")
    because = gate.text or f"no cluster can take {asks} now"
    told = recorded_verdicts.verdicts(job)
    moves = tuple(move for one in told if (move := _would_move(one))) + (joins if told else ())
    return GateAnswer(because, moves or ("room is freed in a cluster that its policy allows",), "dequeued")


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
