"""How a job stands: which gates are shut to it. What the queue records, and what it answers, come from here. Pure."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from fairway.domain.decision import Add
from fairway.domain.events import claim_id
from fairway.domain.job import Job
from fairway.domain.quota.charge import full_node, lacking, path_nodes, short_of_min
from fairway.domain.quota.tree import QuotaNode
from fairway.explain.claims import awaits
from fairway.queue.decision_charges import DecisionCharges
from fairway.queue.preemption.active_jobs import ActiveJobs
from fairway.queue.preemption.counted_usage import CountedUsage
from fairway.queue.view import View
from fairway.queue.waiting.freed_room import FreedRooms
from fairway.queue.waiting.waiting_job import ROOM, WaitingJob, quota_told, room_reason, steps_aside
from fairway.wire.reasons import Code, Reason

SUSPENDED = "suspended by its owner; set suspend to false to let it go"
_TRIED = Reason(Code.QUEUED, "it is about to be tried")
# Its turn comes by itself, and then these are asked about anew.
_PASSING = (Code.WAITING_FOR_QUOTA, Code.BEHIND_HEAD, Code.WAITING_FOR_REMOVAL, Code.SUSPENDED)


class Standings:
    """Queue, quota and room as they are at one moment: as the view has them, and as one decision has changed them so
    far, with those that have `gone` and the blocking queues that they `went_from`. `anew` are jobs that the decision
    itself changes, as they are then."""

    def __init__(self, view: View, now: int) -> None:
        self.view = view
        self.now = now
        self.rooms = FreedRooms(view, now)
        self.gone: set[str] = set()
        self._went_from: set[str] = set()
        self.anew: dict[str, WaitingJob] = {}
        self._charges = DecisionCharges(view.usage)
        self._paths: dict[tuple[str, ...], list[QuotaNode]] = {}

    @property
    def active(self) -> ActiveJobs:
        active = self.view.active
        active.levels.under(self.view.tree)
        return active

    @property
    def usage(self) -> Mapping[str, int]:
        return self._charges.now

    def count(self, adds: Iterable[Add]) -> None:
        self._charges.add(adds)

    def leave(self, entry: WaitingJob, charged: Iterable[Add]) -> None:
        """The job goes, and is charged so."""
        self.gone.add(entry.job.id)
        self._went_from.add(entry.job.queue)
        if not entry.spec.evictable:
            self._charges.fixed += charged

    def blocking(self, queue: str) -> bool:
        spec = self.view.queues.get(queue)
        return spec is not None and spec.policy == "Block"

    def head(self, queue: str) -> WaitingJob | None:
        """The first that has not gone and does not step aside."""
        heads = [one for one in self.anew.values() if one.job.queue == queue and self._waits(one)]
        for entry in self.view.queued.line(queue):
            if entry.job.id not in self.anew and self._waits(entry):
                heads.append(entry)
                break
        return min(heads, key=lambda entry: entry.place, default=None)

    def _waits(self, entry: WaitingJob) -> bool:
        return entry.job.id not in self.gone and not steps_aside(entry)

    def leads(self, entry: WaitingJob) -> bool:
        """In a blocking queue only the head goes, and the next one only when the head has its room. Who has room kept
        was the head when it claimed that."""
        queue = entry.job.queue
        claim = entry.job.open_claim
        if not self.blocking(queue) or (claim is not None and claim.cluster):
            return True
        if queue in self._went_from or self.view.queued.flying.get(queue):
            return False
        head = self.head(queue)
        return head is None or entry.place <= head.place

    def barred(self, entry: WaitingJob) -> bool:
        """Whether it does not go now, whatever is free."""
        job = entry.job
        return job.held or bool(job.removing) or job.cancelling or not self.leads(entry)

    def path(self, job: Job) -> list[QuotaNode]:
        return self.nodes(job.leaf)

    def nodes(self, leaf: Sequence[str]) -> list[QuotaNode]:
        """As the tree has them now."""
        key = tuple(leaf)
        if key not in self._paths:
            self._paths[key] = path_nodes(self.view.tree, key)
        return self._paths[key]

    @property
    def _counted(self) -> CountedUsage:
        return CountedUsage(self, self._charges)

    def counted(self, entry: WaitingJob) -> Mapping[str, int]:
        """What counts as used for this job at the nodes of its path."""
        return self._counted.at(self.path(entry.job), entry.request, entry.job.id)

    def full(self, entry: WaitingJob) -> str | None:
        """The node of its quota that does not take it; of several the one that was told. None: it fits."""
        found = full_node(self.path(entry.job), self.counted(entry), entry.request, quota_told(entry.job))
        if found is not None:
            return found[0].path
        short = self.short_of_min_now(entry)
        return short.field if short is not None else None

    def quota(self, entry: WaitingJob) -> Reason | None:
        full = lacking(self.path(entry.job), self.counted(entry), entry.request, quota_told(entry.job))
        return full or self.short_of_min_now(entry)

    def short_of_min_now(self, entry: WaitingJob) -> Reason | None:
        """Of a job that is never evicted: why it does not go, though it would within the max."""
        if entry.spec.evictable:
            return None
        return short_of_min(self.path(entry.job), self._counted.fixed(entry.job.id), entry.request)

    def gates(self, entry: WaitingJob) -> tuple[Reason, ...]:
        """Those that are shut: held, not removed yet, quota, turn, room. A job that is none of the queue's to let go
        has no turn."""
        job = entry.job
        stopped = _stopped(job)
        found = [*stopped]
        if (quota := self.quota(entry)) is not None:
            found.append(quota)
        if not stopped and not self.leads(entry):
            text = f"queue {job.queue} lets one job go at a time, in order, and it is not the turn of this one"
            found.append(Reason(Code.BEHIND_HEAD, text))
        if (leaves := self.awaited(entry)) is not None:
            found.append(leaves)
        elif entry.lacks == ROOM and (room := room_reason(job)) and self.rooms.where(entry) is None:
            found.append(room)
        return tuple(found)

    def awaited(self, entry: WaitingJob) -> Reason | None:
        """Whom it waits for, where room is kept for it that is not free yet."""
        claim = entry.job.open_claim
        if claim is None or not claim.cluster or entry.job.id in self.active.ready:
            return None
        return awaits(claim)

    def reasons(self, entry: WaitingJob) -> tuple[Reason, ...]:
        """The gates; where none is shut, what sent the job back, or that it is about to be tried."""
        gates = tuple(self._as_of_now(entry.job, one) for one in self.gates(entry))
        why = entry.job.why
        passed = why is None or why.code in _PASSING or entry.lacks == ROOM
        return gates or ((_TRIED,) if passed or why is None else (why,))

    def _as_of_now(self, job: Job, gate: Reason) -> Reason:
        """How many have yet to leave is known by the moment."""
        claim = job.open_claim
        if gate.code is not Code.WAITING_FOR_EVICTIONS or claim is None:
            return gate
        mine = claim_id(job.id, job.attempt, claim.number)
        still = sum(one == mine for one in self.active.leaving.jobs.values())
        return awaits(msgspec.structs.replace(claim, victims=still))


def _stopped(job: Job) -> list[Reason]:
    found = []
    if job.held:
        found.append(Reason(Code.SUSPENDED, SUSPENDED))
    if job.removing:
        told = next((one for one in job.waits_for if one.code is Code.WAITING_FOR_REMOVAL), None)
        text = f"attempt {job.recalled} is being removed in {job.removing}"
        found.append(told or Reason(Code.WAITING_FOR_REMOVAL, text))
    return found


def all_of(gates: tuple[Reason, ...]) -> Reason:
    """The first one's code, and what all of them say."""
    return msgspec.structs.replace(gates[0], text="; and ".join(one.text for one in gates))
