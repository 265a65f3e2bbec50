"""Whom to evict for a claim, and where: the answer to the queue's question. Pure."""

from typing import Protocol

import msgspec

from fairway.domain.decision import NOTHING, Decision, Say, Step
from fairway.domain.events import Teller, message_id
from fairway.domain.job import State
from fairway.domain.preemption.claim import again_at
from fairway.domain.resources import Resources, add
from fairway.placement.fleet import Fleet
from fairway.placement.relief.outcome import NoRelief, Relief
from fairway.placement.relief.relieve import relieve
from fairway.placement.verdicts.verdict import Context
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.preemption.evictions import Candidate, Evict, Relieve
from fairway.wire.reasons import Code, Reason


class Chosen(Protocol):
    """`going` are the attempts that this scheduler has chosen of late, by key: the queue may not have heard of them."""

    clusters: Fleet
    going: dict[str, int]


def answer(view: Chosen, asked: Relieve, teller: Teller, cause: str, context: Context) -> Decision:
    """`teller` speaks of the job; `cause` is the id of the question."""
    job = teller.job
    assert job is not None, "it is known"
    claim = job.open_claim
    if job.state is not State.QUEUED or claim is None or claim.cluster or job.spec is None:
        return NOTHING
    if (claim.number, job.attempt) != (asked.claim, asked.attempt) or job.cancelling or job.held:
        return NOTHING
    if not view.clusters:
        why = Reason(Code.CAPACITY_UNKNOWN, "no cluster has reported its nodes since the cache began")
        again = again_at(claim.number, context.now)
        return Decision((teller.say(wire.Unclaimed, claim=claim.number, why=why, again=again).step(),))
    found = relieve(view.clusters, job.spec.workload, job.spec.placement, context, without_going(view, asked))
    if isinstance(found, NoRelief):
        why = Reason(Code.NO_VICTIMS, found.why.text, remedy=found.why.remedy)
        again = again_at(claim.number, context.now)
        return Decision((teller.say(wire.Unclaimed, claim=claim.number, why=why, again=again).step(),))
    return Decision((Step(events=(_said(asked, cause, found, context.now),)),))


def _said(asked: Relieve, cause: str, found: Relief, now: int) -> Say:
    message = Evict(
        job=asked.job,
        tenant=asked.tenant,
        attempt=asked.attempt,
        at=now,
        cause=cause,
        claim=asked.claim,
        cluster=found.cluster,
        slots=found.slots,
        victims=found.victims,
        until=asked.until,
        level=asked.level,
        looked=found.looked,
    )
    name = message_id("global-scheduler", cause, asked.job, "evict")
    return Say(name, subjects.relief(message.verb), message)


def without_going(view: Chosen, asked: Relieve) -> Relieve:
    """Without those that were chosen for another claim: their lenders have so much less to give back."""
    going = [one for one in asked.candidates if f"{one.job}/{one.attempt}" in view.going]
    if not going:
        return asked
    over = [dict(one.over) for one in asked.lenders]
    for one in going:
        holds = one.charge or _holds(view.clusters, one)
        at = one.lender
        while at >= 0:
            for name in over[at]:
                over[at][name] -= holds.get(name, 0)
            at = asked.lenders[at].above
    lenders = tuple(msgspec.structs.replace(one, over=left) for one, left in zip(asked.lenders, over, strict=True))
    names = {(one.job, one.attempt) for one in going}
    left = tuple(one for one in asked.candidates if (one.job, one.attempt) not in names)
    return msgspec.structs.replace(asked, candidates=left, lenders=lenders)


def _holds(fleet: Fleet, one: Candidate) -> Resources:
    view = fleet.get(one.cluster)
    key = f"{one.job}/{one.attempt}"
    total: Resources = {}
    for name in view.nodes_of(key) if view is not None else ():
        total = add(total, view.by_name[name].holds.get(key, {})) if view is not None else total
    return total
