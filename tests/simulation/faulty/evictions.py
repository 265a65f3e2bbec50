"""Deliberate faults of evictions: who is chosen, what is kept for the claim, what the victim loses."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from fairway.domain import decision
from fairway.domain.attempts import retry
from fairway.domain.decision import Step
from fairway.domain.job import Job
from fairway.domain.preemption.notice import EvictionTimes
from fairway.domain.preemption.precedence import Party
from fairway.domain.quota.node_terms import GRACE_MS
from fairway.domain.resources import Resources
from fairway.global_scheduler import relief
from fairway.placement.fit import Plan
from fairway.placement.relief import relieve as choosing
from fairway.placement.relief.trial import Trial
from fairway.queue.preemption import active_jobs, candidates, claim_terms, claiming, counted_usage
from fairway.queue.preemption.active_jobs import Active
from fairway.reserver import evict
from fairway.reserver.evict import Evicting, StillThere
from fairway.wire.preemption.evictions import Candidates
from fairway.wire.reasons import Code

Patch = pytest.MonkeyPatch


def levelling(patch: Patch) -> None:
    """Whoever has priority evicts, whatever is guaranteed to the others."""
    lower = candidates.lower

    def higher(one: Party, victim: Party) -> bool:
        return one.domain is not None and one.domain == victim.domain and one.priority > victim.priority

    def all_levels(stands: Any, mine: Active, path: Sequence[Any], level: int) -> Any:
        return lower(stands, mine, path, 1 << 30)

    patch.setattr(candidates, "by_priority", higher)
    patch.setattr(candidates, "lower", all_levels)
    patch.setattr(claim_terms, "lower", all_levels)


def grabbing(patch: Patch) -> None:
    """Quota that claims keep for their jobs is anybody's."""

    def nothing(self: counted_usage.CountedUsage, job: str) -> dict[str, int]:
        return {}

    patch.setattr(counted_usage.CountedUsage, "_claimed", nothing)


def careless(patch: Patch) -> None:
    """Room that is freed for a claim is kept for nobody."""
    keep = Evicting._keep

    def unkept(self: Evicting, plan: Plan, victims: int, now: int) -> tuple[tuple[Step, ...], Job]:
        (step,), job = keep(self, plan, victims, now)
        rows = tuple(one for one in step.writes if one.table == decision.JOBS)
        return (msgspec.structs.replace(step, writes=rows),), job

    patch.setattr(Evicting, "_keep", unkept)


def wasteful(patch: Patch) -> None:
    """All are evicted that may be, needed or not."""
    victims = choosing.victims

    def everybody(self: Evicting, plan: Plan, there: StillThere) -> StillThere:
        return there

    def whoever_may(trial: Trial, members: Sequence[int], candidates: Candidates) -> list[int] | None:
        return None if victims(trial, members, candidates) is None else list(members)

    patch.setattr(Evicting, "needed", everybody)
    patch.setattr(choosing, "victims", whoever_may)


def charging(patch: Patch) -> None:
    """An eviction spends one of the attempts of its victim."""
    patch.setattr(retry, "UNSPENT", retry.UNSPENT - {Code.RECLAIMED, Code.PREEMPTED})


def ruthless(patch: Patch) -> None:
    """Jobs that are never to be evicted are."""
    active_of = active_jobs.active_of
    evictable = evict._evictable

    def loose(job: Job, known: Resources | None = None) -> Active | None:
        found = active_of(job, known)
        return msgspec.structs.replace(found, fixed=False) if found is not None else None

    def any_job(job: Job, one: Any) -> bool:
        spec = msgspec.structs.replace(job.spec, evictable=True) if job.spec is not None else None
        return evictable(msgspec.structs.replace(job, spec=spec), one)

    patch.setattr(active_jobs, "active_of", loose)
    patch.setattr(evict, "_evictable", any_job)


def everlasting(patch: Patch) -> None:
    """A claim is kept open for ever."""

    def not_yet(turn: Any) -> None:
        return None

    def nothing_said(teller: Any, why: Any, now: int) -> Any:
        return teller

    patch.setattr(claiming, "end_claims", not_yet)
    patch.setattr(relief, "came_to_nothing", nothing_said)


def overtaking(patch: Patch) -> None:
    """A job that was evicted waits behind those who came after it."""
    said = retry.Teller.say

    def behind(teller: Any, kind: Any, /, **fields: Any) -> Any:
        job = teller.job
        if (
            kind.verb == "queue"
            and job is not None
            and job.why is not None
            and job.why.code in (Code.RECLAIMED, Code.PREEMPTED)
        ):
            fields["enqueued_at"] = job.at
        return said(teller, kind, **fields)

    patch.setattr(retry.Teller, "say", behind)


def rushing(patch: Patch) -> None:
    """Jobs are evicted by priority as soon as they have their room, and as often as it pleases others."""
    active_of = active_jobs.active_of

    def settled(job: Job, known: Resources | None = None) -> Active | None:
        found = active_of(job, known)
        return msgspec.structs.replace(found, since=0, evicted=0) if found is not None and found.since else found

    patch.setattr(active_jobs, "active_of", settled)


def quarrelling(patch: Patch) -> None:
    """Jobs of one priority evict each other."""
    lower = candidates.lower
    outranks = claiming._Look._outranks

    def no_higher(stands: Any, mine: Active, path: Sequence[Any], level: int) -> Any:
        job = msgspec.structs.replace(mine.job, priority=mine.job.priority + 1)
        return lower(stands, msgspec.structs.replace(mine, job=job), path, level)

    def by_as_much(look: Any, path: Any, priority: int) -> bool:
        return outranks(look, path, priority + 1)

    patch.setattr(candidates, "lower", no_higher)
    patch.setattr(claim_terms, "lower", no_higher)
    patch.setattr(claiming._Look, "_outranks", by_as_much)


def lavish(patch: Patch) -> None:
    """What nodes keep back for themselves is lent."""

    def nothing(path: Any, usage: Any, asks: Any, claimed: Any = None) -> dict[str, int]:
        return {}

    patch.setattr(counted_usage, "kept_back", nothing)


def modest(patch: Patch) -> None:
    """Nobody wants back what is guaranteed to him."""

    def beyond(node: Any, usage: Any, asks: Any) -> bool:
        return False

    patch.setattr(claim_terms, "within_min", beyond)


def fickle(patch: Patch) -> None:
    """Claims are over before those who leave for them have left."""
    patch.setattr(evict, "KEPT_MS", 500 - GRACE_MS)


def abrupt(patch: Patch) -> None:
    """Who is evicted is deleted at once, whatever notice it asks for."""

    def at_once(job: Job, most: int, now: int) -> EvictionTimes:
        return EvictionTimes(0, most)

    patch.setattr(evict, "eviction_times", at_once)


def immovable(patch: Patch) -> None:
    """Jobs that are never evicted are let go beyond the min of their nodes."""

    def nobody(self: counted_usage.CountedUsage, job: str) -> dict[str, int]:
        return {}

    patch.setattr(counted_usage.CountedUsage, "fixed", nobody)
