"""Whom to evict for a claim, and where: the answer to the queue's question. Pure."""

from collections.abc import Sequence
from itertools import compress
from typing import Protocol

from msgspec.structs import replace

from fairway.domain.decision import NOTHING, Decision, Say, Step
from fairway.domain.events import Teller, message_id
from fairway.domain.job import State
from fairway.domain.preemption.open_claim import came_to_nothing
from fairway.domain.resources import Resources, add
from fairway.placement.fleet import Fleet
from fairway.placement.relief.outcome import NoRelief, Relief
from fairway.placement.relief.relieve import relieve
from fairway.placement.verdicts.verdict import Context
from fairway.wire import subjects
from fairway.wire.preemption.evictions import Candidates, Evict, Relieve
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
        return Decision((came_to_nothing(teller, why, context.now).step(),))
    found = relieve(view.clusters, job.spec.workload, job.spec.placement, context, without_going(view, asked))
    if isinstance(found, NoRelief):
        why = Reason(Code.NO_VICTIMS, found.why.text, remedy=found.why.remedy)
        return Decision((came_to_nothing(teller, why, context.now).step(),))
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
        level=asked.level,
        looked=found.looked,
        max_grace=asked.max_grace,
    )
    name = message_id("global-scheduler", cause, asked.job, "evict")
    return Say(name, subjects.relief(message.verb), message)


def without_going(view: Chosen, asked: Relieve) -> Relieve:
    """Without those that were chosen for another claim: their lenders have so much less to give back."""
    candidates = asked.candidates
    stays = [key not in view.going for key in candidates.attempts]
    if all(stays):
        return asked
    over = [dict(one.over) for one in asked.lenders]
    for place in [place for place, one in enumerate(stays) if not one]:
        held = _held(view.clusters, candidates, place)
        at = candidates.lender[place]
        while at >= 0:
            for name in over[at]:
                over[at][name] -= held.get(name, 0)
            at = asked.lenders[at].above
    lenders = tuple(replace(one, over=left) for one, left in zip(asked.lenders, over, strict=True))
    return replace(asked, candidates=_those(candidates, stays), lenders=lenders)


def _held(fleet: Fleet, candidates: Candidates, place: int) -> Resources:
    """By its charge, or else by what it holds."""
    if candidates.charge:
        return {name: charges[place] for name, charges in candidates.charge.items()}
    view = fleet.get(candidates.cluster_of(place))
    key = candidates.attempts[place]
    total: Resources = {}
    for name in view.nodes_of(key) if view is not None else ():
        total = add(total, view.by_name[name].holds.get(key, {})) if view is not None else total
    return total


def _those(candidates: Candidates, stays: Sequence[bool]) -> Candidates:
    return replace(
        candidates,
        attempts=tuple(compress(candidates.attempts, stays)),
        cluster=tuple(compress(candidates.cluster, stays)),
        level=tuple(compress(candidates.level, stays)),
        priority=tuple(compress(candidates.priority, stays)),
        lender=tuple(compress(candidates.lender, stays)),
        lost=tuple(compress(candidates.lost, stays)),
        path=tuple(compress(candidates.path, stays)),
        charge={name: tuple(compress(charges, stays)) for name, charges in candidates.charge.items()},
    )
