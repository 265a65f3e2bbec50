"""Whose turn: tries waiting jobs against the policy of their queue and their quota. Pure."""

from fairway.domain.decision import Heard, Step
from fairway.domain.events import Teller
from fairway.domain.job import Job
from fairway.domain.preemption.open_claim import withdraw
from fairway.domain.quota.charge import Share, charge, given_back_by, settled
from fairway.queue.policy_changes import under
from fairway.queue.standing import Standings, all_of
from fairway.queue.view import SERVICE, View
from fairway.queue.waiting.waiting_job import BATCH_ROOM, NOTHING_YET, WaitingJob, entry_of, for_room
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.wire.spec import JobSpec

# A job went (True); it had its turn, and its quota does not take it (False); it is not its turn, or was tried before.
Tried = bool | None


class QueueOrder(Standings):
    """The steps of one decision, and how the jobs stand after them. The first takes back what the message says is over:
    now that it is heard it is in the record, and others may have it. `more` jobs have to follow a policy than one step
    should have."""

    def __init__(self, view: View, heard: Heard[object], now: int) -> None:
        super().__init__(view, now)
        self.steps: list[Step] = []
        self.more = False
        self.heard = heard
        self._stayed: set[str] = set()
        self._open: dict[str, Teller] = {}
        if (back := self.back) is not None:
            self.steps.append(Step(settled(given_back_by(heard), back)))
            self.count(back.adds(-1))

    @property
    def back(self) -> Share | None:
        """What the message gives back."""
        owed = self.view.owed
        return owed.get(given_back_by(self.heard)) if owed else None

    def attempt(self, entry: WaitingJob, by: str, room: str | None, told: bool) -> Tried:
        """Each once in a decision. It goes under its policy as that is now, if it may, to the freed `room` of a cluster
        (None: there is none) if it needs that. Who is tried and does not go says why, if that is news; who is passed
        over, if he is to be `told`."""
        job = entry.job
        if job.id in self.gone or job.id in self._stayed:
            return None
        nominated = claim.cluster if (claim := job.open_claim) is not None else ""
        if nominated and room is not None:
            # Others may have come to its nodes, and room elsewhere be free before.
            room = nominated if self.has_its_room(job) else self.rooms.where(for_room(entry)) or None
        if room is None or self.barred(entry):
            if told:
                self._stay(entry, () if job.cancelling else self.gates(entry))
            return None
        full = self.full(entry)
        if not nominated and (batch := entry.batch) is not None and self.full(batch) is None:
            there = self._batch_room(batch, entry, full)
            if there is not None:
                self._go(batch, by, there)
                return True
        if full is None:
            self._go(entry, by, room)
        elif entry.lacks != BATCH_ROOM:  # what it lacks beside was said
            known = job.why is not None and not job.gates and job.why.field == full
            quota = None if known else self.quota(entry)
            self._stay(entry, (quota,) if quota else ())
        return full is None

    def has_its_room(self, job: Job) -> bool:
        """Whether what is kept for its claim is free."""
        return job.open_claim is not None and job.id in self.active.ready

    def _batch_room(self, batch: WaitingJob, entry: WaitingJob, full: str | None) -> str | None:
        """To which freed room one that prefers batch resources is let go on those (empty: to any; None: it is not). It
        is tried on them first, unless the scheduler has just had none for it, or for one of its shape; else where its
        quota does not take it on normal ones and room was freed since."""
        why = entry.job.why
        just_had_none = why is not None and why.code is Code.NO_BATCH_ROOM
        if entry.lacks == NOTHING_YET and not just_had_none and not self.rooms.found_none(batch):
            return ""
        return self.rooms.where(batch) if full is not None else None

    def _stay(self, entry: WaitingJob, gates: tuple[Reason, ...]) -> None:
        """Says what is news of why it waits, and under which terms."""
        job = entry.job
        self._stayed.add(job.id)
        terms = self.terms(entry)
        news = bool(gates) and _differ(gates, job.waits_for)
        if terms is not None or news or job.id in self._open:
            teller = self._teller(job, terms)
            if news:
                teller.say(wire.Blocked, why=all_of(gates), gates=gates if len(gates) > 1 else ())
            self.steps.append(teller.step())

    def _go(self, entry: WaitingJob, by: str, room: str) -> None:
        path = self.path(entry.job)
        names = tuple(node.path for node in path)
        teller = self._teller(entry.job, self.terms(entry))
        if (claim := entry.job.open_claim) is not None and not claim.cluster:
            withdraw(teller, Reason(Code.CLAIM_NOT_NEEDED, "it goes without anybody's leaving"))
        kept = teller.job is not None and self.has_its_room(teller.job)
        teller.say(wire.Dequeued, path=names, charge=entry.request, woken_by=by, room=room, kept=kept)
        charged = charge(path, entry.request)
        self.steps.append(teller.step(*charged))
        self.count(charged)
        if not kept:  # that was never free for others
            self.rooms.take(room, entry.least[0])
        self.leave(entry, charged)

    def end(self, job: Job) -> None:
        """It was cancelled, and leaves its queue for good."""
        teller = withdraw(self.teller(job), Reason(Code.CLAIM_WITHDRAWN, "the job is cancelled"))
        self.steps.append(teller.say(wire.Cancelled).step())
        self.gone.add(job.id)

    def terms(self, entry: WaitingJob) -> JobSpec | None:
        """What it would go with, as its policy says now, if that is news. While an attempt is being removed its pods
        are left as they are: by them it is known what room that has."""
        job = entry.job
        spec = job.spec if job.removing and job.spec is not None else entry.spec
        now = under(self.view.policies, spec, self.view.tenancy(job.tenant).clusters)
        return now or (spec if spec is not job.spec else None)

    def teller(self, job: Job) -> Teller:
        return Teller(self.view, SERVICE, self.heard, self.now, job)

    def change(self, teller: Teller) -> WaitingJob:
        """The waiting job as it is after what was said of it; whether it goes is said in the same step."""
        assert teller.job is not None, "something was said of it"
        self._open[teller.id] = teller
        entry = entry_of(teller.job, self.view.queued.place(teller.job))
        self.anew[teller.id] = entry
        return entry

    def _teller(self, job: Job, terms: JobSpec | None) -> Teller:
        """Who speaks of this job next: first of its terms, if they are news."""
        teller = self._open.pop(job.id, None) or self.teller(job)
        if terms is None:
            return teller
        withdraw(teller, Reason(Code.CLAIM_WITHDRAWN, "its policy allows something else now"))
        return teller.say(wire.Amended, spec=terms)


def _differ(gates: tuple[Reason, ...], told: tuple[Reason, ...]) -> bool:
    """Other numbers are no news."""
    if len(gates) != len(told):
        return True
    return any(one.code is not two.code or one.field != two.field for one, two in zip(gates, told, strict=True))
