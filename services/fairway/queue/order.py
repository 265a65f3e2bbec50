"""Whose turn: tries waiting jobs against the policy of their queue and their quota. Pure."""

from collections.abc import Iterable

from fairway.domain.decision import Add, Heard, Step
from fairway.domain.events import Teller
from fairway.domain.job import Job
from fairway.domain.quota.charge import Share, charge, given_back_by, lacking, path_nodes, settled
from fairway.domain.quota.tree import QuotaNode
from fairway.queue.freed_room import FreedRooms
from fairway.queue.policy_changes import under
from fairway.queue.view import SERVICE, View
from fairway.queue.waiting_jobs import NOTHING_YET, WaitingJob, steps_aside
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.wire.spec import JobSpec

# A job went (True); it had its turn, and its quota does not take it (False); it is not its turn, or was tried before.
Tried = bool | None


class QueueOrder:
    """The steps of one decision, with what they have charged so far. The first takes back what the message says is
    over: now that it is heard it is in the record, and others may have it. `more` jobs have to follow a policy than one
    step should have."""

    def __init__(self, view: View, heard: Heard[object], now: int) -> None:
        self.view = view
        self.now = now
        self.steps: list[Step] = []
        self.gone: set[str] = set()
        self.more = False
        self.rooms = FreedRooms(view, now)
        self._heard = heard
        self._usage = view.usage
        self._stayed: set[str] = set()
        self._went_from: set[str] = set()
        if (back := self.back) is not None:
            self.steps.append(Step(settled(given_back_by(heard), back)))
            self._count(back.adds(-1))

    @property
    def back(self) -> Share | None:
        """What the message gives back."""
        return self.view.owed.get(given_back_by(self._heard))

    def attempt(self, entry: WaitingJob, by: str, room: str, told: bool) -> Tried:
        """Each once in a decision. It goes under its policy as that is now; else it says why not, if that is news."""
        job = entry.job
        if job.id in self.gone or job.id in self._stayed:
            return None
        if job.removing or job.cancelling or not self._leads(entry):
            if told:
                self._stay(entry, self._behind(entry))
            return None
        path = path_nodes(self.view.tree, job.leaf)
        why = lacking(path, self._usage, entry.request, job.why.field if job.why else "")
        if why is not None:
            self._stay(entry, why)
            return False
        self._go(entry, path, by, room)
        return True

    def _leads(self, entry: WaitingJob) -> bool:
        """In a blocking queue only the head goes, and the next one only when the head has its room."""
        queue = entry.job.queue
        if not self.blocking(queue):
            return True
        if queue in self._went_from or self.view.queued.flying.get(queue):
            return False
        head = self.head(queue)
        return head is None or entry.place <= head.place

    def blocking(self, queue: str) -> bool:
        spec = self.view.queues.get(queue)
        return spec is not None and spec.policy == "Block"

    def head(self, queue: str) -> WaitingJob | None:
        """The first that has not gone and does not step aside."""
        for entry in self.view.queued.line(queue):
            if entry.job.id not in self.gone and not steps_aside(entry):
                return entry
        return None

    def _behind(self, entry: WaitingJob) -> Reason | None:
        """Why one that was passed over waits; None: that is no news to it."""
        job = entry.job
        if job.removing or job.cancelling or entry.lacks != NOTHING_YET:
            return None
        text = f"queue {job.queue} lets one job go at a time, in order, and it is not the turn of this one"
        return Reason(Code.BEHIND_HEAD, text)

    def _stay(self, entry: WaitingJob, why: Reason | None) -> None:
        """Says what is news of why it waits, and under which terms."""
        job = entry.job
        self._stayed.add(job.id)
        terms = self.terms(entry)
        news = why is not None and (job.why is None or (job.why.code, job.why.field) != (why.code, why.field))
        if terms is not None or news:
            teller = self._teller(job, terms)
            self.steps.append((teller.say(wire.Blocked, why=why) if news else teller).step())

    def _go(self, entry: WaitingJob, path: list[QuotaNode], by: str, room: str) -> None:
        names = tuple(node.path for node in path)
        teller = self._teller(entry.job, self.terms(entry))
        teller.say(wire.Dequeued, path=names, charge=entry.request, woken_by=by, room=room)
        charged = charge(path, entry.request)
        self.steps.append(teller.step(*charged))
        self._count(charged)
        self.rooms.take(room, entry.least[0])
        self.gone.add(entry.job.id)
        self._went_from.add(entry.job.queue)

    def end(self, job: Job) -> None:
        """It was cancelled, and leaves its queue for good."""
        self.steps.append(self._teller(job, None).say(wire.Cancelled).step())
        self.gone.add(job.id)

    def terms(self, entry: WaitingJob) -> JobSpec | None:
        """What its policy says now, if that is news."""
        return under(self.view.policies, entry.job, self.view.clusters_of(entry.job.tenant))

    def _teller(self, job: Job, terms: JobSpec | None) -> Teller:
        """Who speaks of this job next: first of its terms, if they are news."""
        teller = Teller(self.view, SERVICE, self._heard, self.now, job)
        return teller.say(wire.Amended, spec=terms) if terms is not None else teller

    def _count(self, adds: Iterable[Add]) -> None:
        usage = dict(self._usage)
        for one in adds:
            usage[one.key] = usage.get(one.key, 0) + one.amount
        self._usage = usage

    def has_quota(self, entry: WaitingJob) -> bool:
        return lacking(path_nodes(self.view.tree, entry.job.leaf), self._usage, entry.request) is None
