"""Ends attempts for a claim: of those named as many as its job needs on fresh rows, whose room is kept for it. Pure."""

import msgspec
from msgspec import Struct

from fairway.domain import decision
from fairway.domain.attempts.eviction_freeze import SILENT_MS
from fairway.domain.attempts.retry import next_attempt
from fairway.domain.decision import NOTHING, Decision, Heard, Put, Step
from fairway.domain.events import Teller, claim_id, row_of
from fairway.domain.job import STARTED, Job, State
from fairway.domain.preemption.claim import KEPT_MS, hold_key
from fairway.domain.preemption.notice import eviction_times
from fairway.domain.preemption.open_claim import came_to_nothing
from fairway.domain.quota.node_terms import GRACE_MS, max_grace
from fairway.domain.reservations import Hold
from fairway.domain.resources import Resources, show
from fairway.explain.wording import clock
from fairway.placement.cluster import taken
from fairway.placement.fit import Plan, Shortfall
from fairway.placement.recheck import recheck, without
from fairway.reserver.freed_room import with_freed
from fairway.reserver.kept_room import leaving
from fairway.reserver.view import View
from fairway.runtime.views.jobs import requests_of
from fairway.wire import jobs as wire
from fairway.wire.preemption.claims import Cause
from fairway.wire.preemption.evictions import Evict, Victim
from fairway.wire.reasons import Code, Reason

SERVICE = "reserver"
_CODES = {Cause.RECLAIM: Code.RECLAIMED, Cause.PREEMPTION: Code.PREEMPTED}


class StillThere(Struct, frozen=True):
    """Of the victims named: those to end, in order, and the keys of those that leave anyway."""

    victims: tuple[Victim, ...]
    leaving: frozenset[str]

    @property
    def keys(self) -> set[str]:
        return {*self.leaving, *map(_key, self.victims)}


def _key(one: Victim) -> str:
    return f"{one.job}/{one.attempt}"


def evict(view: View, heard: Heard[object], message: Evict, now: int) -> Decision:
    job = view.jobs.get(message.job)
    claim = job.open_claim if job is not None else None
    if job is None or claim is None or (claim.number, job.attempt) != (message.claim, message.attempt):
        return NOTHING
    if job.state is not State.QUEUED or job.cancelling or job.held or claim.cluster not in ("", message.cluster):
        return NOTHING
    evicting = Evicting(view, heard, message, job)
    there = evicting.still_there()
    why = evicting.closed(now)
    plan = evicting.plan(there) if why is None else None
    if isinstance(plan, Plan):
        return Decision(evicting.steps(plan, evicting.needed(plan, there), now))
    if claim.cluster:
        return NOTHING  # it is kept already, and whoever is on it leaves
    why = why or Reason(Code.CLAIM_OVERTAKEN, f"{message.cluster}: the room was taken meanwhile")
    return Decision((came_to_nothing(Teller(view, SERVICE, heard, now, job.id), why, now).step(),))


class Evicting:
    """The answer to one command, for the claim of a job."""

    def __init__(self, view: View, heard: Heard[object], message: Evict, job: Job) -> None:
        self._view = view
        self._heard = heard
        self._message = message
        self._job = job
        self._own = hold_key(job.id, job.attempt, message.claim)

    def still_there(self) -> StillThere:
        """Of the victims named. Who has ended meanwhile is left alone."""
        victims = []
        leaving = set()
        for one in self._message.victims:
            job = self._view.jobs.get(one.job)
            if job is not None and (job.removing, job.recalled) == (one.cluster, one.attempt):
                leaving.add(_key(one))
            elif job is not None and _evictable(job, one):
                victims.append(one)
        return StillThere(tuple(victims), frozenset(leaving))

    def closed(self, now: int) -> Reason | None:
        """Why nothing goes to the cluster now."""
        name = self._message.cluster
        cluster = self._view.clusters.get(name)
        if cluster is None or now - cluster.info.observed_at > SILENT_MS:
            return Reason(Code.CAPACITY_STALE, f"{name} was not heard of for {SILENT_MS // 1000} s")
        return Reason(Code.CORDONED, f"{name} was cordoned meanwhile") if cluster.info.cordoned else None

    def plan(self, there: StillThere) -> Plan | Shortfall:
        """Where the job goes once they have gone: on the nodes that were chosen, or on others of the cluster, where
        somebody took these meanwhile."""
        work = self._job.spec.workload if self._job.spec is not None else None
        assert work is not None, "a job that waits was admitted"
        cluster = self._view.clusters[self._message.cluster]
        keys = {*there.keys, *leaving(self._view, cluster.name), self._own}
        names = {slot.node for slot in self._message.slots}
        chosen = recheck(without(cluster, dict.fromkeys(names, keys)), work, self._message.slots)
        if isinstance(chosen, Plan):
            return chosen
        return recheck(without(cluster, dict.fromkeys(cluster.by_name, keys)), work, self._message.slots)

    def needed(self, plan: Plan, there: StillThere) -> StillThere:
        """Without those whose room is not needed any more: the dearest, who is named last, first. Who goes for quota
        goes."""
        cluster = self._view.clusters[self._message.cluster]
        left = self._left(plan, there)
        needed = []
        for one in reversed(there.victims):
            here = left if one.cluster == cluster.name else ()
            holds = [(left[name], cluster.by_name[name].holds.get(_key(one), {})) for name in here]
            lacks = any(amount > free.get(kind, 0) for free, held in holds for kind, amount in held.items())
            if one.quota or lacks:
                needed.append(one)
                continue
            for free, held in holds:
                for kind, amount in held.items():
                    free[kind] = free.get(kind, 0) - amount
        return StillThere(tuple(reversed(needed)), there.leaving)

    def _left(self, plan: Plan, there: StillThere) -> dict[str, Resources]:
        """What is left on each node with them gone and the job there."""
        names = {slot.node for slot in plan.slots}
        cluster = self._view.clusters[self._message.cluster]
        keys = {*there.keys, *leaving(self._view, cluster.name), self._own}
        view = without(cluster, dict.fromkeys(names, keys))
        left = {name: view.free(name) for name in view.by_name}
        for name, amounts in taken(plan.slots, requests_of(self._job)).items():
            for kind, amount in amounts.items():
                left[name][kind] = left[name].get(kind, 0) - amount
        return left

    def steps(self, plan: Plan, there: StillThere, now: int) -> tuple[Step, ...]:
        """First the room is kept, then each attempt ends: only if it is kept."""
        job = self._job
        kept: tuple[Step, ...] = ()
        if job.claim is not None and not job.claim.cluster:
            kept, job = self._keep(plan, there, now)
        guard = Put(decision.JOBS, job.id, row_of(job), rev=job.rev, expect=job.rev)
        return *kept, *(self._evicted(one, now).step(guard) for one in there.victims)

    def _keep(self, plan: Plan, there: StillThere, now: int) -> tuple[tuple[Step, ...], Job]:
        """And the job as it is then."""
        message = self._message
        name = message.cluster
        until = now + max(map(self._most_grace, message.victims), default=GRACE_MS) + KEPT_MS
        place = {"claim": message.claim, "cluster": name, "slots": plan.slots}
        teller = Teller(self._view, SERVICE, self._heard, now, self._job.id)
        teller.say(wire.Nominated, **place, victims=len(there.keys), evicted=len(there.victims), until=until)
        assert teller.job is not None, "it is known"
        here = tuple(sorted(_key(one) for one in message.victims if one.cluster == name and _key(one) in there.keys))
        hold = Hold.of(self._job, plan.slots, until, here)
        line = Put(decision.ledger(name), self._own, hold, expect=0)
        step = teller.step(line, *self._view.node_writes(name, {self._own: hold}))
        return (with_freed(self._view, step, self._heard, name, now),), teller.job

    def _most_grace(self, one: Victim) -> int:
        """The longest notice and grace (ms) that it has."""
        job = self._view.jobs.get(one.job)
        return max_grace(job.leaf if job is not None else (), self._message.max_grace)

    def _evicted(self, one: Victim, now: int) -> Teller:
        mine = self._job
        message = self._message
        priority = mine.spec.priority if mine.spec is not None else 0
        leaf = mine.leaf[-1] if mine.leaf else ""
        claim = claim_id(message.job, message.attempt, message.claim)
        whose = f"quota {leaf}" if leaf else "the fleet"
        text = f"its room is for a job of {whose} that is within its guaranteed share ({claim}); {_borrowed(one)}"
        if one.cause is Cause.PREEMPTION:
            text = f"its room is for a job of {whose} with priority {priority} ({claim}); this one has {one.priority}"
        teller = Teller(self._view, SERVICE, self._heard, now, one.job)
        assert teller.job is not None, "whoever is not known is no victim"
        times = eviction_times(teller.job, self._most_grace(one), now)
        if times.delete_at:
            text = f"{text}; it has notice, and is deleted at {clock(times.delete_at)}"
        return next_attempt(
            teller,
            wire.Evicted,
            Reason(_CODES[one.cause], text),
            recall=msgspec.structs.asdict(times),
            claim=claim,
            right=one.cause,
            leaf=leaf,
            level=message.level,
            priority=priority,
            own_level=one.level,
            own_priority=one.priority,
        )


def _borrowed(one: Victim) -> str:
    had = one.borrowed
    if had is None:
        return "it was borrowed"
    used = show(had.resource, had.used)
    return f"it was borrowed: {had.node} used {used} of its min of {show(had.resource, had.min)} {had.resource}"


def _evictable(job: Job, one: Victim) -> bool:
    present = (job.attempt, job.cluster) == (one.attempt, one.cluster)
    able = job.spec is not None and job.spec.evictable and not job.removing and not job.cancelling
    return present and able and job.state in (State.RESERVED, *STARTED)
