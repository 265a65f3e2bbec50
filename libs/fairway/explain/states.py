"""What there is to say of a job in each state: why it is there, and what moves it on."""

from collections.abc import Callable

from fairway.domain.job import Job, State
from fairway.domain.resources import describe
from fairway.explain import waiting, wording
from fairway.explain.waiting import Standing
from fairway.wire.asks import QueuePlace


def standing(job: Job, place: QueuePlace | None, now: int) -> Standing:
    if job.cancelling and not job.ended:
        return _cancelling(job, now)
    if job.state is State.QUEUED:
        return waiting.standing(job, place, now)
    return _STATES[job.state](job, now)


def _cancelling(job: Job, now: int) -> Standing:
    there = job.removing or job.cluster
    if there:
        because = f"its object and its pods in {there} must go first"
        move = f"{there} shows nothing of it any more"
    else:
        because = "somebody asked for it; nothing runs"
        move = "the service that holds it says that it is cancelled"
    return Standing("Cancelled", "is being cancelled", because, (move,), "removed" if there else "cancelled")


def _admitted(job: Job, now: int) -> Standing:
    return Standing(
        "Admitted",
        f"was admitted {ago(job.since, now)}",
        "it is yet to be checked against its quota",
        ("the quota service takes it up: it then waits in a queue, or is rejected",),
        "queue",
    )


def _dequeued(job: Job, now: int) -> Standing:
    charged = f"{describe(job.charge)} are charged to quota {job.path[-1]}" if job.path else "no quota limits it"
    return Standing(
        "Dequeued",
        f"got its turn {ago(job.since, now)}",
        f"{charged}; a cluster is to be chosen",
        ("the scheduler chooses a cluster, or sends it back to its queue with what each cluster lacks",),
        "placed",
    )


def _placed(job: Job, now: int) -> Standing:
    count = wording.node_count(job.slots)
    return Standing(
        "Placed",
        f"was placed in {job.cluster} {ago(job.since, now)}",
        f"{job.cluster} had room for it on {wording.many(count, 'node')} ({wording.nodes(job.slots)})",
        (f"the reserver holds that room, or finds it taken and sends the job back to queue {job.queue}",),
        "reserved",
    )


def _reserved(job: Job, now: int) -> Standing:
    count = wording.node_count(job.slots)
    return Standing(
        "Reserved",
        f"has had room held in {job.cluster} for {wording.span(now - job.since)}",
        f"{wording.many(count, 'node')} are kept free for it there"
        if count > 1
        else "one node keeps room for it there",
        (f"{job.cluster} accepts the job's object", "the reservation expires: the job goes back to its queue"),
        "dispatched",
    )


def _dispatched(job: Job, now: int) -> Standing:
    limit = job.spec.start_timeout if job.spec else 0
    least = job.spec.workload.gang_minimum if job.spec else 1
    until = job.since + limit if limit else 0
    return Standing(
        "Dispatched",
        f"was applied in {job.cluster} {ago(job.since, now)}",
        f"fewer than its gang of {wording.many(least, 'pod')} are up there",
        (f"{wording.many(least, 'pod')} of it {'is' if least == 1 else 'are'} up in {job.cluster}",),
        "running",
        _else_again(job, until, now),
        until,
    )


def _else_again(job: Job, until: int, now: int) -> str:
    if not until:
        return ""
    more = job.spec is not None and job.attempt < job.spec.attempts
    then = f"it goes back to its queue for attempt {job.attempt + 1}" if more else "it fails: no attempts are left"
    left = f"in {wording.span(until - now)}" if until > now else f"{wording.span(now - until)} overdue"
    return f"without that, at {wording.clock(until)} ({left}) {then}"


def _running(job: Job, now: int) -> Standing:
    return Standing(
        "Running",
        f"runs in {job.cluster} since {wording.moment(job.since)} ({wording.span(now - job.since)})",
        f"it waited {wording.span(job.since - job.submitted_at)} from submission to running",
        ("it succeeds, fails, or is lost with its cluster",),
        "succeeded",
    )


def _returning(job: Job, now: int) -> Standing:
    code, text = (job.why.code.value, job.why.text) if job.why else ("Returning", "its attempt ended")
    where = f"ended attempt {job.attempt} {ago(job.since, now)}"
    return Standing(code, where, text, ("it is queued for the next attempt",), "queue")


def _ended(job: Job, now: int) -> Standing:
    took = wording.span(job.since - job.submitted_at)
    verb = {State.FAILED: "failed", State.SUCCEEDED: "succeeded", State.CANCELLED: "was cancelled"}.get(job.state, "")
    where = f"{verb or 'was rejected'} at {wording.moment(job.since)}"
    if job.state is State.SUCCEEDED:
        ran = job.since - job.attempts[-1].running_at if job.attempts and job.attempts[-1].running_at else 0
        text = f"it ran {wording.span(ran)} in {job.cluster}, {took} after submission, in attempt {job.attempt}"
        return Standing("Succeeded", where, text)
    code = job.why.code.value if job.why else job.state.value.capitalize()
    remedy = f"; {job.why.remedy}" if job.why and job.why.remedy else ""
    field = f"{job.why.field}: " if job.why and job.why.field else ""
    text = f"{field}{job.why.text}{remedy}" if job.why else ""
    left = (f"{job.removing} shows nothing of it any more: it is still being removed there",) if job.removing else ()
    return Standing(code, where, text, left, "removed" if left else "")


def ago(at: int, now: int) -> str:
    return f"{wording.span(now - at)} ago"


_STATES: dict[State, Callable[[Job, int], Standing]] = {
    State.ADMITTED: _admitted,
    State.DEQUEUED: _dequeued,
    State.PLACED: _placed,
    State.RESERVED: _reserved,
    State.DISPATCHED: _dispatched,
    State.RUNNING: _running,
    State.RETURNING: _returning,
    **dict.fromkeys((State.SUCCEEDED, State.FAILED, State.CANCELLED, State.REJECTED), _ended),
}
