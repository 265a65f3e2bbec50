"""Claims and evictions in sentences: for the job that gets room back, and for whoever had to leave it.

Neither learns which jobs the others are: of the other side there is its quota, its level and its priority.
"""

from msgspec import Struct

from fairway.domain.job import Job
from fairway.domain.preemption.claim import Claim
from fairway.domain.preemption.levels import GUARANTEED
from fairway.domain.resources import show
from fairway.explain import wording
from fairway.wire import jobs as wire
from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Code, Reason

# An attempt that ended so made room for others.
EVICTED = (Code.RECLAIMED, Code.PREEMPTED)
KEEPS = "it keeps its place, and no attempt was spent"
# What a job lacks for which others may be evicted.
_LACKS = (Code.WAITING_FOR_QUOTA, Code.WAITING_FOR_ROOM, Code.WAITING_FOR_EVICTIONS)
# These ends of a claim are no answer to why nobody is evicted: the job goes, or is not to go.
_MOOT = (Code.CLAIM_NOT_NEEDED, Code.CLAIM_WITHDRAWN)
_NEVER = "nobody is evicted for it: its PriorityClass has preemptionPolicy Never"


class ClaimAnswer(Struct, frozen=True):
    """What the claim of a waiting job adds to why it waits. `timer_at` 0: nothing happens by itself."""

    because: str = ""
    moves: tuple[str, ...] = ()
    timer: str = ""
    timer_at: int = 0


def told_claimed(job: Job, message: wire.Claimed) -> tuple[str, tuple[str, ...]]:
    lacking = tuple(map(_lacking, message.short.items()))
    text = f"Claims room that others have (claim {message.claim}), {_rights(job, message.causes, message.guarantor)}"
    until = f"whom to evict is to be known by {wording.clock(message.until)}"
    return f"{text}; {until}.", lacking or ("its quota suffices: it lacks room alone",)


def told_nominated(job: Job, message: wire.Nominated) -> tuple[str, tuple[str, ...]]:
    nodes = wording.many(wording.node_count(message.slots), "node")
    text = f"Room on {nodes} of {message.cluster} is kept for it (claim {message.claim})"
    leave = f"{wording.many(message.victims, 'attempt')} must leave first" if message.victims else "nobody has to leave"
    kept = f"{leave}; kept until {wording.clock(message.until)} at the latest"
    return f"{text}: {kept}.", (f"nodes: {wording.nodes(message.slots)}",)


def told_unclaimed(job: Job, message: wire.Unclaimed) -> tuple[str, tuple[str, ...]]:
    why = message.why
    again = f" Another claim follows no sooner than {wording.clock(message.again)}." if message.again else ""
    details = (wording.sentence(why.remedy),) if why.remedy else ()
    return f"Claim {message.claim} is over: {why.text} [{why.code.value}].{again}", details


def told_evicted(job: Job, message: wire.Evicted) -> tuple[str, tuple[str, ...]]:
    end = " The job ends here." if message.final else f" {wording.sentence(KEEPS)}"
    why = message.why
    return f"Evicted from {message.cluster}: {why.text} [{why.code.value}].{end}", (both_sides(message),)


def both_sides(message: wire.Evicted) -> str:
    """`claim-7f3a09cd of quota root/a: guaranteed, priority 100; this job: not guaranteed, priority 10`."""
    quota = f" of quota {message.leaf}" if message.leaf else ""
    own = f"{level_words(message.own_level)}, priority {message.own_priority}"
    return f"{message.claim}{quota}: {level_words(message.level)}, priority {message.priority}; this job: {own}"


def level_words(level: int) -> str:
    return "guaranteed" if level >= GUARANTEED else "not guaranteed"


def awaits(claim: Claim) -> Reason:
    """For whom a job waits whose room is kept, and is not free yet."""
    until = f"until {wording.clock(claim.until)} at the latest"
    if not claim.victims:
        return Reason(Code.WAITING_FOR_EVICTIONS, f"room in {claim.cluster} is kept for it, {until}")
    leave = wording.many(claim.victims, "attempt")
    return Reason(Code.WAITING_FOR_EVICTIONS, f"waits for {leave} to leave {claim.cluster}, {until}")


def claim_answer(job: Job, lacks: tuple[Code, ...], now: int) -> ClaimAnswer:
    """`lacks` are the codes of what the job waits for: of one that lacks neither quota nor room there is nothing to
    say."""
    claim = job.claim
    if not any(code in _LACKS for code in lacks):
        return ClaimAnswer()
    if claim is None:
        return ClaimAnswer(_NEVER) if job.spec is not None and not job.spec.evicts else ClaimAnswer()
    if claim.open:
        return _kept(claim, now) if claim.cluster else _asked(job, claim, now)
    return ClaimAnswer() if claim.why is None or claim.why.code in _MOOT else _over(claim, claim.why, now)


def _asked(job: Job, claim: Claim, now: int) -> ClaimAnswer:
    rights = _rights(job, claim.causes, claim.guarantor)
    because = f"it claims room that others have (claim {claim.number}), {rights}"
    timer = f"whom to evict for it is known by {_at(claim.until, now)}"
    return ClaimAnswer(because, ("others are evicted for it",), timer, claim.until)


def _kept(claim: Claim, now: int) -> ClaimAnswer:
    moves = (f"those who leave {claim.cluster} for it have left",) if claim.victims else ()
    nodes = wording.many(wording.node_count(claim.slots), "node")
    because = (
        f"{nodes} are kept for it there" if wording.node_count(claim.slots) > 1 else f"{nodes} is kept for it there"
    )
    timer = f"its claim on {claim.cluster} ends at {_at(claim.until, now)}"
    return ClaimAnswer(because, moves, timer, claim.until)


def _over(claim: Claim, why: Reason, now: int) -> ClaimAnswer:
    if why.code is Code.NO_VICTIMS:
        because = f"nobody was evicted for it (claim {claim.number}): {why.text}"
    else:
        because = f"claim {claim.number} on the room of others came to nothing: {why.text}"
    moves = (why.remedy,) if why.remedy else ()
    if claim.again <= now:
        return ClaimAnswer(because, moves)
    return ClaimAnswer(because, moves, f"others are asked for room again at {_at(claim.again, now)}", claim.again)


def _rights(job: Job, causes: tuple[Cause, ...], guarantor: str) -> str:
    """`by the guaranteed share of quota root/a and by its priority 100`."""
    priority = job.spec.priority if job.spec else 0
    words = {
        Cause.RECLAIM: f"by the guaranteed share of quota {guarantor}",
        Cause.PREEMPTION: f"by its priority {priority}",
    }
    return " and ".join(words[cause] for cause in causes)


def _lacking(item: tuple[str, int]) -> str:
    node, _, resource = item[0].rpartition("|")
    return f"quota {node} is short of {show(resource, item[1])} {resource} for it"


def _at(moment: int, now: int) -> str:
    left = f"in {wording.span(moment - now)}" if moment > now else f"{wording.span(now - moment)} overdue"
    return f"{wording.clock(moment)} ({left})"
