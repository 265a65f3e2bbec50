"""Where a waiting job stands: its position, who is ahead, and what it waits for as of now. Pure."""

from fairway.domain.quota.charge import lacking, path_nodes
from fairway.queue.view import View
from fairway.queue.waiting_jobs import REMOVAL, WaitingJob, steps_aside
from fairway.wire.asks import QueuePlace
from fairway.wire.reasons import Code, Reason

_AHEAD = 5


def place(view: View, name: str) -> QueuePlace | None:
    """None when the job does not wait here."""
    entry = view.queued.entries.get(name)
    if entry is None:
        return None
    queue = entry.job.queue
    line = view.queued.lines[queue]
    index = line.index(entry.place)
    spec = view.queues.get(queue)
    why, behind = _why(view, entry, blocking=spec is not None and spec.policy == "Block")
    return QueuePlace(
        queue=queue,
        policy=spec.policy if spec else "Priority",
        position=index + 1,
        ahead=tuple(other[2] for other in line[max(0, index - _AHEAD) : index]),
        lacks=why.code,
        text=why.text,
        running_ahead=len(view.queued.flying.get(queue, ())),
        behind=behind,
    )


def _why(view: View, entry: WaitingJob, blocking: bool) -> tuple[Reason, tuple[str, ...]]:
    """The quota with today's numbers, the head it is behind, or what its row says; and the jobs that this names."""
    job = entry.job
    if entry.lacks == REMOVAL and job.why is not None:
        return job.why, ()
    if entry.lacks and job.why is not None:
        path = path_nodes(view.tree, job.leaf)
        return lacking(path, view.usage, entry.request, job.why.field) or job.why, ()
    head = _head(view, job.queue) if blocking else None
    if head is not None and head.job.id != job.id:
        what, more = _why(view, head, blocking)
        text = f"queue {job.queue} blocks behind its head {head.job.id}: {what.text}"
        return Reason(Code.BEHIND_HEAD, text), (head.job.id, *more)
    flying = sorted(view.queued.flying.get(job.queue, ()))
    if blocking and flying:
        text = f"queue {job.queue} lets one job look for room at a time; now {', '.join(flying)}"
        return Reason(Code.BEHIND_HEAD, text), tuple(flying)
    if job.why is None or job.why.code is Code.BEHIND_HEAD:  # it is the head by now
        return Reason(Code.QUEUED, "it is about to be tried"), ()
    return job.why, ()


def _head(view: View, queue: str) -> WaitingJob | None:
    entries = (view.queued.entries[place[2]] for place in view.queued.lines.get(queue, ()))
    return next((entry for entry in entries if not steps_aside(entry)), None)
