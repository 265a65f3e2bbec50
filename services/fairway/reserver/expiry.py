"""Reservations that nobody took up in time, and what is kept for claims that others took, nobody ended, or whose job
does not come though it is free. Pure."""

from collections.abc import Iterator

from fairway.domain.decision import Heard, Step
from fairway.domain.events import Teller
from fairway.domain.job import Job, State
from fairway.domain.preemption.open_claim import kept_key
from fairway.reserver.capacity import release
from fairway.reserver.freed_room import is_free, with_freed
from fairway.reserver.node_rows import Capacity
from fairway.reserver.taken_room import choose_anew
from fairway.reserver.view import View
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason

# Longer than a propagator needs to apply a manifest, shorter than an operator's patience.
HOLD_MS = 60_000
# The queue ends claims in time. What it did not end is dropped so long after (ms).
_OVERDUE_MS = 30_000
# How often it is looked at all that, and how often it is told once more of room that is free (ms).
EXPIRE_EVERY_MS = 2_000
_TOLD_EVERY_MS = 10_000


def expired(view: View, heard: Heard[object], now: int) -> tuple[Step, ...]:
    kept = (*choose_anew(view, heard, now), *_told_again(view, heard, now), *_overdue(view, heard, now))
    return *_not_dispatched(view, heard, now), *kept


def _not_dispatched(view: View, heard: Heard[object], now: int) -> Iterator[Step]:
    """Recalled, so that a late apply is undone first."""
    for job in list(view.jobs.values()):
        hold = view.ledger.get(job.cluster, {}).get(job.key)
        if hold is None or job.state is not State.RESERVED or hold.expires_at > now or job.removing:
            continue
        text = f"reserved in {job.cluster} for {HOLD_MS // 1000} s and not dispatched"
        why = Reason(Code.RESERVATION_EXPIRED, text, remedy="look at the propagator and that cluster's API")
        teller = Teller(view, "reserver", heard, now, job.id)
        yield teller.say(wire.Recall, cluster=job.cluster, why=why).step()


def _told_again(view: View, heard: Heard[object], now: int) -> Iterator[Step]:
    """That kept room is free is told when it becomes so, once. A queue that began after that does not know of it."""
    for cluster, keys in free_claims(view, now):
        if any(_waits(view.jobs.get(key.partition("/")[0]), key, now) for key in keys):
            yield with_freed(view, Step(()), heard, cluster, now)


def free_claims(view: Capacity, now: int) -> Iterator[tuple[str, list[str]]]:
    """By cluster the keys of what is kept for claims and is free, when it is time to tell of it once more."""
    if now // _TOLD_EVERY_MS == (now - EXPIRE_EVERY_MS) // _TOLD_EVERY_MS:
        return
    for cluster, kept in view.claims.items():
        known = view.clusters.get(cluster)
        nodes = known.by_name if known is not None and not known.info.cordoned else {}
        if keys := [key for key in kept if is_free(key, kept, nodes)]:
            yield cluster, keys


def _waits(job: Job | None, key: str, now: int) -> bool:
    """Whether the job of this line waits, and has for longer than it takes to go."""
    claim = job.open_claim if job is not None and job.state is State.QUEUED and kept_key(job) == key else None
    return claim is not None and claim.at + _TOLD_EVERY_MS <= now


def _overdue(view: View, heard: Heard[object], now: int) -> Iterator[Step]:
    for cluster, kept in view.claims.items():
        for key in [key for key, hold in kept.items() if hold.expires_at + _OVERDUE_MS <= now]:
            yield from release(view, heard, cluster, key, now).steps
