"""Is the room still there? Held all or nothing, node by node, checked with the scheduler's own fit on fresh rows."""

from fairway.domain import decision
from fairway.domain.attempts.eviction_freeze import SILENT_MS
from fairway.domain.attempts.retry import go_back
from fairway.domain.decision import NOTHING, Add, Decision, Heard, Put, Step
from fairway.domain.events import Teller, current
from fairway.domain.job import Job, State
from fairway.domain.preemption.claim import hold_key
from fairway.domain.reservations import Hold
from fairway.placement.fit import Plan
from fairway.placement.recheck import recheck
from fairway.reserver.capacity import ask_the_silent, forget_the_left, release, take_report
from fairway.reserver.evict import evict
from fairway.reserver.expiry import HOLD_MS, expired
from fairway.reserver.kept_room import claim_dropped, drop_claim, of_claim
from fairway.reserver.reservation_way import hold_of
from fairway.reserver.view import Expire, ReserverBegins, View
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.preemption.evictions import Evict
from fairway.wire.reasons import Code, Reason

SERVICE = "reserver"
_Ends = wire.Succeeded | wire.Failed | wire.Lost | wire.Cancelled | wire.Removed
OfJobs = wire.Placed | wire.Unclaimed | _Ends
Hears = OfJobs | Evict | fleet.Report | Expire | ReserverBegins


def decide(view: View, heard: Heard[Hears], now: int) -> Decision:
    message = heard.message
    match message:
        case wire.Placed():
            return _reserve(view, heard, message, now)
        case Evict():
            return evict(view, heard, message, now)
        case wire.Unclaimed():
            return drop_claim(view, heard, hold_key(message.job, message.attempt, message.claim), now)
        case fleet.Report():
            return take_report(view, heard, message, now)
        case wire.Removed():
            return release(view, heard, message.cluster, f"{message.job}/{message.attempt}", now)
        case wire.Succeeded() | wire.Cancelled():
            return _release_present(view, heard, message, now)
        case wire.Failed() | wire.Lost() if message.final:
            return release(view, heard, message.cluster, f"{message.job}/{message.attempt}", now)
        case Expire():
            return Decision((*expired(view, heard, now), *forget_the_left(view, heard, now).steps))
        case ReserverBegins():
            return ask_the_silent(view, heard)
    return NOTHING


def _release_present(view: View, heard: Heard[object], message: wire.JobMessage, now: int) -> Decision:
    job = view.jobs.get(message.job)
    if job is None or not job.attempts:
        return NOTHING
    return release(view, heard, job.attempts[-1].cluster, f"{job.id}/{job.attempts[-1].number}", now)


def _reserve(view: View, heard: Heard[object], message: wire.Placed, now: int) -> Decision:
    job = current(view, message, State.PLACED)
    if job is None:
        return NOTHING
    teller = Teller(view, SERVICE, heard, now, job.id)
    if job.cancelling:
        return _back(view, job, teller, Reason(Code.CANCELLED, "cancelled before it was reserved"))
    assert job.spec is not None, "a placed job was admitted"
    cluster = view.clusters.get(message.cluster)
    if cluster is None or not cluster.info.observed_at:
        why = Reason(Code.CAPACITY_UNKNOWN, f"{message.cluster} has not reported its nodes since the cache began")
        return _back(view, job, teller, why)
    if (age := now - cluster.info.observed_at) > SILENT_MS:
        text = f"{cluster.name} was last heard of {age // 1000} s ago; {SILENT_MS // 1000} s is the limit"
        return _back(view, job, teller, Reason(Code.CAPACITY_STALE, text))
    if cluster.info.cordoned:
        return _back(view, job, teller, Reason(Code.CORDONED, f"{cluster.name} was cordoned meanwhile"))
    kept, others = of_claim(view, job, message) or (cluster, cluster)
    plan = recheck(kept, job.spec.workload, message.slots, others)
    if not isinstance(plan, Plan):
        why = Reason(Code.ROOM_TAKEN, f"{cluster.name}: the room was taken meanwhile; {plan.text}")
        return _back(view, job, teller, why)
    return Decision((_held(view, job, teller, plan, now),))


def _back(view: View, job: Job, teller: Teller, why: Reason) -> Decision:
    """Sends a placed job back. The scheduler has counted its room as taken, and told others that there is none: the
    empty line in the ledger shows it that the room is not, and the count of freed room shows the queue."""
    said = go_back(teller, why, freed=sum(view.freed.values()))
    return Decision((said.step(Put(decision.ledger(job.cluster), job.key, None), Add(decision.FREED, job.cluster, 1)),))


def _held(view: View, job: Job, teller: Teller, plan: Plan, now: int) -> Step:
    assert job.spec is not None, "a placed job was admitted"
    way = hold_of(view.clusters[job.cluster].info, job.spec)
    teller.say(wire.Reserved, cluster=job.cluster, slots=plan.slots, expires_at=now + HOLD_MS, hold=way)
    hold = Hold.of(job, plan.slots, now + HOLD_MS)
    cluster, key, dropped = claim_dropped(view, job)
    changed: dict[str, Hold | None] = {job.key: hold}
    others = []
    if key and cluster == job.cluster:
        changed[key] = None
    elif key:
        others = view.node_writes(cluster, {key: None})
    writes = [Put(decision.ledger(job.cluster), job.key, hold, expect=0), *dropped]
    return teller.step(*writes, *view.node_writes(job.cluster, changed), *others)
