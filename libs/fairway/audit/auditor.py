"""What must always hold, checked from the record alone: an auditor that shares with those who decide nothing but the
rule of which words came too late (`domain.working_sets`).

It reads the events with its own small idea of a job (check_job.py), lays reservations over nodes (check_room.py) and
charges over the quota tree (check_quota.py), looks what became of cancellations (check_cancel.py) and who asked
(check_who.py), and says of every breach the job, the place in the record and a sentence.
"""

from collections.abc import Mapping
from hashlib import sha256

from msgspec import Struct

from fairway.audit.attempts import Spoken, Violation
from fairway.audit.callers import CallerCheck
from fairway.audit.cancellations import Cancels
from fairway.audit.job_history import JobHistory
from fairway.audit.quota import Charges
from fairway.audit.room import KNOWN_MS, AuditedRooms
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import Resources
from fairway.domain.working_sets import WorkingSets
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.fleet import Report


class Grace(Struct, frozen=True):
    """How long (ms) news may be on its way to those who decide: reports, a quota tree, a cancellation."""

    reports: int = KNOWN_MS
    tree: int = KNOWN_MS
    cancel: int = 600_000


USUAL = Grace()


class Findings(Struct, frozen=True):
    """`ends` counts jobs by how they ended, `early` the messages that were stored before an older one of their job;
    `unfinished` are the accepted jobs without an end; `asked` is how often each door did (see check_who)."""

    messages: int
    submitted: int
    accepted: int
    ends: dict[str, int]
    attempts: int
    early: int
    unfinished: tuple[str, ...]
    violations: tuple[Violation, ...]
    asked: dict[str, int] = {}

    @property
    def ok(self) -> bool:
        return not self.violations


class Checker:
    """Takes the record message by message, in the order of the stream; `findings` may be asked at any time.

    `nodes` is what each node of each cluster can take (base units, `pods` too where it is limited), or None when nobody
    knows what they could take then: room is not checked; `tree` the quota tree that was in force at first, or None.
    What is decided may rest on what was known as long ago as `grace` says.
    """

    def __init__(
        self,
        nodes: Mapping[str, Mapping[str, Resources]] | None,
        tree: QuotaNode | None = None,
        grace: Grace = USUAL,
    ) -> None:
        self._rooms = None if nodes is None else AuditedRooms(nodes, grace.reports)
        self._charges, self._cancels = Charges(tree, grace.tree), Cancels(grace.cancel)
        self._lives: dict[str, JobHistory] = {}
        self._submitted: dict[str, tuple[int, str]] = {}
        self._answered: dict[str, str] = {}
        self._asked = CallerCheck()
        self._violations: list[Violation] = []
        self._messages = self._told = 0
        self._sets, self._rebuilding = WorkingSets(), False
        self._held: list[Spoken] = []

    def hear(self, spoken: Spoken) -> None:
        message = spoken.message
        self._messages += 1
        if isinstance(message, wire.Rebuild):
            self._rebuilt(message, spoken.sequence)
        elif self._rebuilding and message.rev:
            self._held.append(spoken)
        else:
            self._read(spoken)

    def _rebuilt(self, message: wire.Rebuild, sequence: int) -> None:
        """What is said while a working set is made is only known to be too late when one is in use."""
        self._rebuilding = not message.begun or self._rebuilding
        if not self._sets.hear(message, sequence):
            return
        for life in self._lives.values():
            for ready in life.settle():
                self._follow(life, ready)
        self._release()

    def _release(self) -> None:
        self._rebuilding, held, self._held = False, self._held, []
        for spoken in held:
            self._read(spoken)

    def _read(self, spoken: Spoken) -> None:
        message = spoken.message
        if self._sets.late(message, spoken.sequence):
            return
        if spoken.subject != subjects.job(message.verb, message.tenant):
            self._breach(spoken, "tenant", f"a message of tenant {message.tenant} was said on {spoken.subject}")
            return  # nobody acts on it
        self._violations += self._asked.hear(spoken)
        if isinstance(message, wire.Submitted):
            self._submitted[spoken.id] = (spoken.sequence, _same(message, spoken.id))
        elif isinstance(message, wire.Cancel):
            self._cancels.asked(message)
        else:
            self._event(spoken)

    def news(self) -> list[Violation]:
        """What was found since it was last asked; what only the whole record shows is in `findings`."""
        new, self._told = self._violations[self._told :], len(self._violations)
        return new

    def see(self, report: Report) -> None:
        """What the agent of a cluster reported: where pods really are. Optional; see check_room."""
        if self._rooms is not None:
            self._rooms.see(report)

    def quota(self, tree: QuotaNode, at: int) -> None:
        """Another quota tree is in force from here on (ms since 1970)."""
        self._charges.changed(tree, at)

    def most(self, node: str, resource: str, at: int) -> int | None:
        """What a node of the quota tree may be charged at that time (None: as much as anybody likes)."""
        return self._charges.most(node, resource, at)

    def _event(self, spoken: Spoken) -> None:
        message = spoken.message
        life = self._lives.get(message.job)
        if life is None:
            life = self._lives[message.job] = JobHistory(message.job, message.tenant)
            self._born(spoken)
        elif life.tenant != message.tenant:
            self._breach(spoken, "tenant", f"its tenant is {life.tenant}, but this was said for {message.tenant}")
            return
        for ready in life.in_order(spoken):
            self._follow(life, ready)

    def _follow(self, life: JobHistory, ready: Spoken) -> None:
        self._violations += life.read(ready)
        self._violations += self._cancels.follow(ready)
        if self._rooms is not None:
            self._rooms.follow(life, ready)
        self._charges.follow(life, ready)

    def _born(self, spoken: Spoken) -> None:
        """The first word on a job answers one submitted message, and no message is answered twice."""
        message = spoken.message
        if not isinstance(message, wire.Admitted | wire.Rejected):
            return  # out of order, or without a beginning: the missing rev is said in the end
        if message.cause not in self._submitted:
            self._breach(spoken, "origin", f"{message.verb} without a submitted message; its cause is {message.cause}")
        elif message.cause in self._answered:
            other = self._answered[message.cause]
            self._breach(spoken, "origin", f"the submitted message that caused it was answered before, by job {other}")
        self._answered[message.cause] = message.job

    def _breach(self, spoken: Spoken, rule: str, text: str) -> None:
        self._violations.append(Violation(spoken.message.job, spoken.sequence, rule, text))

    def findings(self) -> Findings:
        """What was found so far, with what only the end of the record shows: gaps, lost messages, silent jobs."""
        self._release()
        lives = self._lives.values()
        ends: dict[str, int] = {}
        for life in lives:
            if life.end:
                ends[life.end] = ends.get(life.end, 0) + 1
        left = [breach for life in lives for breach in life.left()]
        room = self._rooms.breaches() if self._rooms is not None else ()
        late = [*self._lost(), *left, *room, *self._charges.breaches()]
        return Findings(
            messages=self._messages,
            submitted=len(self._submitted),
            accepted=sum(life.accepted for life in lives),
            ends=ends,
            attempts=sum(life.attempts.reserved for life in lives),
            early=sum(life.order.early for life in lives),
            unfinished=tuple(sorted(life.job for life in lives if life.accepted and not life.end)),
            violations=(*self._violations, *late),
            asked=dict(sorted(self._asked.doors.items())),
        )

    def _lost(self) -> list[Violation]:
        """Submitted messages that nobody answered. One that repeats another needs no answer of its own."""
        answered = {self._submitted[name][1] for name in self._answered if name in self._submitted}
        return [
            Violation("", sequence, "lost", f"submitted message {name} was neither admitted nor rejected")
            for name, (sequence, same) in self._submitted.items()
            if name not in self._answered and same not in answered
        ]


def _same(message: wire.Submitted, name: str) -> str:
    """Equal for messages that stand for one job: same tenant and client id, same words."""
    client = f"client {message.client}" if message.client else f"message {name}"
    words = sha256(bytes(message.manifest) + b"".join(map(bytes, message.policies))).hexdigest()
    return f"{message.tenant}\x1f{client}\x1f{words}"
