"""Deliberate faults of what services decide, and of what they decide it on."""

from typing import Any

import msgspec
import pytest

from fairway.domain import events
from fairway.domain.decision import NOTHING, Decision, Heard, Put, Write
from fairway.domain.job import Job, State
from fairway.placement.fit import Plan as Room
from fairway.propagator import decide as propagating
from fairway.queue import decide as queueing
from fairway.queue import order
from fairway.reserver import capacity
from fairway.reserver import decide as reserving
from fairway.runtime.views.members import Facts
from fairway.runtime.views.membership import Membership
from fairway.watcher import freeze, memory, missing, object_owner
from fairway.watcher.silence import FleetSilence
from fairway.wire import jobs as wire
from fairway.wire.fleet import Report
from fairway.wire.reasons import Code, Reason
from fairway.workloads import member_copy

Patch = pytest.MonkeyPatch


def impatient(patch: Patch) -> None:
    """The next attempt goes while the last one is still being removed."""
    decided = propagating.recall

    def gone(view: Any, heard: Heard, message: wire.Recall, now: int) -> Decision:
        if not heard.outcomes:
            return decided(view, heard, message, now)
        outcome = msgspec.structs.replace(heard.outcomes[-1], ok=True, body=True)
        return decided(view, msgspec.structs.replace(heard, outcomes=(outcome,)), message, now)

    patch.setattr(propagating, "recall", gone)


def generous(patch: Patch) -> None:
    """Quota is given back twice."""
    settled = order.settled
    patch.setattr(order, "settled", lambda key, share: (*settled(key, share), *share.adds(-1)))


def greedy(patch: Patch) -> None:
    """Quota of jobs that have ended is kept."""
    owed = events.owed
    patch.setattr(events, "owed", lambda before, after: [] if after.ended else owed(before, after))


def hasty(patch: Patch) -> None:
    """A share of quota is free for others before the record says that it was given back."""
    owed = events.owed

    def free(before: Job, after: Job) -> list[Write]:
        return [add for one in owed(before, after) if isinstance(one, Put) for add in one.value.adds(-1)]

    patch.setattr(events, "owed", free)


def credulous(patch: Patch) -> None:
    """What any attempt shows is taken for what the present one does."""
    patch.setattr(object_owner, "attempt_of", lambda job, seen: job.attempt)


def trusting(patch: Patch) -> None:
    """The reserver takes the scheduler's word for the room."""
    patch.setattr(
        reserving, "recheck", lambda cluster, workload, slots, _: Room(slots, sum(one.count for one in slots))
    )


def dateless(patch: Patch) -> None:
    """A report counts as new when it is read, however long it has waited for that."""
    patch.setattr(capacity, "_seen_at", lambda heard, now: now)


def gullible(patch: Patch) -> None:
    """What a member reports after the store was lost is taken for its size."""
    believed = capacity.believed

    def anew(report: Report, before: Any, info: Any, facts: Facts | None, now: int) -> Any:
        return believed(report, before, info, msgspec.structs.replace(facts or Facts(), capacity={}), now)

    patch.setattr(capacity, "believed", anew)


def unlabelled(patch: Patch) -> None:
    """Every attempt is labelled as the first."""
    labels = member_copy.job_labels
    patch.setattr(member_copy, "job_labels", lambda job, attempt: labels(job, 1))


def keeping(patch: Patch) -> None:
    """Room of attempts that are over is kept."""
    patch.setattr(reserving, "release", lambda view, heard, cluster, key, now: NOTHING)


def blind(patch: Patch) -> None:
    """An object that somebody has deleted is not missed."""
    patch.setattr(missing, "vanished", lambda job, answer: None)


def deaf(patch: Patch) -> None:
    """A cancellation of what is somewhere on its way is not heard."""
    cancel = queueing.cancel
    waits = (State.QUEUED, State.ADMITTED)

    def heard(view: Any, one: Heard, message: wire.Cancel, now: int) -> Decision:
        job = view.jobs.get(message.job)
        return cancel(view, one, message, now) if job is None or job.state in waits else NOTHING

    patch.setattr(queueing, "cancel", heard)


def fearless(patch: Patch) -> None:
    """Attempts are given up whoever is silent."""
    patch.setattr(freeze, "held_back", lambda silence, heard, decided: decided)


def hopeful(patch: Patch) -> None:
    """Who has no job, and has not reported since the store was lost, is not missed."""
    patch.setattr(memory, "FleetSilence", lambda introduced, settle_ms: FleetSilence(Membership(), settle_ms))


def mute(patch: Patch) -> None:
    """Who stands behind a blocking head does not say so."""
    stay = order.QueueOrder._stay

    def silently(self: order.QueueOrder, entry: Any, gates: tuple[Reason, ...]) -> None:
        stay(self, entry, tuple(one for one in gates if one.code is not Code.BEHIND_HEAD))

    patch.setattr(order.QueueOrder, "_stay", silently)


def uncharged(patch: Patch) -> None:
    """A turn is not charged to the last node of its path."""
    charge = order.charge
    patch.setattr(order, "charge", lambda path, asks: charge(path[:-1], asks))
