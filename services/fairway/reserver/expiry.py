"""Reservations that nobody took up in time, and what is kept for claims that others took, or nobody ended. Pure."""

from collections.abc import Iterator

from fairway.domain.decision import Heard, Step
from fairway.domain.events import Teller
from fairway.domain.job import State
from fairway.reserver.capacity import release
from fairway.reserver.taken_room import choose_anew
from fairway.reserver.view import View
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason

# Longer than a propagator needs to apply a manifest, shorter than an operator's patience.
HOLD_MS = 60_000
# The queue ends claims in time. What it did not end is dropped so long after (ms).
_OVERDUE_MS = 30_000


def expired(view: View, heard: Heard[object], now: int) -> tuple[Step, ...]:
    return *_not_dispatched(view, heard, now), *choose_anew(view, heard, now), *_overdue(view, heard, now)


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


def _overdue(view: View, heard: Heard[object], now: int) -> Iterator[Step]:
    for cluster, kept in view.claims.items():
        for key in [key for key, hold in kept.items() if hold.expires_at + _OVERDUE_MS <= now]:
            yield from release(view, heard, cluster, key, now).steps
