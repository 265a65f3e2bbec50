"""The hub's objects show what becomes of their jobs: newest word per object, in order, many objects at once.

Two speak: the members' objects while an attempt lives (`saw`), and the record when one is over (calling the mirror).
What is written is legal for the hub's API server as it follows on what is there; the kind's `Ends` know how.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import structlog
from msgspec import Struct

from fairway.domain.decision import Call, Outcome
from fairway.domain.job import Job, State
from fairway.explain.wording import rfc3339
from fairway.runtime.cluster_port import Cluster, ClusterRefused
from fairway.runtime.ports import Clock, Unreachable
from fairway.runtime.vital_tasks import vital
from fairway.watcher.hub_status import final
from fairway.watcher.hub_status.writer import Ended, Writer, digest, end_of, grows
from fairway.workloads.hub_status import StatusWord
from fairway.workloads.kinds.phase import FAILED, SUCCEEDED
from fairway.workloads.kinds.registry import KINDS, status

log = structlog.get_logger()
Json = dict[str, Any]
Next = Callable[[Json], Json]
# Writes to the hub in flight.
AT_ONCE = 16
# Pods of a gang come up one after another, and each is a change: those of one moment are one write.
_SETTLE_S = 0.05
_AGAIN_S = 1.0
_OVER = (SUCCEEDED, FAILED)
_LIVES = (State.RESERVED, State.DISPATCHED, State.RUNNING)
# Of so many objects that have ended it is remembered that they have.
_ENDED = 50_000


class _Line(Struct):
    """One object of the hub: what it shows (None: not known yet), what it is to show next, and whether that is the
    end. Attempts before `attempt` are over; `held` is a failure of that attempt that may not be the job's. `job` is the
    one that the object stands for: another one, when what was refused was edited."""

    place: final.HubPlace
    job: str
    shown: Json | None = None
    next: Next | None = None
    ends: bool = False
    attempt: int = 0
    held: Json | None = None
    queued: bool = False
    waiting: list[asyncio.Future[None]] = []


class HubStatusMirror:
    """`members` are looked at when the record calls a failure final whose words nobody has seen here."""

    def __init__(self, hub: Cluster, members: Mapping[str, Cluster], clock: Clock) -> None:
        self._writer = Writer(hub)
        self._members = members
        self._clock = clock
        self._lines: dict[str, _Line] = {}
        self._ended: OrderedDict[str, tuple[str, Ended]] = OrderedDict()
        self._due: list[str] = []
        self._news = asyncio.Event()
        self._line: asyncio.Queue[str] = asyncio.Queue()
        self._group = asyncio.TaskGroup()

    def saw(self, job: Job, attempt: int, cluster: str, manifest: Json) -> None:
        """What the object of an attempt shows; passed over unless it is the job's present attempt."""
        spec = job.spec
        seen = manifest.get("status")
        if spec is None or spec.hub is None or not seen or not _speaks(job):
            return
        work = spec.workload
        uid = spec.hub.uid
        state = status(manifest, work, seen).state
        end = self._end(uid, job.id)
        old = end is not None and not _goes_on(work.key, end, seen, state)
        if old or (job.attempt, job.cluster) != (attempt, cluster):
            return
        line = self._of(final.HubPlace(work.key, work.namespace, work.name, uid), job.id)
        if attempt < line.attempt or (line.ends and state not in _OVER):
            return
        line.attempt = attempt
        if state == FAILED and not job.ended:
            line.held = seen
            return
        self._put(line, _showing(line.place.kind, seen), state in _OVER)

    def _end(self, uid: str, job: str) -> Ended | None:
        """The end that the object shows of this job; what it showed of a job before it does not count."""
        known, end = self._ended.get(uid, ("", None))
        return end if known == job else None

    async def __call__(self, call: Call) -> Outcome:
        """Returns when the hub's object shows what the record says, or is no longer there."""
        word: final.FinalWord = call.body
        if self._end(word.place.uid, call.job) is not None:
            return Outcome(call, True)
        line = self._of(word.place, call.job)
        try:
            step = await self._step(line, call, word)
        except Unreachable as error:
            return Outcome(call, False, "", str(error))
        if call.attempt >= line.attempt and not line.ends:
            line.attempt = call.attempt + (0 if word.final and word.failed else 1)
            line.held = None
            self._put(line, step, word.final)
        if line.queued:
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            line.waiting = [*line.waiting, done]
            await done
        return Outcome(call, True)

    async def _step(self, line: _Line, call: Call, word: final.FinalWord) -> Next:
        ends = KINDS[word.place.kind].ends
        said = StatusWord(word.why.code.value, word.why.text, rfc3339(word.at))
        if not word.final:
            return lambda shown: ends.waits(shown, said)
        seen = (line.held or await self._seen(call, word)) if word.failed else None
        return _showing(word.place.kind, seen) if seen else lambda shown: ends.fails(shown, said)

    async def _seen(self, call: Call, word: final.FinalWord) -> Json | None:
        """The member's own words for a failure, if its object is still there."""
        member = self._members.get(call.cluster)
        try:
            found = await member.get(word.place.kind, word.place.namespace, word.place.name) if member else None
        except ClusterRefused:
            return None
        if found is None or word.there not in ("", found["metadata"].get("uid")):
            return None  # another object of that name speaks for nobody
        seen: Json = found.get("status") or {}
        return seen if seen and end_of(word.place.kind, seen).state == FAILED else None

    def _of(self, place: final.HubPlace, job: str) -> _Line:
        line = self._lines.setdefault(place.uid, _Line(place, job))
        if line.job != job:
            line.job = job
            line.shown = None
            line.ends = False
            line.attempt = 0
            line.held = None
        return line

    def _put(self, line: _Line, step: Next, ends: bool) -> None:
        line.next = step
        line.ends = ends
        if not line.queued:
            line.queued = True
            self._due.append(line.place.uid)
            self._news.set()

    async def run(self) -> None:
        with closing(self._writer):
            async with asyncio.TaskGroup() as self._group:
                for _ in range(AT_ONCE):
                    self._group.create_task(vital("mirror: work", self._work()))
                while True:
                    await self._news.wait()
                    await self._clock.sleep(_SETTLE_S)
                    self._news.clear()
                    due = self._due
                    self._due = []
                    for uid in due:
                        self._line.put_nowait(uid)

    async def _work(self) -> None:
        while True:
            line = self._lines[await self._line.get()]
            step = line.next
            waiting = line.waiting
            line.next = None
            line.waiting = []
            assert step is not None, "an object is in the line because there is something to write"
            try:
                line.shown = await self._writer.write(line.place, line.shown, step)
            except Unreachable as error:
                log.info("waiting", service=final.SERVICE, cause=str(error))
                line.next = line.next or step
                line.waiting = [*waiting, *line.waiting]
                self._group.create_task(self._again(line))
                continue
            line.waiting = [*waiting, *line.waiting]
            self._written(line)

    async def _again(self, line: _Line) -> None:
        """Later, and meanwhile others are written."""
        await self._clock.sleep(_AGAIN_S)
        self._written(line)

    def _written(self, line: _Line) -> None:
        line.queued = False
        if line.next is not None:
            self._put(line, line.next, line.ends)
            return
        for one in line.waiting:
            if not one.done():
                one.set_result(None)
        line.waiting = []
        if line.ends or line.shown is None:  # over, or the object is no longer there
            del self._lines[line.place.uid]
            self._ended[line.place.uid] = (line.job, end_of(line.place.kind, line.shown or {}))
            while len(self._ended) > _ENDED:
                self._ended.popitem(last=False)


def _goes_on(kind: str, end: Ended, seen: Json, state: str) -> bool:
    """An end stays that end; an operator may still count the last pods after it."""
    return grows(kind) and state == end.state and digest(seen) != end.digest


def _showing(kind: str, seen: Json) -> Next:
    return lambda shown: KINDS[kind].ends.shows(shown, seen)


def _speaks(job: Job) -> bool:
    """Whether the member's object of the present attempt speaks for the job: it lives there and is not being taken
    out, or it ended there by itself."""
    return (job.state in _LIVES and not job.removing) or job.state in (State.SUCCEEDED, State.FAILED)
