"""Deliberate faults of what is done about batch resources, which become less."""

from collections.abc import Sequence

import pytest

from fairway.domain import fold
from fairway.domain.attempts import retry
from fairway.domain.batch_resources import batch_pod_sets
from fairway.domain.job import Job
from fairway.placement.cluster import ClusterView
from fairway.placement.fit import Plan, Shortfall
from fairway.reserver import decide as reserving
from fairway.watcher import memory, missing
from fairway.wire import jobs as wire
from fairway.wire.capacity import Slot
from fairway.wire.reasons import Code
from fairway.wire.workload import Workload
from fairway.workloads import member_copy

Patch = pytest.MonkeyPatch


def boundless(patch: Patch) -> None:
    """The reserver takes the scheduler's word for batch resources, whatever nodes have of them by now."""
    recheck = reserving.recheck

    def checked(cluster: ClusterView, workload: Workload, slots: Sequence[Slot]) -> Plan | Shortfall:
        if batch_pod_sets(workload):
            return Plan(tuple(slots), sum(one.count for one in slots))
        return recheck(cluster, workload, slots)

    patch.setattr(reserving, "recheck", checked)


def spending(patch: Patch) -> None:
    """An attempt is spent when batch resources became less."""
    patch.setattr(retry, "_shrunk", lambda job: 0)
    patch.setattr(missing, "batch_shrunk", lambda teller, why: retry.attempt_over(teller, wire.Lost, why))


def returning(patch: Patch) -> None:
    """A job goes back at once to where batch resources became less."""
    avoided_for = fold.avoided_for

    def at_once(code: Code, avoid: int, before: int) -> int:
        return 0 if code is Code.BATCH_SHRUNK else avoided_for(code, avoid, before)

    patch.setattr(fold, "avoided_for", at_once)


def rash(patch: Patch) -> None:
    """A job is taken back as soon as it lacks pods."""

    def none(job: Job) -> int:
        return 0

    patch.setattr(memory, "patience", none)
    patch.setattr(missing, "patience", none)


def unmarked(patch: Patch) -> None:
    """The pods of jobs that asked for batch resources take what is for online pods."""
    named = member_copy._name_pod_sets
    patch.setattr(member_copy, "_name_pod_sets", lambda kind, copy, batch: named(kind, copy, ()))
