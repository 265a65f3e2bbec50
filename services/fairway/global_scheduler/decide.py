"""Which cluster takes the gang? One choice over all clusters, as the cache shows them plus what is in flight."""

from collections.abc import Mapping
from typing import Protocol

from fairway.domain.attempts.cluster_avoidance import avoided
from fairway.domain.attempts.retry import go_back
from fairway.domain.batch_resources import batch_pod_sets
from fairway.domain.decision import NOTHING, Decision, FoundApart, Heard, Step
from fairway.domain.events import JobRows, Teller, current
from fairway.domain.job import Job, State
from fairway.domain.preemption.open_claim import kept_key, withdraw
from fairway.global_scheduler.relief import answer
from fairway.placement.choose import choose
from fairway.placement.fit import Plan
from fairway.placement.fleet import Fleet
from fairway.placement.recheck import recheck, without
from fairway.placement.scores import Weights
from fairway.placement.verdicts.recorded import packed, recorded
from fairway.placement.verdicts.sentences import what_would_help
from fairway.placement.verdicts.verdict import Context
from fairway.wire import jobs as wire
from fairway.wire.preemption.evictions import Relieve
from fairway.wire.reasons import HOPELESS, Code, Reason
from fairway.wire.spec import FoundRef

SERVICE = "global-scheduler"
Hears = wire.Dequeued | Relieve


class View(JobRows, Protocol):
    """Clusters by name; `version` of the cache and `freed` (how often each cluster had room freed) as seen now. What is
    found of more than `alongside` clusters is stored apart from the event."""

    clusters: Fleet
    going: dict[str, int]
    version: int
    freed: Mapping[str, int]
    stale_after: int
    weights: Weights
    alongside: int


def decide(view: View, heard: Heard[Hears], now: int) -> Decision:
    message = heard.message
    if isinstance(message, Relieve):
        waiting = view.jobs.get(message.job)
        if waiting is None or waiting.spec is None:
            return NOTHING
        teller = Teller(view, SERVICE, heard, now, waiting.id)
        return answer(view, message, teller, heard.id, _context(view, waiting, now))
    job = current(view, message, State.DEQUEUED)
    if job is None:
        return NOTHING
    teller = Teller(view, SERVICE, heard, now, job.id)
    if job.cancelling:
        return Decision((go_back(teller, Reason(Code.CANCELLED, "cancelled before it was placed")).step(),))
    return Decision((_place(view, job, teller, message.kept, now),))


def _context(view: View, job: Job, now: int) -> Context:
    assert job.spec is not None, "it was admitted"
    avoid = avoided(job.avoid, job.attempts, job.spec.workload)
    later = {name: until for name, until in avoid.items() if until > now}
    return Context(now=now, stale_after=view.stale_after, avoid=later, weights=view.weights)


def _kept(view: View, job: Job, free: bool) -> tuple[str, Plan] | None:
    """The room that is kept for the claim of the job, if it still holds it. Where the reserver has said that it is
    `free`, it is asked, and nobody else: of those who leave for other claims on these nodes the ledger alone knows."""
    claim = job.open_claim
    if claim is None or not claim.cluster or job.spec is None:
        return None
    if free:
        return claim.cluster, Plan(claim.slots, sum(slot.count for slot in claim.slots))
    if (cluster := view.clusters.get(claim.cluster)) is None:
        return None
    as_its_own = without(cluster, {slot.node: {kept_key(job)} for slot in claim.slots})
    plan = recheck(as_its_own, job.spec.workload, claim.slots)
    return (claim.cluster, plan) if isinstance(plan, Plan) else None


def _place(view: View, job: Job, teller: Teller, free: bool, now: int) -> Step:
    assert job.spec is not None, "a dequeued job was admitted"
    work = job.spec.workload
    if (kept := _kept(view, job, free)) is not None:
        return teller.say(wire.Placed, cluster=kept[0], slots=kept[1].slots, seen=view.version).step()
    choice = choose(view.clusters, work, job.spec.placement, _context(view, job, now))
    table = choice.verdict_table
    found = FoundRef() if len(table) > view.alongside else recorded(table)
    if choice.plan is None:
        why = what_would_help(choice, job.spec.placement)
        if work.batch_first and batch_pod_sets(work):
            why = Reason(Code.NO_BATCH_ROOM, f"not on batch resources, so cpu and memory are next: {why.text}")
        if why.code in HOPELESS:
            withdraw(teller, Reason(Code.CLAIM_WITHDRAWN, "no cluster can hold the job any more"))
        go_back(teller, why, found, sum(view.freed.values()))
    else:
        teller.say(
            wire.Placed,
            cluster=choice.cluster,
            slots=choice.plan.slots,
            affinity=choice.affinity,
            seen=view.version,
            found=found,
        )
    step = teller.step()
    if isinstance(found, FoundRef):
        assert teller.job is not None, "it was said of"
        apart = FoundApart(job.id, teller.job.rev, table.names.names, packed(table), found)
        return Step(step.writes, step.events, (apart,))
    return step
