"""What must always hold, looked at from outside after every effect: the record, the store's rows, the members.

It shares with those who decide how rows are read and which words came too late (`domain.working_sets`), and asks the
code of rebuilds what it makes of the record. The rules of single jobs, of room and of quota are the auditor's
(`fairway.audit`), which reads the record alone.
"""

import asyncio
from functools import partial

import msgspec
from msgspec import Struct

from fairway.audit.attempts import Spoken
from fairway.audit.auditor import Checker, Grace
from fairway.audit.evictions.claims import AuditedClaim, EvictionFigures
from fairway.domain.job import State
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.text.decoding import decoder
from fairway.lab.simulation.evictions.notices import Notices
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.invariants.at_the_end import left_behind, rows
from fairway.lab.simulation.invariants.silent_times import Silence
from fairway.lab.simulation.outcome import Breach
from fairway.lab.simulation.virtual_time import T0
from fairway.runtime.ports import Delivery
from fairway.wire import fleet as fleet_wire
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.capacity import Node
from fairway.wire.preemption import evictions

_message = decoder(wire.Message)
_heard = decoder(fleet_wire.Message)
_decoded = decoder(fleet_wire.DeadLetter)
_relief = decoder(evictions.Message)
# With this begin the ids of what somebody says who has no right to.
LIE = "lie-"
# The source of reports without the pods that are gone. Who decides may know of it, or still go by what agents told.
_CORRECTED = "corrected"
# So long (ms) may a job wait without a reason: those who would give one may be away.
_REASON_MS = 300_000


class _Attempts(Struct):
    """By job and number: those that `began` in a member, and whether those that `ended` did so well."""

    began: set[tuple[str, int]] = set()
    ended: dict[tuple[str, int], bool] = {}
    notices: Notices = msgspec.field(default_factory=Notices)


class EventChecks:
    """`breaches` is empty as long as everything holds. The `fleet` is set when it is made, and asked what is there."""

    def __init__(self, nodes: dict[str, dict[str, dict[str, int]]], tree: QuotaNode, grace: Grace) -> None:
        self.breaches: list[Breach] = []
        self._told: set[tuple[str, str, str]] = set()
        self.fleet: SimulatedFleet
        self.running: dict[str, dict[int, str]] = {}
        self.ordered: set[tuple[str, int]] = set()
        self._checker = Checker(nodes, tree, grace)
        self._silence = Silence(grace.reports)
        self._nodes: dict[str, dict[str, Node]] = {}
        self._came_of = _Attempts()
        self.submitted: dict[str, str] = {}

    def _now(self) -> int:
        """Milliseconds of the simulation."""
        return round(asyncio.get_running_loop().time() * 1000)

    def breach(self, rule: str, job: str, text: str) -> None:
        """Each is told once."""
        if (rule, job, text) not in self._told:
            self._told.add((rule, job, text))
            self.breaches.append(Breach(self._now(), rule, job, text))

    # The record.

    def stored(self, stream: str, delivery: Delivery) -> None:
        if delivery.id.startswith(LIE):
            self._lied(delivery)
            return  # what it says is false, and nobody is to act upon it
        if stream == "CLUSTERS":
            heard = _heard(delivery.data)
            if isinstance(heard, fleet_wire.Report):
                # Its own clock may be wrong.
                told = msgspec.structs.replace(heard, at=T0 + self._now())
                self._checker.see(told)
                self._checker.see(self._corrected(told), _CORRECTED)
                self._silence.hear(heard, self._now())
        if stream == "DLQ" and not _decoded(delivery.data).id.startswith(LIE):
            self.breach("dead letter", "", delivery.data.decode()[:500])
        if stream == "RELIEF" and isinstance(told_whom := _relief(delivery.data), evictions.Evict):
            self._checker.decided(told_whom)
        if stream != "JOBS":
            return
        message = _message(delivery.data)
        if isinstance(message, wire.Recall | wire.Cancelled | wire.Failed | wire.Lost | wire.Succeeded):
            self.ordered.add((message.job, message.attempt))
        self._came_of.notices.hear(message)
        self._compare(message)
        if text := self._silence.broken_by(message, message.at - T0, self.fleet.joined):
            self.breach("frozen", message.job, text)
        self._checker.hear(Spoken(delivery.sequence, delivery.id, delivery.subject, message))
        for one in self._checker.news():
            self.breach(one.rule, one.job, f"{one.text} (message {one.sequence})")

    def _lied(self, delivery: Delivery) -> None:
        """A cluster that reports is not silent, whatever it says of itself."""
        said = _heard(delivery.data)
        own = isinstance(said, fleet_wire.Report) and delivery.subject == subjects.cluster(said.verb, said.cluster)
        if isinstance(said, fleet_wire.Report) and own and not said.left:
            self._silence.hear(said, self._now())

    def reported(self, cluster: str) -> tuple[Node, ...]:
        """Its nodes as its agent last had them, without the pods that are gone."""
        return tuple(self._nodes.get(cluster, {}).values())

    def _corrected(self, report: fleet_wire.Report) -> fleet_wire.Report:
        """Without the pods that are gone, which an agent whose watch stalls goes on reporting."""
        nodes = tuple(map(partial(_without, self.fleet.members[report.cluster].attempts()), report.nodes))
        known = {} if report.full else self._nodes.get(report.cluster, {})
        self._nodes[report.cluster] = known | {node.name: node for node in nodes}
        return msgspec.structs.replace(report, nodes=nodes)

    def _forget(self, cluster: str, key: str) -> None:
        """The same for an attempt that is gone since the last report."""
        known = self._nodes.get(cluster, {})
        shown = {node.name: {_attempt(line) for line in node.attempts} for node in known.values()}
        changed = [_without(shown[node.name] - {key}, node) for node in known.values() if key in shown[node.name]]
        if changed:
            known |= {node.name: node for node in changed}
            at = T0 + self._now()
            nodes = tuple(changed)
            report = fleet_wire.Report(at=at, cluster=cluster, epoch="", sequence=0, full=False, nodes=nodes)
            self._checker.see(report, _CORRECTED)

    def _compare(self, message: wire.JobMessage) -> None:
        """What is said of an attempt is what became of it in its member."""
        key = (message.job, message.attempt)
        if isinstance(message, wire.Dispatched) and self.fleet.members[message.cluster].made_for(message.uid) != key:
            self.breach("truth", message.job, f"{message.uid} is said to be attempt {message.attempt}, and is not")
        if isinstance(message, wire.Running) and key not in self._came_of.began:
            self.breach("truth", message.job, f"attempt {message.attempt} is said to run, and never did")
        ended = {wire.Succeeded: True, wire.Failed: False}.get(type(message))
        if ended is not None and self._came_of.ended.get(key) is not ended:
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
        self._came_of.began.add((job, attempt))

    def ended(self, cluster: str, job: str, attempt: int, well: bool) -> None:
        self._came_of.ended[job, attempt] = well
        self.gone(cluster, job, attempt)

    def gone(self, cluster: str, job: str, attempt: int) -> None:
        self.running.get(job, {}).pop(attempt, None)
        self._forget(cluster, f"{job}/{attempt}")

    def deleted(self, cluster: str, job: str, attempt: int) -> None:
        """Invariant 7: what runs is deleted because the record says so, and for no other reason."""
        if (job, attempt) not in self.ordered and attempt in self.running.get(job, {}):
            self.breach("deleted", job, f"attempt {attempt} was deleted in {cluster}, and the record does not say why")
        left = self._came_of.notices.left(job, attempt, T0 + self._now())
        if left and attempt in self.running.get(job, {}):
            self.breach("notice", job, f"attempt {attempt} was deleted in {cluster} with {left} ms of its notice left")

    # The settings.

    def tree_changed(self, tree: QuotaNode) -> None:
        self._checker.tree_changed(tree, T0 + self._now())

    @property
    def tree(self) -> QuotaNode | None:
        """The newest one."""
        return self._checker.evictions.trees.newest

    def evictions(self) -> EvictionFigures:
        """What became of claims, once it is judged at the end."""
        return self._checker.evictions.figures()

    def wasted(self) -> list[AuditedClaim]:
        """Claims for which somebody was evicted in vain, once it is judged at the end."""
        return self._checker.evictions.claims.wasted()

    def tree_changes(self) -> list[int]:
        """When the quota tree was changed (ms)."""
        return self._checker.evictions.trees.times()

    def most(self, node: str, resource: str) -> int | None:
        """What a node of the quota tree may be charged now."""
        return self._checker.charges.most(node, resource, T0 + self._now())

    # Everything, when it is worth looking at everything.

    def look(self) -> None:
        """Every job that waits says why. (That an end is never taken back is for the record to show: what is in a row
        and was not said when the store is lost has not happened.)"""
        for name, job in rows(self.fleet).items():
            if job.state is State.QUEUED and job.why is not None and not job.why.text:
                self.breach("reason", name, "it waits, and its reason is empty")
            if job.state is State.QUEUED and job.why is None and job.since < T0 + self._now() - _REASON_MS:
                self.breach("reason", name, f"it waits since {(job.since - T0) / 1000} s, and nothing says why")

    def end(self) -> None:
        waited = not self.breaches  # whether the others had the time to end
        self.look()
        for one in self._checker.findings().violations:
            self.breach(one.rule, one.job, f"{one.text} (message {one.sequence})")
        if not waited:
            return
        for rule, job, text in left_behind(self.fleet, self.submitted):
            self.breach(rule, job, text)


def _without(there: set[str], node: Node) -> Node:
    """Only with those attempts that are there."""
    left = {line: one for line, one in node.attempts.items() if _attempt(line) in there}
    return msgspec.structs.replace(node, attempts=left)


def _attempt(line: str) -> str:
    """Of which attempt a line says pods of a node are, without the namespace in which they say so."""
    return line.partition("@")[0]
