"""Builders of jobs: a life is a list of what was said, and each builder says only what matters."""

import itertools
from typing import Any

import msgspec

from fairway.domain.fold import fold
from fairway.domain.job import Job
from fairway.wire import jobs as wire
from fairway.wire.capacity import Slot
from fairway.wire.policy import Placement
from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Code, Reason
from fairway.wire.workload import PodSet, Workload

T0 = 1_700_000_000_000  # 2023-11-14 22:13:20Z
S = 1_000
# What changes no job by itself has no revision.
COMMANDS = (
    wire.ManifestsRemoved,
    wire.Submitted,
    wire.Cancel,
    wire.Revise,
    wire.Revised,
    wire.Adjust,
    wire.Unchanged,
    wire.HoldJob,
)
GPU = "nvidia.com/gpu"


def spec(name: str = "llm", pods: int = 4, gpus: int = 8, **more: Any) -> wire.JobSpec:
    sets = (PodSet("Worker", pods, {GPU: gpus}),)
    namespace = more.pop("namespace", "team-a")
    work = Workload("kubeflow.org/v1", "PyTorchJob", namespace, name, sets, more.pop("gang", pods))
    manifest = more.pop("manifest", wire.ManifestRef(1, "0" * 64, 20))
    fields = {"policy": "PropagationPolicy team-a/llm", "placement": Placement(), "manifest": manifest}
    return wire.JobSpec(**{"workload": work, **fields, **more})


class Life:
    """One job, said message by message; `job` is what they made of it, `said` the messages with their sequences."""

    def __init__(self, name: str = "llm-1", first: int = 1) -> None:
        self.name = name
        self.at = T0
        self.job = None
        self._sequence = itertools.count(first)
        self.said: list[tuple[int, wire.JobMessage]] = []
        self.job: Job | None

    def then(self, kind: type[wire.JobMessage], /, after: int = S, **fields: Any) -> "Life":
        self.at += after
        head: dict[str, Any] = {"job": self.name, "tenant": "team-a", "at": self.at}
        if self.job is not None:
            head |= {"attempt": self.job.attempt}
        if kind not in COMMANDS:
            head |= {"rev": self.job.rev + 1 if self.job else 1}
        message = kind(**{**head, **fields})
        if message.rev:
            self.job = fold(self.job, message)
        self.said.append((next(self._sequence), message))
        return self

    @property
    def now(self) -> Job:
        assert self.job is not None
        return self.job


def submitted(name: str = "llm-1", **more: Any) -> Life:
    raw = msgspec.Raw(b'{"kind":"PyTorchJob"}')
    return Life(name).then(wire.Submitted, manifest=raw, client="hub:u-1", source="hub", after=0, **more)


def admitted(**more: Any) -> Life:
    return submitted().then(wire.Admitted, attempt=1, spec=spec(**more))


def queued(**more: Any) -> Life:
    return admitted(**more).then(wire.Queue, queue="gold", leaf=("root", "root/a"), enqueued_at=T0 + S)


def dequeued(**more: Any) -> Life:
    return queued(**more).then(wire.Dequeued, path=("root", "root/a"), charge={GPU: 32})


FULL = wire.Verdict("c2", Code.NOT_ENOUGH, GPU, {"needed": 4, "by_node": 1, "by_sum": 1, "at_most": 8, "nodes": 8})
SPLIT = wire.Verdict("c3", Code.FRAGMENTED, GPU, {"needed": 4, "by_node": 2, "by_sum": 5, "at_most": 8, "nodes": 8})
SMALL = wire.Verdict("c2", Code.NEVER_FITS, GPU, {"needed": 4, "at_most": 2, "nodes": 2})
NOT_NAMED = wire.Verdict("c4", Code.NOT_SELECTED, "clusterNames")
FITS = wire.Verdict("c1", Code.FITS, "", {"needed": 4, "by_node": 6})
SLOTS = (Slot("Worker", "n1", 2), Slot("Worker", "n2", 2))


def placed(cluster: str = "c1", **more: Any) -> Life:
    return place(dequeued(**more), cluster)


def place(life: Life, cluster: str) -> Life:
    scores = {cluster: {"total": 812, "tightness": 40, "spread_load": 12}, "c5": {"total": 200, "tightness": 9}}
    verdicts = (msgspec.structs.replace(FITS, cluster=cluster), FULL)
    return life.then(wire.Placed, cluster=cluster, slots=SLOTS, verdicts=verdicts, scores=scores)


def reserved(cluster: str = "c1", **more: Any) -> Life:
    life = placed(cluster, **more)
    return life.then(wire.Reserved, cluster=cluster, slots=SLOTS, expires_at=life.at + 60 * S)


def dispatched(cluster: str = "c1", uid: str = "u-9", **more: Any) -> Life:
    return reserved(cluster, **more).then(wire.Dispatched, cluster=cluster, uid=uid)


def running(cluster: str = "c1", **more: Any) -> Life:
    return dispatched(cluster, **more).then(wire.Running, cluster=cluster, text="4 of 4 pods are up")


def failing(life: Life, after: int = 60 * S) -> Life:
    """The attempt fails and the job goes back to its queue, its remains not yet removed."""
    why = Reason(Code.JOB_FAILED, "exit code 137")
    cluster = life.now.cluster
    return returning(life.then(wire.Failed, cluster=cluster, why=why, after=after), cluster, why)


RECLAIMED = Reason(
    Code.RECLAIMED, "its room is for a job of quota root/b that is within its guaranteed share (claim-7f3a)"
)


def evicting(life: Life, why: Reason = RECLAIMED, after: int = 60 * S) -> Life:
    """The attempt makes room for a job of another leaf, and the job goes back to its queue."""
    cluster = life.now.cluster
    right = Cause.RECLAIM if why.code is Code.RECLAIMED else Cause.PREEMPTION
    both = {"leaf": "root/b", "level": 2, "priority": 100, "own_priority": 10}
    life.then(wire.Evicted, cluster=cluster, why=why, claim="claim-7f3a", right=right, after=after, **both)
    return returning(life, cluster, why)


def returning(life: Life, cluster: str, why: Reason) -> Life:
    number = life.now.attempt
    note = Reason(
        Code.WAITING_FOR_REMOVAL, f"attempt {number} in {cluster} ended: {why.text}; it is being removed there"
    )
    where = {"queue": "gold", "leaf": ("root", "root/a"), "enqueued_at": T0 + S}
    life.then(wire.Recall, cluster=cluster, why=why, after=0)
    return life.then(wire.Queue, attempt=number + 1, why=note, after=0, **where)


def nominated(life: Life, victims: int = 3, cluster: str = "c1", evicted: int = 0) -> Life:
    """It claims room, and that room is kept for it; of the victims so many were not on their way out before."""
    claim = {"claim": 1, "causes": (Cause.RECLAIM,), "level": 2, "guarantor": "root/a", "until": life.at + 31 * S}
    life.then(wire.Claimed, **claim)
    leave = {"victims": victims, "evicted": evicted}
    return life.then(wire.Nominated, claim=1, cluster=cluster, slots=SLOTS, **leave, until=life.at + 180 * S)


def back(life: Life, code: Code, text: str, *verdicts: wire.Verdict) -> Life:
    """The scheduler found no room and sent the job back."""
    where = {"queue": "gold", "leaf": ("root", "root/a"), "enqueued_at": T0 + S}
    return life.then(wire.Queue, why=Reason(code, text), verdicts=verdicts, **where)
