"""What must always hold, checked from the record alone: an auditor that shares with those who decide nothing but the
rule of which words came too late (`domain.working_sets`).

It reads the events with its own small idea of a job (job_history.py), lays reservations over nodes (room.py) and
charges over the quota tree (quota.py), looks what became of submissions and of cancellations (submissions.py,
cancellations.py), who asked (callers.py) and who was evicted for whom (evictions/), and says of every breach the job,
the place in the record and a sentence.
"""

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct

from fairway.audit.attempts import Spoken, Violation
from fairway.audit.callers import CallerCheck
from fairway.audit.cancellations import Cancels
from fairway.audit.evictions.claims import EvictionFigures
from fairway.audit.evictions.rules import EvictionRules
from fairway.audit.job_history import JobHistory
from fairway.audit.quota import Charges
from fairway.audit.room import KNOWN_MS, AuditedRooms
from fairway.audit.submissions import AnsweredSubmissions
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import Resources
from fairway.domain.working_sets import WorkingSets
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.fleet import Report
from fairway.wire.preemption.evictions import Evict

# What asks for a change to a job, passes it on, or says that it was not taken over.
_CHANGES_NOTHING = (wire.Revise, wire.Revised, wire.Adjust, wire.Unchanged, wire.HoldJob)


class Grace(Struct, frozen=True):
    """How long (ms) news may be on its way to those who decide: reports, a quota tree, a cancellation."""

    reports: int = KNOWN_MS
    tree: int = KNOWN_MS
    cancel: int = 600_000


USUAL = Grace()


class Findings(Struct, frozen=True):
    """`ends` counts jobs by how they ended, `early` the messages that were stored before an older one of their job;
    `unfinished` are the accepted jobs without an end; `asked` is how often each door did (see callers.py), `evictions`
    what became of claims and of whom they evicted."""

    messages: int
    submitted: int
    accepted: int
    ends: dict[str, int]
    attempts: int
    early: int
    unfinished: tuple[str, ...]
    violations: tuple[Violation, ...]
    asked: dict[str, int] = {}
    evictions: EvictionFigures = EvictionFigures()

    @property
    def ok(self) -> bool:
        return not self.violations


class _Rebuilds:
    """What is said while a working set is made is kept: once one is in use it is known whether it came too late."""

    def __init__(self) -> None:
        self.sets = WorkingSets()
        self._running = False
        self._kept: list[Spoken] = []

    def hear(self, message: wire.Rebuild, sequence: int) -> bool:
        """Whether a new working set is in use from here on."""
        self._running = not message.begun or self._running
        return self.sets.hear(message, sequence)

    def keeps(self, spoken: Spoken) -> bool:
        if self._running and spoken.message.rev:
            self._kept.append(spoken)
            return True
        return False

    def before(self, place: int) -> list[Spoken]:
        """What is kept and was stored before this place; it is kept no longer."""
        taken = [one for one in self._kept if one.sequence < place]
        self._kept = self._kept[len(taken) :]
        return taken

    def over(self) -> list[Spoken]:
        self._running = False
        kept = self._kept
        self._kept = []
        return kept


class _Breaches(list[Violation]):
    told = 0

    def news(self) -> list[Violation]:
        new = self[self.told :]
        self.told = len(self)
        return new


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
        self.charges = Charges(tree, grace.tree)
        self.evictions = EvictionRules(tree, grace.tree)
        self._cancels = Cancels(grace.cancel)
        self._lives: dict[str, JobHistory] = {}
        self._submissions = AnsweredSubmissions()
        self._asked = CallerCheck()
        self._violations = _Breaches()
        self._messages = 0
        self._rebuilds = _Rebuilds()

    def hear(self, spoken: Spoken) -> None:
        message = spoken.message
        self._messages += 1
        if isinstance(message, wire.Rebuild):
            self._rebuilt(message, spoken.sequence)
        elif not self._rebuilds.keeps(spoken):
            self._read(spoken)

    def _rebuilt(self, message: wire.Rebuild, sequence: int) -> None:
        if not self._rebuilds.hear(message, sequence):
            return
        # Kept since another rebuild began, of which nothing came: this one was made of it, and misses it in no job.
        for spoken in self._rebuilds.before(message.begun):
            self._read(spoken)
        for life in self._lives.values():
            for ready in life.order.settle(life.attempts.unheard):
                self._follow(life, ready)
        self._release()

    def _release(self) -> None:
        for spoken in self._rebuilds.over():
            self._read(spoken)

    def _read(self, spoken: Spoken) -> None:
        message = spoken.message
        if self._rebuilds.sets.late(message, spoken.sequence):
            return
        if spoken.subject != subjects.job(message.verb, message.tenant):
            self._breach(spoken, "tenant", f"a message of tenant {message.tenant} was said on {spoken.subject}")
            return  # nobody acts on it
        self._violations += self._asked.hear(spoken)
        if isinstance(message, wire.Submitted):
            self._submissions.hear(message, spoken)
        elif isinstance(message, wire.ManifestsRemoved):
            self._submissions.removed(message)
        elif isinstance(message, wire.Cancel):
            self._cancels.asked(message)
        elif not isinstance(message, _CHANGES_NOTHING):
            self._event(spoken)

    def news(self) -> list[Violation]:
        """What was found since it was last asked; what only the whole record shows is in `findings`."""
        return self._violations.news()

    def see(self, report: Report, source: str = "") -> None:
        """What the agent of a cluster reported, or another `source` knows: where pods really are. Optional; see
        room.py."""
        if self._rooms is not None:
            self._rooms.see(report, source)

    def tree_changed(self, tree: QuotaNode, at: int) -> None:
        """Another quota tree is in force."""
        self.charges.changed(tree, at)
        self.evictions.trees.changed(tree, at)

    def decided(self, message: Evict) -> None:
        """Whom the scheduler chose to evict. Optional: without these nobody looks whether an eviction was chosen."""
        self.evictions.decided(message)

    def _event(self, spoken: Spoken) -> None:
        message = spoken.message
        life = self._lives.get(message.job)
        if life is None:
            life = self._lives[message.job] = JobHistory(message.job, message.tenant)
            self._violations += self._submissions.born(spoken)
        elif life.tenant != message.tenant:
            self._breach(spoken, "tenant", f"its tenant is {life.tenant}, but this was said for {message.tenant}")
            return
        for ready in life.order.ready(spoken):
            self._follow(life, ready)

    def _follow(self, life: JobHistory, ready: Spoken) -> None:
        self._violations += life.read(ready)
        self._violations += self._cancels.follow(ready)
        if self._rooms is not None:
            self._rooms.follow(life, ready)
        self.charges.follow(life, ready)
        self.evictions.follow(life, ready)

    def _breach(self, spoken: Spoken, rule: str, text: str) -> None:
        self._violations.append(Violation(spoken.message.job, spoken.sequence, rule, text))

    def findings(self) -> Findings:
        """What was found so far, with what only the end of the record shows: gaps, lost messages, silent jobs."""
        self._release()
        lives = self._lives.values()
        left = [breach for life in lives for breach in life.left()]
        ends_of = {life.job: life.end for life in lives}
        evicted = [*self.evictions.breaches(ends_of)]
        room = self._rooms.breaches(self.evictions.kept) if self._rooms is not None else ()
        late = [*self._submissions.lost(), *left, *room, *self.charges.breaches(), *evicted]
        return Findings(
            messages=self._messages,
            submitted=len(self._submissions),
            accepted=sum(life.accepted for life in lives),
            ends=dict(Counter(life.end for life in lives if life.end)),
            attempts=sum(life.attempts.reserved for life in lives),
            early=sum(life.order.early for life in lives),
            unfinished=tuple(sorted(life.job for life in lives if life.accepted and not life.end)),
            violations=(*self._violations, *late),
            asked=dict(sorted(self._asked.doors.items())),
            evictions=self.evictions.figures(),
        )
