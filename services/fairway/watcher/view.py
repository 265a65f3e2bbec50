"""What the watcher knows when it decides: jobs, their deadlines, who is where. What it sees it shows to the mirror."""

from collections.abc import Sequence
from itertools import islice

from fairway.domain import decision
from fairway.domain.decision import Heard, Step
from fairway.domain.job import Job, State
from fairway.runtime.ports import Found, Store, Wanted
from fairway.runtime.views import JobsView
from fairway.watcher.decide import Observed
from fairway.watcher.missing import Emptied, Late, Listed
from fairway.watcher.reflect import Mirror
from fairway.wire import fleet
from fairway.workloads.kind import PENDING
from fairway.workloads.registry import KINDS, status

# At most so many rows that nobody speaks of are read with one batch: after a rebuild there may be a hundred thousand.
_PIECE = 1_000
_PRESENT = (State.RESERVED, State.DISPATCHED, State.RUNNING)


class WatcherView(JobsView):
    """Jobs, with the start deadlines of those dispatched, and which jobs the ledger has in which cluster. What is seen
    of a job is shown to the mirror with the job's row: only the present attempt speaks for it."""

    def __init__(self, mirror: Mirror | None = None) -> None:
        super().__init__()
        self._mirror = mirror
        self.held: dict[str, set[str]] = {}
        self.overdue: list[str] = []
        self.down: dict[str, tuple[int, str]] = {}
        self.newest: dict[str, int] = {}
        self._deadlines: dict[str, int] = {}
        self._unread: dict[str, None] = {}
        self._version = 0

    async def load(self, store: Store) -> None:
        await super().load(store)
        self.held.clear()
        self._deadlines.clear()
        self.down.clear()
        self.newest.clear()
        self._unread.clear()
        self._version = 0

    def wants(self, heard: Sequence[Heard], now: int) -> Wanted:
        wanted = super().wants(heard, now)
        self.overdue = []
        for name in islice(self._unread, _PIECE):
            wanted.add(decision.JOBS, name)
        for one in heard:
            if isinstance(one.message, Late):
                late = (name for name, until in self._deadlines.items() if until <= now)
                self.overdue = list(islice(late, _PIECE))
                for name in self.overdue:
                    wanted.add(decision.JOBS, name)
            elif isinstance(one.message, fleet.Stranded):
                for strand in one.message.attempts:
                    wanted.add(decision.JOBS, strand.job)
            elif isinstance(one.message, Listed | Emptied):
                for name in sorted(self.held.get(one.message.cluster, ())):
                    wanted.add(decision.JOBS, name)
        wanted.since, wanted.follow = self._version, ("ledger/",)
        return wanted

    def refresh(self, found: Found, heard: Sequence[Heard], now: int) -> None:
        super().refresh(found, heard, now)
        # Whoever begins on a working set has not heard when those were dispatched that are in it already.
        if not self._version:
            held = (key.partition("/")[0] for table, key, row in found.changes if _held(table) and row)
            self._unread = dict.fromkeys(held)
        else:
            for name in list(islice(self._unread, _PIECE)):
                del self._unread[name]
        self._version = found.version
        for table, key, row in found.changes:
            kind, _, cluster = table.partition("/")
            if kind == "ledger" and row is not None:
                self.held.setdefault(cluster, set()).add(key.partition("/")[0])
            elif kind == "ledger":
                self.held.get(cluster, set()).discard(key.partition("/")[0])
        for one in heard:
            seen = one.message
            job = self.jobs.get(seen.job) if isinstance(seen, Observed) else None
            if job is None or job.spec is None or seen.kind != job.spec.workload.key:
                continue
            if self._is_newest(job, seen) and not seen.gone:
                self._look(job, seen, now)
        for job in self.jobs.values():
            self._note(job)
        for name in self.overdue:
            # Behind the others, if it stays: what is being removed must not keep the rest unseen.
            if name in self._deadlines:
                self._deadlines[name] = self._deadlines.pop(name)

    def _is_newest(self, job: Job, seen: Observed) -> bool:
        """False of what was put off, and has changed since."""
        if (job.attempt, job.cluster) != (seen.attempt, seen.cluster):
            return True
        self.newest[job.id] = max(seen.place, self.newest.get(job.id, 0))
        return seen.place == self.newest[job.id]

    def _look(self, job: Job, seen: Observed, now: int) -> None:
        if self._mirror is not None:
            self._mirror.saw(job, seen.attempt, seen.cluster, seen.manifest)
        if job.state is State.RUNNING and (job.attempt, job.cluster) == (seen.attempt, seen.cluster):
            assert job.spec is not None, "a running job was admitted"
            work = job.spec.workload
            kind = KINDS[work.key]
            phase = status(seen.manifest, work, seen.manifest.get("status"))
            if kind.steady and phase.state == PENDING:
                self.down[job.id] = (self.down.get(job.id, (now, ""))[0], phase.text)
            else:
                self.down.pop(job.id, None)

    def apply(self, step: Step) -> None:
        super().apply(step)
        for write in step.writes:
            if isinstance(write, decision.Put) and write.table == decision.JOBS:
                self._note(write.value)

    def _note(self, job: Job) -> None:
        if job.state not in _PRESENT:
            self.newest.pop(job.id, None)
        if job.state is State.DISPATCHED and job.spec is not None:
            self._deadlines[job.id] = job.since + job.spec.start_timeout
        elif job.state is State.RUNNING and job.spec is not None and job.id in self.down:
            self._deadlines[job.id] = self.down[job.id][0] + job.spec.start_timeout
        else:
            self._deadlines.pop(job.id, None)
            self.down.pop(job.id, None)


def _held(table: str) -> bool:
    return table.startswith("ledger/")
