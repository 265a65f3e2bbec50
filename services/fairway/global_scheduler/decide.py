"""Which cluster takes the gang? One choice over all clusters, as the cache shows them plus what is in flight."""

from collections.abc import Mapping
from typing import Protocol

from fairway.domain.attempts.cluster_avoidance import avoided
from fairway.domain.attempts.retry import go_back
from fairway.domain.batch_resources import batch_pod_sets
from fairway.domain.decision import NOTHING, Decision, FoundApart, Heard, Step
from fairway.domain.events import JobRows, Teller, current
from fairway.domain.job import Job, State
from fairway.placement.choose import choose
from fairway.placement.fleet import Fleet
from fairway.placement.scores import Weights
from fairway.placement.verdicts.recorded import packed, recorded
from fairway.placement.verdicts.sentences import what_would_help
from fairway.placement.verdicts.verdict import Context
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.wire.spec import FoundRef

SERVICE = "global-scheduler"


class View(JobRows, Protocol):
    """Clusters by name; `version` of the cache and `freed` (how often each cluster had room freed) as seen now. What is
    found of more than `alongside` clusters is stored apart from the event."""

    clusters: Fleet
    version: int
    freed: Mapping[str, int]
    stale_after: int
    weights: Weights
    alongside: int


def decide(view: View, heard: Heard[wire.Dequeued], now: int) -> Decision:
    job = current(view, heard.message, State.DEQUEUED)
    if job is None:
        return NOTHING
    teller = Teller(view, SERVICE, heard, now, job.id)
    if job.cancelling:
        return Decision((go_back(teller, Reason(Code.CANCELLED, "cancelled before it was placed")).step(),))
    return Decision((_place(view, job, teller, now),))


def _place(view: View, job: Job, teller: Teller, now: int) -> Step:
    assert job.spec is not None, "a dequeued job was admitted"
    work = job.spec.workload
    avoid = {name: until for name, until in avoided(job.avoid, job.attempts, work).items() if until > now}
    context = Context(now=now, stale_after=view.stale_after, avoid=avoid, weights=view.weights)
    choice = choose(view.clusters, work, job.spec.placement, context)
    table = choice.verdict_table
    found = FoundRef() if len(table) > view.alongside else recorded(table)
    if choice.plan is None:
        why = what_would_help(choice, job.spec.placement)
        if work.batch_first and batch_pod_sets(work):
            why = Reason(Code.NO_BATCH_ROOM, f"not on batch resources, so cpu and memory are next: {why.text}")
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
        apart = FoundApart(job.id, job.rev + 1, table.names.names, packed(table), found)
        return Step(step.writes, step.events, (apart,))
    return step
