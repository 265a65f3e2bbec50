"""Where waiting jobs stand: their positions, who is ahead, and what they wait for as of now. Pure."""

from collections.abc import Iterable

from fairway.queue.standing import Standings, all_of
from fairway.queue.view import View
from fairway.queue.waiting_jobs import WaitingJob
from fairway.wire.asks import MOST_AHEAD, QueuePlace
from fairway.wire.reasons import Code


def places(view: View, names: Iterable[str], now: int) -> list[QueuePlace]:
    """In this order; of one that does not wait here an empty one."""
    stands = Standings(view, now)
    entries = (view.queued.entries.get(name) for name in names)
    return [_place(stands, entry) if entry else QueuePlace(queue="") for entry in entries]


def _place(stands: Standings, entry: WaitingJob) -> QueuePlace:
    queue = entry.job.queue
    line = stands.view.queued.lines[queue]
    index = line.index(entry.place)
    spec = stands.view.queues.get(queue)
    gates = stands.reasons(entry)
    why = all_of(gates)
    flying = sorted(stands.view.queued.flying.get(queue, ()))
    head = stands.head(queue) if any(one.code is Code.BEHIND_HEAD for one in gates) else None
    behind = flying if head else []
    first = ""
    if head is not None and head is not entry:
        behind = [*behind, head.job.id]
        first = "" if flying else all_of(stands.reasons(head)).text
    return QueuePlace(
        queue=queue,
        policy=spec.policy if spec else "Priority",
        position=index + 1,
        ahead=tuple(other[2] for other in line[max(0, index - MOST_AHEAD) : index]),
        lacks=why.code,
        text=why.text,
        running_ahead=len(flying),
        behind=tuple(behind),
        gates=gates,
        head=first,
    )
