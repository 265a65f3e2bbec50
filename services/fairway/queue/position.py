"""Where a waiting job stands: its position, who is ahead, and what it and others wait for as of now. Pure."""

from msgspec.structs import asdict, replace

from fairway.queue.standing import Standings, all_of
from fairway.queue.view import View
from fairway.queue.waiting.waiting_job import WaitingJob
from fairway.wire.asks import MOST_AHEAD, MOST_ALSO, QueueAnswer, QueueAsk, QueuePlace
from fairway.wire.reasons import Code


def answer(view: View, asked: QueueAsk, now: int) -> QueueAnswer:
    """Of one that does not wait here the place is empty."""
    stands = Standings(view, now)
    entries = view.queued.entries
    also = tuple(_gates(stands, entries.get(name)) for name in asked.also[:MOST_ALSO])
    entry = entries.get(asked.job)
    if entry is None:
        return QueueAnswer(queue="", also=also)
    line = view.queued.lines[entry.job.queue].places
    index = line.index(entry.place)
    ahead = tuple(other[-1] for other in line[max(0, index - MOST_AHEAD) : index])
    found = replace(_gates(stands, entry), position=index + 1, ahead=ahead)
    return QueueAnswer(**asdict(found), also=also)


def _gates(stands: Standings, entry: WaitingJob | None) -> QueuePlace:
    if entry is None:
        return QueuePlace(queue="")
    queue = entry.job.queue
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
        lacks=why.code,
        text=why.text,
        running_ahead=len(flying),
        behind=tuple(behind),
        gates=gates,
        head=first,
    )
