"""What the watcher remembers: jobs with their deadlines, who is where, who is silent, what was seen last, and said."""

from collections.abc import Iterable, Sequence
from itertools import islice

import msgspec

from fairway.domain import decision
from fairway.domain.attempts.eviction_freeze import EVICTIONS
from fairway.domain.decision import Heard, Step
from fairway.domain.job import Job, State
from fairway.domain.preemption.claim import is_claims
from fairway.runtime.ports import ReadRows, Wanted
from fairway.runtime.service import Remembered
from fairway.runtime.views.jobs import JobsMemory
from fairway.runtime.views.settings import Catalog
from fairway.watcher import object_owner, shown
from fairway.watcher.batch_shrunk import is_down, patience
from fairway.watcher.missing import PRESENT, Down, Emptied, Late, Listed, StatusSaid, down_of
from fairway.watcher.object_owner import Observed, without_pods
from fairway.watcher.silence import SETTLE_MS, FleetSilence
from fairway.wire import fleet
from fairway.workloads.kinds.registry import status

# At most so many rows that nobody speaks of are read with one batch: after a rebuild there may be a hundred thousand.
_PIECE = 1_000
# Of so many jobs it is remembered which status was said last; of one that is forgotten it is said once more.
_MOST_SAID = 100_000


class WatcherMemory(JobsMemory[object]):
    """Jobs, with the start deadlines of those dispatched, and which jobs the ledger has in which cluster. `said` is
    for the statuses of present attempts. Nothing is given up for `settle_ms` after most of the fleet was silent."""

    settings: tuple[str, ...] = ("Cluster", "Member")

    def __init__(self, catalog: Catalog, settle_ms: int = SETTLE_MS) -> None:
        super().__init__()
        self.silence = FleetSilence(catalog.members, settle_ms)
        self.new = True
        self.held: dict[str, set[str]] = {}
        self.overdue: list[str] = []
        self.down: dict[str, Down] = {}
        self.newest: dict[str, int] = {}
        self.said: dict[str, StatusSaid] = {}
        self._deadlines: dict[str, int] = {}
        self._unread: dict[str, None] = {}
        self._version = 0

    def begin(self) -> None:
        """What was seen in the members stays: they do not show it again because a store was lost. Nor is a freeze over
        with it. What was said may have been lost on its way."""
        super().begin()
        self.held.clear()
        self._deadlines.clear()
        self.newest.clear()
        self.said.clear()
        self._unread.clear()
        self.silence.forget()
        self._version = 0

    def wants(self, heard: Sequence[Heard[object]], now: int) -> Wanted:
        wanted = super().wants(heard, now)
        self.new = not self._version
        self.overdue = []
        names = list(islice(self._unread, _PIECE))
        for one in heard:
            if isinstance(one.message, Late):
                late = (name for name, until in self._deadlines.items() if until <= now)
                self.overdue = list(islice(late, _PIECE))
                names += self.overdue
            elif isinstance(one.message, fleet.Stranded):
                names += [strand.job for strand in one.message.attempts]
            elif isinstance(one.message, Listed | Emptied):
                names += sorted(self.held.get(one.message.cluster, ()))
        for name in names:
            wanted.add(decision.JOBS, name)
        wanted.rows[decision.FREEZE] = [EVICTIONS]
        wanted.since = self._version
        wanted.follow = ("ledger/", decision.CLUSTERS)
        return wanted

    def take(self, found: ReadRows, heard: Sequence[Heard[object]], now: int) -> None:
        super().take(found, heard, now)
        self._follow_ledger(found)
        for one in heard:
            if isinstance(one.message, Late) and one.message.members is not None:
                self.silence.members = one.message.members
        frozen = found.rows.get((decision.FREEZE, EVICTIONS))
        self.silence.follow(frozen, self.held, now)
        self._see(heard, now)
        for job in self.jobs.values():
            self._note(job)
        for name in self.overdue:
            # Behind the others, if it stays: what is being removed must not keep the rest unseen.
            if name in self._deadlines:
                self._deadlines[name] = self._deadlines.pop(name)

    def _follow_ledger(self, found: ReadRows) -> None:
        """And which clusters have reported. Room that is kept for a claim is no attempt: that it is dropped says
        nothing of the attempt that has it then."""
        attempts = [one for one in found.changes if one[0].startswith("ledger/") and not is_claims(one[1])]
        # Whoever begins on a working set has not heard when those were dispatched that are in it already.
        if not self._version:
            self._unread = dict.fromkeys(key.partition("/")[0] for _, key, row in attempts if row)
        else:
            for name in list(islice(self._unread, _PIECE)):
                del self._unread[name]
        self._version = found.version
        for table, key, row in attempts:
            cluster = table.partition("/")[2]
            if row is not None:
                self.held.setdefault(cluster, set()).add(key.partition("/")[0])
            else:
                self.held.get(cluster, set()).discard(key.partition("/")[0])
        for table, key, row in found.changes:
            if table == decision.CLUSTERS:
                self.silence.hear(key, row)

    def _see(self, heard: Sequence[Heard[object]], now: int) -> None:
        for one in heard:
            seen = one.message
            if not isinstance(seen, Observed) or (job := self.jobs.get(seen.job)) is None:
                continue
            if not (number := object_owner.attempt_of(job, seen)):
                continue
            seen = msgspec.structs.replace(seen, attempt=number)
            if self._is_newest(job, seen) and seen.whole:
                self._look(job, seen, now)
            elif seen.gone and number == job.attempt:
                self.said.pop(job.id, None)

    def _is_newest(self, job: Job, seen: Observed) -> bool:
        """False of what was put off, and has changed since."""
        if (job.attempt, job.cluster) != (seen.attempt, seen.cluster):
            return True
        self.newest[job.id] = max(seen.place, self.newest.get(job.id, 0))
        return seen.place == self.newest[job.id]

    def _look(self, job: Job, seen: Observed, now: int) -> None:
        if job.uid not in ("", object_owner.uid_of(seen.manifest)):
            return  # of the same attempt, and not the object that it was dispatched as
        if job.state is State.RUNNING and (job.attempt, job.cluster) == (seen.attempt, seen.cluster):
            assert job.spec is not None, "a running job was admitted"
            work = job.spec.workload
            phase = status(seen.manifest, work, seen.manifest.get("status"))
            if is_down(job, phase):
                before = down_of(self, job)
                self.down[job.id] = Down(job.attempt, before.since if before else now, phase.text, work.gang_minimum)
            else:
                self.down.pop(job.id, None)

    def apply(self, step: Step) -> None:
        super().apply(step)
        for name, said in shown.said_in(step):
            self.said.pop(name, None)
            self.said[name] = said
        while len(self.said) > _MOST_SAID:
            del self.said[next(iter(self.said))]
        for write in step.writes:
            if isinstance(write, decision.Put) and write.table == decision.JOBS:
                self._note(write.value)
            elif isinstance(write, decision.Put) and write.table == decision.FREEZE:
                self.silence.keep(write.value, write.rev)

    def refused(self, step: Step) -> None:
        super().refused(step)
        for name, _ in shown.said_in(step):
            self.said.pop(name, None)

    def remembered(self) -> Iterable[Remembered]:
        yield from self.silence.remembered()
        yield Remembered("version", "", self._version)
        yield from (Remembered("held", cluster, sorted(names)) for cluster, names in self.held.items())
        yield from (Remembered("down", name, down) for name, down in self.down.items())
        yield from (Remembered("newest", name, place) for name, place in self.newest.items())
        yield from (Remembered("said", name, said) for name, said in self.said.items())
        yield from (Remembered("deadline", name, until) for name, until in self._deadlines.items())
        yield from (Remembered("unread", name, None) for name in self._unread)

    def recall(self, table: str, key: str, rev: int, data: bytes) -> None:
        match table:
            case "version":
                self._version = msgspec.json.decode(data, type=int)
            case "held":
                self.held[key] = msgspec.json.decode(data, type=set[str])
            case "down":
                self.down[key] = msgspec.json.decode(data, type=Down)
            case "newest":
                self.newest[key] = msgspec.json.decode(data, type=int)
            case "said":
                self.said[key] = msgspec.json.decode(data, type=StatusSaid)
            case "deadline":
                self._deadlines[key] = msgspec.json.decode(data, type=int)
            case "unread":
                self._unread[key] = None
            case _:
                self.silence.recall(table, key, data)

    @staticmethod
    def told(message: object) -> object:
        """Of an object that Fairway has sealed nothing is read of who wrote which field, nor of what its pods run."""
        if isinstance(message, Observed) and message.sealed:
            return msgspec.structs.replace(message, manifest=without_pods(message.manifest))
        return message

    @staticmethod
    def told_row(table: str, data: bytes) -> bytes:
        """Of a reservation only its key is read."""
        return b"" if table.startswith("ledger/") else data

    def _note(self, job: Job) -> None:
        if job.state not in PRESENT:
            self.newest.pop(job.id, None)
        if (said := self.said.get(job.id)) and (said.attempt != job.attempt or not shown.goes_on(job)):
            del self.said[job.id]
        if job.state is State.DISPATCHED and job.spec is not None:
            self.down.pop(job.id, None)
            self._deadlines[job.id] = job.since + job.spec.start_timeout
        elif job.state is State.RUNNING and job.spec is not None and (down := down_of(self, job)):
            self._deadlines[job.id] = down.since + patience(job)
        else:
            self._deadlines.pop(job.id, None)
            self.down.pop(job.id, None)
