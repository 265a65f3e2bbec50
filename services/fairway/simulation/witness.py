"""What must always hold, looked at from outside after every effect: the record, the store's rows, the members.

It shares with those who decide how rows are read and which words came too late (`domain.working_sets`), and asks the
code of rebuilds what it makes of the record. The rules of single jobs, of room and of quota are the auditor's
(`runtime.check`), which reads the record alone.
"""

from collections.abc import Callable, Iterator
from functools import partial

import msgspec

from fairway.domain import decision
from fairway.domain.job import CHARGED, MOVES, Job, State
from fairway.domain.quota_tree import QuotaNode
from fairway.domain.working_sets import WorkingSets
from fairway.runtime.check import Checker, Grace
from fairway.runtime.check_job import Spoken
from fairway.runtime.ports import Delivery
from fairway.runtime.rebuild import Folding
from fairway.simulation.fleet import Fleet
from fairway.simulation.outcome import Breach
from fairway.simulation.virtual import T0
from fairway.wire import fleet as fleet_wire
from fairway.wire import jobs as wire
from fairway.wire.capacity import Node

_message = msgspec.json.Decoder(wire.Message).decode
_heard = msgspec.json.Decoder(fleet_wire.Message).decode
_job = msgspec.json.Decoder(Job).decode
_FOLDED = {"admitted", *(kind.verb for kind in MOVES)}


class Witness:
    """`breaches` is empty as long as everything holds."""

    def __init__(self, nodes: dict[str, dict[str, dict[str, int]]], tree: QuotaNode, grace: Grace) -> None:
        self.breaches: list[Breach] = []
        self.now: Callable[[], int] = lambda: 0
        self.present: Callable[[str], set[str]] = lambda cluster: set()
        self.running: dict[str, dict[int, str]] = {}
        self.ordered: set[tuple[str, int]] = set()
        self._checker = Checker(nodes, tree, grace)
        self._nodes: dict[str, dict[str, Node]] = {}
        self._began: set[tuple[str, int]] = set()
        self._came: dict[tuple[str, int], bool] = {}
        self.submitted: dict[str, str] = {}

    def breach(self, rule: str, job: str, text: str) -> None:
        self.breaches.append(Breach(self.now(), rule, job, text))

    # The record.

    def stored(self, stream: str, delivery: Delivery) -> None:
        if stream == "CLUSTERS":
            heard = _heard(delivery.data)
            if isinstance(heard, fleet_wire.Report):
                # Its own clock may be wrong.
                told = msgspec.structs.replace(heard, at=T0 + self.now())
                self._checker.see(told)
                self._checker.see(self._corrected(told))
        if stream == "DLQ":
            self.breach("dead letter", "", delivery.data.decode()[:500])
        if stream != "JOBS":
            return
        message = _message(delivery.data)
        if isinstance(message, wire.Recall | wire.Cancelled | wire.Failed | wire.Lost | wire.Succeeded):
            self.ordered.add((message.job, message.attempt))
        self._compare(message)
        self._checker.hear(Spoken(delivery.sequence, delivery.id, delivery.subject, message))
        for one in self._checker.news():
            self.breach(one.rule, one.job, f"{one.text} (message {one.sequence})")

    def _corrected(self, report: fleet_wire.Report) -> fleet_wire.Report:
        """Without the pods that are gone, which an agent whose watch stalls goes on reporting."""
        nodes = tuple(map(partial(_without, self.present(report.cluster)), report.nodes))
        known = {} if report.full else self._nodes.get(report.cluster, {})
        self._nodes[report.cluster] = known | {node.name: node for node in nodes}
        return msgspec.structs.replace(report, nodes=nodes)

    def _forget(self, cluster: str, key: str) -> None:
        """The same for an attempt that is gone since the last report."""
        known = self._nodes.get(cluster, {})
        changed = [_without({*node.attempts} - {key}, node) for node in known.values() if key in node.attempts]
        if changed:
            known |= {node.name: node for node in changed}
            at, nodes = T0 + self.now(), tuple(changed)
            self._checker.see(fleet_wire.Report(at=at, cluster=cluster, epoch="", sequence=0, full=False, nodes=nodes))

    def _compare(self, message: wire.JobMessage) -> None:
        """What is said of an attempt is what became of it in its member."""
        key = (message.job, message.attempt)
        if isinstance(message, wire.Running) and key not in self._began:
            self.breach("truth", message.job, f"attempt {message.attempt} is said to run, and never did")
        ended = {wire.Succeeded: True, wire.Failed: False}.get(type(message))
        if ended is not None and self._came.get(key) is not ended:
            said = "succeeded" if ended else "failed"
            self.breach("truth", message.job, f"attempt {message.attempt} is said to have {said}, and has not")

    # The members.

    def started(self, cluster: str, job: str, attempt: int) -> None:
        """Invariant 1 as it counts: never do pods of two attempts of one job run."""
        here = self.running.setdefault(job, {})
        for other, where in here.items():
            if other != attempt:
                self.breach(
                    "one attempt", job, f"attempt {attempt} runs in {cluster} while attempt {other} runs in {where}"
                )
        here[attempt] = cluster
        self._began.add((job, attempt))

    def ended(self, cluster: str, job: str, attempt: int, well: bool) -> None:
        self._came[job, attempt] = well
        self.gone(cluster, job, attempt)

    def gone(self, cluster: str, job: str, attempt: int) -> None:
        self.running.get(job, {}).pop(attempt, None)
        self._forget(cluster, f"{job}/{attempt}")

    def deleted(self, cluster: str, job: str, attempt: int) -> None:
        """Invariant 7: what runs is deleted because the record says so, and for no other reason."""
        if (job, attempt) not in self.ordered and attempt in self.running.get(job, {}):
            self.breach("deleted", job, f"attempt {attempt} was deleted in {cluster}, and the record does not say why")

    # The settings.

    def settled(self, tree: QuotaNode) -> None:
        self._checker.quota(tree, T0 + self.now())

    # Everything, when it is worth looking at everything.

    def look(self, fleet: Fleet) -> None:
        """Every job that waits says why. (That an end is never taken back is for the record to show: what is in a row
        and was not said when the store is lost has not happened.)"""
        for name, job in rows(fleet).items():
            if job.state is State.QUEUED and job.why is not None and not job.why.text:
                self.breach("reason", name, "it waits, and its reason is empty")

    def end(self, fleet: Fleet) -> None:
        """When no fault was for long: every job has ended, and nothing of it is left anywhere."""
        self.look(fleet)
        for one in self._checker.findings().violations:
            self.breach(one.rule, one.job, f"{one.text} (message {one.sequence})")
        found = (*_unfinished(fleet), *_answers(fleet, self.submitted), *_left(fleet), *_sums(fleet), *_unlike(fleet))
        for rule, job, text in found:
            self.breach(rule, job, text)


def _without(there: set[str], node: Node) -> Node:
    """Only with those attempts that are there."""
    return msgspec.structs.replace(node, attempts={key: one for key, one in node.attempts.items() if key in there})


def rows(fleet: Fleet) -> dict[str, Job]:
    return {key: _job(row.data) for key, row in fleet.store.rows.get(decision.JOBS, {}).items()}


Found = Iterator[tuple[str, str, str]]


def _unfinished(fleet: Fleet) -> Found:
    for job in rows(fleet).values():
        if not job.ended:
            why = job.why.text if job.why else "nothing is said of why"
            yield "liveness", job.id, f"it is {job.state.value}: {why}"
        elif job.removing:
            yield "removal", job.id, f"it ended, and attempt {job.recalled} is still being removed in {job.removing}"


def _answers(fleet: Fleet, submitted: dict[str, str]) -> Found:
    known = rows(fleet)
    for job in submitted.values():
        if job not in known:
            yield "lost", job, "it was submitted and never answered"


def _left(fleet: Fleet) -> Found:
    """Invariant 9, for jobs that were deleted or moved: only what ended by itself may stay to be looked at."""
    stays = {(job.id, job.attempt) for job in rows(fleet).values() if job.state in (State.SUCCEEDED, State.FAILED)}
    for member in fleet.members.values():
        for key in member.ours():
            job, attempt = member.whose(member.objects[key])
            if job and (job, attempt) not in stays:
                yield "left", job, f"attempt {attempt} is left in {member.name}"


def _sums(fleet: Fleet) -> Found:
    """Nothing is charged, and no room is held, for nobody."""
    known = rows(fleet)
    if not any(job.state in CHARGED for job in known.values()):
        for name, amount in sorted(fleet.store.counters.get(decision.QUOTA, {}).items()):
            if amount:
                yield "quota", "", f"{name} is still charged {amount}"
    for table, held in sorted(fleet.store.rows.items()):
        if table == decision.OWED:
            yield from (("quota", key.partition("/")[0], "its share was given back and is still owed") for key in held)
        if table.startswith("ledger/") or table in (decision.LIVE, decision.NAMES):
            for key in sorted(held):
                job = known.get(key.partition("/")[0])
                if table != decision.NAMES and (job is None or job.ended):
                    yield "held", key.partition("/")[0], f"{table} still has {key}"


def _unlike(fleet: Fleet) -> Found:
    """Invariant 8: the rows of the jobs are what a rebuild from the whole record would make of them."""
    sets, record = WorkingSets(), fleet.bus.stored("JOBS")
    for one in record:
        if isinstance(message := _message(one.data), wire.Rebuild):
            sets.hear(message, one.sequence)
    folding = Folding(sets)
    for one in record:
        if one.subject.split(".")[2] in _FOLDED:
            folding.read(one.data, one.sequence)
    made = {name: (job.rev, job.state, job.attempt, job.cluster) for name, job in folding.jobs().items()}
    there = {name: (job.rev, job.state, job.attempt, job.cluster) for name, job in rows(fleet).items()}
    for name in sorted(made.keys() | there.keys()):
        if made.get(name) != there.get(name):
            yield "rebuild", name, f"its row is {there.get(name)}, and the record makes {made.get(name)} of it"
