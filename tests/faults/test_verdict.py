"""The witness of what runs in the members, and the reading of the record, tell what must not happen, or none of these
tests could fail."""

from collections.abc import Callable

import msgspec
import pytest
from msgspec import Struct

from fairway.adapters.memory.bus import MemoryBus
from fairway.domain.quota.tree import QuotaNode
from fairway.lab.kubesim.api.store import Key
from fairway.lab.kubesim.clusters import SimCluster
from fairway.operate.replay.report import DecisionReport, StageReport, Unknown
from fairway.runtime.ports import Outgoing
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.capacity import Slot
from fairway.wire.envelope import Actor
from fairway.wire.policy import Placement
from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Code, Reason
from fairway.wire.workload import PodSet, Workload
from tests.faults.arena.members import Members
from tests.faults.arena.verdict import Reading, Verdict

GPU = "nvidia.com/gpu"
NODES = {name: {"n1": {GPU: 8, "pods": 110}} for name in ("c0", "c1")}
LEAF = ("root", "root/a")
TREE = QuotaNode("root", "root", children=(QuotaNode("a", "root/a", max={GPU: 8}),))
WHY = Reason(Code.JOB_FAILED, "exit code 1")


class Clock:
    def now(self) -> int:
        return 0


class Two:
    """Two clusters without anybody to run pods in them."""

    def __init__(self) -> None:
        self.seen = Members()
        self.clusters = [SimCluster(name, {}, Clock(), "seed") for name in ("c0", "c1")]
        for cluster in self.clusters:
            self.seen.follow(cluster)

    def pod(self, cluster: int, attempt: int, phase: str) -> None:
        self._put(cluster, "pods", "Pod", attempt, {"status": {"phase": phase}})

    def made(self, cluster: int, attempt: int) -> None:
        self._put(cluster, "jobs.batch", "Job", attempt, {})

    def _put(self, cluster: int, storage: str, kind: str, attempt: int, more: dict[str, object]) -> None:
        labels = {"fairway.io/job": "job-a", "fairway.io/attempt": str(attempt)}
        meta = {"name": f"a-{attempt}", "namespace": "t", "uid": f"{kind}-{attempt}-{cluster}", "labels": labels}
        obj = {"kind": kind, "metadata": meta, **more}
        self.clusters[cluster].api.store.put(Key(storage, "t", f"a-{attempt}"), obj)


def test_one_attempt_after_another_is_as_it_should_be() -> None:
    two = Two()
    for cluster, attempt in enumerate((1, 2)):
        two.made(cluster, attempt)
        two.pod(cluster, attempt, "Running")
        two.pod(cluster, attempt, "Failed")
    assert (two.seen.twice, two.seen.overlapping, two.seen.running()) == ([], [], 0)


def test_two_attempts_that_run_at_once_overlap() -> None:
    two = Two()
    two.pod(0, 1, "Running")
    two.pod(1, 2, "Running")
    assert two.seen.overlapping == ["attempt 2 of job-a runs in c1 while attempt 1 does"]


def test_one_attempt_that_is_made_in_two_clusters_was_started_twice() -> None:
    two = Two()
    two.made(0, 1)
    two.made(1, 1)
    assert len(two.seen.twice) == 1


def test_a_job_that_runs_again_after_it_succeeded_was_started_twice() -> None:
    two = Two()
    two.pod(0, 1, "Running")
    two.pod(0, 1, "Succeeded")
    two.pod(1, 2, "Running")
    assert two.seen.twice == ["attempt 2 of job-a runs after attempt 1 succeeded"]


def test_what_was_restored_may_run_beside_another_and_is_there_until_it_is_deleted() -> None:
    two = Two()
    two.made(0, 1)
    two.seen.restored(("job-a", 1))
    for cluster, attempt in ((0, 1), (1, 2)):
        two.pod(cluster, attempt, "Running")
    assert two.seen.overlapping == []
    assert list(two.seen.left()) == [(("job-a", 1), "Job Job-1-0 in c0")]
    two.clusters[0].api.store.remove(Key("jobs.batch", "t", "a-1"))
    assert list(two.seen.left()) == []


DONE = wire.Succeeded(job="job-a", tenant="t", attempt=1, cluster="c0")
LOST = wire.Lost(job="job-a", tenant="t", attempt=1, cluster="c0", why=WHY)
FINAL = msgspec.structs.replace(LOST, final=True)
EVICTED = wire.Evicted(job="job-a", tenant="t", attempt=1, cluster="c0", why=WHY, claim="claim-7", right=Cause.RECLAIM)
REFUSED = wire.Rejected(job="job-a", tenant="t", attempt=1, cause="m-1", reasons=(Reason(Code.NO_POLICY, "none"),))
CANCEL = wire.Cancel(job="job-a", tenant="t", who=Actor("ann", "http"))
GONE = wire.Removed(job="job-a", tenant="t", attempt=1, cluster="c0")
CANCELLED = wire.Cancelled(job="job-a", tenant="t", attempt=1, who="ann")
ANOTHER = wire.Submitted(tenant="t", manifest=msgspec.Raw(b"[]"), client="b")


def attempt_of(number: int, charge: int) -> list[wire.JobMessage]:
    """Up to its reservation in c0, c1, ..."""
    where = f"c{number - 1}"
    slots = (Slot("Worker", "n1", 1),)
    head = {"job": "job-a", "tenant": "t", "attempt": number}
    return [
        wire.Queue(**head, queue="gold", leaf=LEAF, why=WHY if number > 1 else None),
        wire.Dequeued(**head, path=LEAF, charge={GPU: charge}),
        wire.Placed(**head, cluster=where, slots=slots),
        wire.Reserved(**head, cluster=where, slots=slots, expires_at=60_000),
    ]


def life(*after: wire.JobMessage, charge: int = 8) -> tuple[wire.JobMessage, ...]:
    """Of a job that runs; then what is said after that, or that it succeeds."""
    work = Workload("batch/v1", "Job", "t", "a", (PodSet("Worker", 1, {GPU: 8}),), 1)
    spec = wire.JobSpec(workload=work, policy="p", placement=Placement(), manifest=wire.ManifestRef(1, "0" * 64, 2))
    return (
        wire.Submitted(tenant="t", manifest=msgspec.Raw(b"{}"), client="a"),
        wire.Admitted(job="job-a", tenant="t", attempt=1, cause="m-1", spec=spec),
        *attempt_of(1, charge),
        wire.Dispatched(job="job-a", tenant="t", attempt=1, cluster="c0", uid="u"),
        wire.Running(job="job-a", tenant="t", attempt=1, cluster="c0"),
        *(after or [DONE]),
    )


def elsewhere(message: wire.JobMessage) -> wire.JobMessage:
    return msgspec.structs.replace(message, cluster="c1") if isinstance(message, wire.Dispatched) else message


def ran_well(seen: Two) -> None:
    seen.made(0, 1)
    seen.pod(0, 1, "Running")
    seen.pod(0, 1, "Succeeded")


def ran_ill(seen: Two) -> None:
    seen.made(0, 1)
    seen.pod(0, 1, "Failed")


def ran_twice(seen: Two) -> None:
    ran_well(seen)
    seen.made(1, 1)


def ran_beside(seen: Two) -> None:
    seen.pod(1, 2, "Running")
    ran_well(seen)


class Case(Struct, frozen=True):
    """What was said, one a second, and seen; `wrong` is what the verdict says of it, and `among` where."""

    among: str
    wrong: str
    said: tuple[wire.JobMessage, ...] = life()
    seen: Callable[[Two], None] = ran_well
    sent: tuple[str, ...] = ("m-1",)
    letters: tuple[bytes, ...] = ()
    held: tuple[str, ...] = ()
    each_s: int = 1


async def judged(case: Case) -> Verdict:
    bus = MemoryBus()
    two = Two()
    reading = Reading(NODES, TREE)
    rev = 0
    for number, plain in enumerate(case.said, 1):
        rev += not isinstance(plain, wire.Submitted | wire.Cancel)
        own = 0 if isinstance(plain, wire.Submitted | wire.Cancel) else rev
        message = msgspec.structs.replace(plain, rev=own, at=number * case.each_s * 1000)
        said = msgspec.json.encode(message)
        await bus.publish([Outgoing(f"m-{number}", subjects.job(message.verb, "t"), said, "said", "/test")])
    for letter in case.letters:
        await bus.publish([Outgoing("letter", subjects.dead_letter("queue"), letter, "fairway.dlq", "/test")])
    case.seen(two)
    await reading.read(bus)
    return reading.verdict(case.sent, two.seen, case.held)


CASES = {
    "what was submitted is not in the record": Case("lost", "m-99 was never answered", sent=("m-1", "m-99")),
    "what is in the record has no answer": Case(
        "lost", "submitted message m-10 was neither admitted nor rejected", said=(*life(), ANOTHER)
    ),
    "a job uses up its attempts": Case("failed", "a job failed for good", said=life(FINAL), seen=ran_ill),
    "a job is refused": Case("refused", "a job was refused", said=(life()[0], REFUSED), seen=lambda two: None),
    "a job has no end": Case("lost", "job-a has no end", said=life()[:-1]),
    "an attempt is made in two members": Case("twice", "was made as Job Job-1-0 in c0, and again", seen=ran_twice),
    "attempts run side by side": Case("overlapping", "attempt 1 of job-a runs in c0 while attempt 2", seen=ran_beside),
    "an attempt is reserved before the one before it is gone": Case(
        "overlapping", "attempt 2 was reserved while attempt 1 in c0", said=life(LOST, *attempt_of(2, 8), CANCELLED)
    ),
    "more is charged than a node of the tree may have": Case("quota", "root/a", said=life(charge=9)),
    "a job is said to have succeeded that did not": Case(
        "others", "attempt 1 of job-a did not succeed", seen=lambda two: two.made(0, 1)
    ),
    "a message was buried": Case("others", "a dead letter: not to be read", letters=(b"not to be read",)),
    "quota is still charged": Case("others", "root/a is still charged 8", held=("root/a is still charged 8",)),
    "an eviction is for no claim": Case("others", "and nobody claimed", said=life(EVICTED, GONE, CANCEL, CANCELLED)),
    "a cancellation is not acted upon": Case(
        "others", "succeeded 70 s after the job was cancelled", said=life(CANCEL, DONE), each_s=70
    ),
    "it is sent elsewhere than where it has room": Case(
        "others", "dispatched to c1", said=tuple(elsewhere(one) for one in life())
    ),
}


@pytest.mark.parametrize("name", CASES)
async def test_the_verdict_counts(name: str) -> None:
    case = CASES[name]
    verdict = await judged(case)
    assert any(case.wrong in one for one in getattr(verdict, case.among)), verdict.wrong
    assert verdict.wrong == getattr(verdict, case.among)


async def test_where_nothing_is_wrong_the_verdict_says_what_was_done() -> None:
    verdict = await judged(Case("", ""))
    assert verdict.wrong == ()
    assert str(verdict) == (
        "accepted 1, ended 1, cancelled 0, failed 0, refused 0, lost 0, started twice 0, overlapping attempts 0, "
        "quota excess 0, other breaches 0, decided otherwise 0, hardly known 0, decided again 0, unknown 0, "
        "attempts 1, longest stall 1.0 s"
    )
    recall = wire.Recall(job="job-a", tenant="t", attempt=1, cluster="c0", why=Reason(Code.CANCELLED, "by ann"))
    stopped = await judged(Case("", "", said=life(CANCEL, recall, GONE, CANCELLED)))
    assert (stopped.wrong, stopped.accepted, stopped.ended, stopped.cancelled) == ((), 1, 1, 1)
    late = Unknown("job-a", 1, "placed", Reason(Code.VIEW_NOT_STORED, "it was never stored"))
    unknown = verdict.decided_again(DecisionReport({"queue": StageReport(1, unknown=[late])}))
    assert (unknown.identical, unknown.unknown, unknown.wrong) == (1, 1, ("queue cannot decide 1 of 2 again",))
