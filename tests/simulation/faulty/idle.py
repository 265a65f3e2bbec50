"""Deliberate faults of what is done about batch resources, which become less."""

from collections.abc import Iterable, Sequence

import msgspec
import pytest

from fairway.domain import fold
from fairway.domain.attempts import retry
from fairway.domain.batch_resources import PART_OF, batch_pod_sets
from fairway.domain.events import Teller
from fairway.domain.job import Job
from fairway.domain.resources import Resources
from fairway.placement import cluster
from fairway.placement.cluster import ClusterView
from fairway.placement.fit import Plan, Shortfall
from fairway.reserver import capacity
from fairway.reserver import decide as reserving
from fairway.runtime.views.members import Facts
from fairway.watcher import memory, missing
from fairway.wire import jobs as wire
from fairway.wire.capacity import Node, Slot
from fairway.wire.fleet import Report
from fairway.wire.reasons import Code
from fairway.wire.workload import Workload
from fairway.workloads import member_copy

Patch = pytest.MonkeyPatch


def boundless(patch: Patch) -> None:
    """The reserver takes the scheduler's word for batch resources, whatever nodes have of them by now."""
    recheck = reserving.recheck

    def checked(
        there: ClusterView, workload: Workload, slots: Sequence[Slot], otherwise: ClusterView
    ) -> Plan | Shortfall:
        if batch_pod_sets(workload):
            return Plan(tuple(slots), sum(one.count for one in slots))
        return recheck(there, workload, slots, otherwise)

    patch.setattr(reserving, "recheck", checked)


def proud(patch: Patch) -> None:
    """A node has for good what it listed of batch resources first."""
    listed: dict[tuple[str, str], Resources] = {}
    said = capacity.said

    def first(name: str, node: Node) -> Node:
        batch = {name: amount for name, amount in node.allocatable.items() if name in PART_OF}
        was = listed.setdefault((name, node.name), batch)
        return msgspec.structs.replace(node, allocatable={**node.allocatable, **was})

    def kept(report: Report, facts: Facts | None) -> Report:
        nodes = tuple(first(report.cluster, node) for node in report.nodes)
        return said(msgspec.structs.replace(report, nodes=nodes), facts)

    patch.setattr(capacity, "said", kept)


def eager(patch: Patch) -> None:
    """What may become less of batch resources is given out, too."""
    left_on = cluster.left_on

    def all_of_it(node: Node, besides: Iterable[Resources] = ()) -> Resources:
        return left_on(msgspec.structs.replace(node, margin={}), besides)

    patch.setattr(cluster, "left_on", all_of_it)


def spending(patch: Patch) -> None:
    """An attempt is spent when batch resources became less."""
    patch.setattr(retry, "_shrunk", lambda job: 0)
    patch.setattr(missing, "batch_shrunk", lambda teller, why: retry.attempt_over(teller, wire.Lost, why))


def displaced(patch: Patch) -> None:
    """A job whose batch resources became less waits behind those who came after it."""
    said = Teller.say

    def behind(teller: Teller, kind: type[wire.JobMessage], **fields: object) -> Teller:
        job = teller.job
        if kind is wire.Queue and job is not None and job.why is not None and job.why.code is Code.BATCH_SHRUNK:
            fields["enqueued_at"] = job.since
        return said(teller, kind, **fields)

    patch.setattr(Teller, "say", behind)


def ending(patch: Patch) -> None:
    """A job is given up when its batch resources become less."""
    patch.setattr(missing, "batch_shrunk", lambda teller, why: retry.given_up(teller, wire.Lost, why))


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


def lenient(patch: Patch) -> None:
    """A job that lacks pods for want of batch resources is never taken back."""

    def endless(job: Job) -> int:
        return 1 << 50

    patch.setattr(memory, "patience", endless)
    patch.setattr(missing, "patience", endless)


def unmarked(patch: Patch) -> None:
    """The pods of jobs that asked for batch resources take what is for online pods."""
    named = member_copy._name_pod_sets
    patch.setattr(member_copy, "_name_pod_sets", lambda kind, copy, batch: named(kind, copy, ()))
