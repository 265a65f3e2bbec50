"""Whose turn: tries waiting jobs against their quota, in order, under the policy of their queue. Pure."""

from collections.abc import Iterable

from fairway.domain.decision import Add, Heard, Step
from fairway.domain.events import Teller
from fairway.domain.job import Job
from fairway.domain.quota.charge import Share, charge, given_back_by, lacking, path_nodes, settled
from fairway.domain.quota.tree import QuotaNode
from fairway.queue.freed_room import FreedRooms, enough, names
from fairway.queue.policy_changes import under
from fairway.queue.view import SERVICE, SWEEP, View
from fairway.queue.waiting_jobs import NOTHING_YET, QUOTA, ROOM, Place, WaitingJob, retry_at, steps_aside
from fairway.wire import jobs as wire
from fairway.wire.fleet import Freed
from fairway.wire.reasons import Code, Reason
from fairway.wire.spec import JobSpec

# One piece of freed room wakes at most so many jobs, the first of as many shapes.
WAKE_BUDGET = 256
# How many jobs of one shape are asked whether their quota lets them have the room.
SHAPE_TRIES = 32
# So many jobs follow a change of their policy in one step of the queue; the next ones in the next.
FOLLOWERS = 256


class QueueOrder:
    """The steps of one decision, with what they have charged so far. The first takes back what the message says is
    over: now that it is heard it is in the record, and others may have it."""

    def __init__(self, view: View, heard: Heard[object], now: int, woken_by: str) -> None:
        self._view = view
        self._heard = heard
        self._now = now
        self.by = woken_by
        self.usage = dict(view.usage)
        self.steps: list[Step] = []
        self.gone: set[str] = set()
        self._held: set[str] = set()
        self._rooms = FreedRooms(view.queued)
        self._went_from: set[str] = set()  # blocking queues
        if (back := self.back) is not None:
            self.steps.append(Step(settled(given_back_by(heard), back)))
            self._count(back.adds(-1))

    @property
    def back(self) -> Share | None:
        """What the message gives back."""
        return self._view.owed.get(given_back_by(self._heard))

    def _count(self, adds: Iterable[Add]) -> None:
        for one in adds:
            self.usage[one.key] = self.usage.get(one.key, 0) + one.amount

    def blocking(self, queue: str) -> bool:
        spec = self._view.queues.get(queue)
        return spec is not None and spec.policy == "Block"

    def attempt(self, entry: WaitingJob, room: str = "") -> bool:
        """Dequeues the job if it may go now; else says why not, if that is news. It goes under its policy as that is
        now, to the freed `room` of a cluster if it needs that."""
        job = entry.job
        if not self._may_try(entry):
            return False
        teller = self._amended(job)
        path = path_nodes(self._view.tree, job.leaf)
        why = lacking(path, self.usage, entry.request, job.why.field if job.why else "")
        if why is not None:
            self._held.add(job.id)
            if job.why is None or (job.why.code, job.why.field) != (why.code, why.field):
                teller.say(wire.Blocked, why=why)
            if teller.job is not job:
                self.steps.append(teller.step())
            return False
        self._dequeue(entry, path, teller, room)
        return True

    def enter(self, entry: WaitingJob) -> None:
        """Tries a job that has come; those before it first, where there is quota for it: if a max was raised a moment
        ago that is theirs, and the word of it may still be on its way."""
        if lacking(path_nodes(self._view.tree, entry.job.leaf), self.usage, entry.request) is None:
            by = self.by
            self.by = "quota"
            self.serve_quota(entry.job.leaf, entry.place)
            self.by = by
        self.retry_or_wait(entry)

    def retry_or_wait(self, entry: WaitingJob) -> None:
        """Whom the order of a blocking queue keeps waiting says so, once."""
        job = entry.job
        if self.retry(entry) or job.id in self._held or entry.lacks != NOTHING_YET:
            return
        if job.why is None or job.why.code is not Code.BEHIND_HEAD:
            self._held.add(job.id)
            text = f"queue {job.queue} lets one job go at a time, in order, and it is not the turn of this one"
            self.steps.append(self._amended(job).say(wire.Blocked, why=Reason(Code.BEHIND_HEAD, text)).step())

    def _under(self, job: Job) -> JobSpec | None:
        return under(self._view.policies, job, self._view.clusters_of(job.tenant))

    def _amended(self, job: Job) -> Teller:
        """Who speaks of this job next: first of what its policy says now, if that is news."""
        teller = self._teller(job)
        spec = self._under(job)
        return teller.say(wire.Amended, spec=spec) if spec is not None else teller

    def follow(self, policy: str) -> bool:
        """The jobs that wait under this policy (all that wait, if it is empty) take over what it says now, and go if
        that lets them. False when there are more of them than one step should have."""
        queued = self._view.queued
        named = queued.entries if not policy else queued.under.get(policy, ())
        changed = [queued.entries[name] for name in named if self._under(queued.entries[name].job)]
        for entry in sorted(changed, key=lambda entry: entry.place)[:FOLLOWERS]:
            if self._may_try(entry):
                self.attempt(entry)
            elif entry.job.id not in self.gone and entry.job.id not in self._held:
                self._held.add(entry.job.id)
                self.steps.append(self._amended(entry.job).step())
        return len(changed) <= FOLLOWERS

    def _may_try(self, entry: WaitingJob) -> bool:
        job = entry.job
        if job.id in self.gone or job.id in self._held or job.removing or job.cancelling:
            return False
        return not self.blocking(job.queue) or self._leads(entry)

    def _leads(self, entry: WaitingJob) -> bool:
        """In a blocking queue only the head goes, and the next one only when the head has its room. A head that no
        cluster can ever hold, or whose last attempt is still being removed, does not count as one."""
        queue = entry.job.queue
        if queue in self._went_from or self._view.queued.flying.get(queue):
            return False
        for other in self._view.queued.line(queue):
            if other.job.id == entry.job.id:
                return True
            if other.job.id not in self.gone and not steps_aside(other):
                return False
        return False

    def end(self, teller: Teller) -> None:
        """The job of this teller leaves its queue for good."""
        self.steps.append(teller.step())
        self.gone.add(teller.id)

    def _dequeue(self, entry: WaitingJob, path: list[QuotaNode], teller: Teller, room: str) -> None:
        job = entry.job
        names = tuple(node.path for node in path)
        teller.say(wire.Dequeued, path=names, charge=entry.request, woken_by=self.by, room=room)
        self._rooms.take(room, entry.least[0])
        self.steps.append(teller.step(*(charged := charge(path, entry.request))))
        self.gone.add(job.id)
        if self.blocking(job.queue):
            self._went_from.add(job.queue)
        self._count(charged)

    def _teller(self, job: Job) -> Teller:
        return Teller(self._view, SERVICE, self._heard, self._now, job)

    def advance(self, queue: str) -> None:
        """Lets the head of a blocking queue go, if it may; a queue of the other kind has nothing standing by."""
        if not self.blocking(queue):
            return
        for entry in self._view.queued.line(queue):
            if steps_aside(entry) or entry.job.id in self.gone:
                continue
            if entry.lacks != ROOM or self.by != SWEEP:
                self.retry(entry)
            return

    def serve_quota(self, leaf: Iterable[str], before: Place | None = None) -> None:
        """Quota was given back along `leaf`: those it blocked (`before` this place) go as far as it reaches, first come
        first served."""
        heads = [
            one for node in leaf for one in self._view.queued.heads(QUOTA, node) if not before or one.place < before
        ]
        self._serve(sorted(heads, key=lambda entry: entry.place), before)

    def _serve(self, heads: list[WaitingJob], before: Place | None = None) -> None:
        for head in heads:
            for entry in self._view.queued.group(head):
                if before and entry.place >= before:
                    break
                # Whom its queue holds back does not stand in the way of those of other queues.
                if self._may_try(entry) and not self.attempt(entry):
                    break
            self.advance(head.job.queue)

    def serve_everyone(self) -> None:
        """Looks at every queue, group by group: after a start, and when settings changed."""
        self._serve(self._view.queued.heads(QUOTA))
        for queue in sorted(self._view.queued.lines):
            if self.blocking(queue):
                self.advance(queue)
                continue
            for entry in self._view.queued.line(queue):
                if entry.lacks == NOTHING_YET:
                    self.attempt(entry)

    def serve_anywhere(self, gone: str = "") -> None:
        """The first of every shape asks: nobody knows what the room is like now, or it was to go to a cluster that is
        `gone`."""
        for head in self._view.queued.heads(ROOM):
            if not gone or names(head, gone):
                self._serve_shape(head)

    def serve_room(self, news: Freed | None = None) -> None:
        """Of every shape that has not been refused since room was last freed, and that could find enough, the first
        that its quota and its queue let go is tried: in the room of `news`, else in all that is known to be left.
        Room that one is woken for is not offered to the next; when the one has found its place, or none, the next
        is served (`wire.Reserved`, `wire.Queue`).
        """
        left = WAKE_BUDGET
        if news is not None:
            self._rooms.of({news.cluster: news})
        for head in self._view.queued.heads(ROOM):
            where = self._room_for(head) if left and not self._vain(head) else None
            if where is not None and self._serve_shape(head, where):
                left -= 1

    def _room_for(self, entry: WaitingJob) -> str | None:
        """The first of these rooms that is enough; empty when some room is not known, None when there is none."""
        rooms = self._rooms.of(self._view.room)
        found = next((name for name in sorted(rooms) if enough(entry, rooms[name], self._now)), None)
        return "" if found is None and not self._view.all_known else found

    def _vain(self, entry: WaitingJob) -> bool:
        """The scheduler had no room for this shape, and none has been freed since."""
        return self._view.queued.asked.get(entry.key[1]) == self._view.freed

    def retry(self, entry: WaitingJob) -> bool:
        """Tries a job; one that lacks room, if it may find some now: it was freed, a cluster is no longer avoided, or
        its policy says something else than it did."""
        again = 0 < retry_at(entry.job) <= self._now or self._under(entry.job)
        if entry.lacks != ROOM or again:
            return self.attempt(entry)
        where = None if self._vain(entry) else self._room_for(entry)
        return where is not None and self.attempt(entry, where)

    def _serve_shape(self, head: WaitingJob, room: str = "") -> bool:
        """Tries one job that waits for the same room as `head`: those behind it if quota or queue hold it."""
        tries = 0
        for entry in self._view.queued.group(head):
            if not self._may_try(entry):
                continue
            if tries == SHAPE_TRIES:
                return False
            tries += 1
            if self.attempt(entry, room):
                return True
        return False
