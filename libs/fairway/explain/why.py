"""Where a job stands, why, and what would move it: one answer from its row, its place in the queue and the time."""

import msgspec
from msgspec import Struct

from fairway.domain import recorded_verdicts
from fairway.domain.attempts.eviction_freeze import Freeze
from fairway.domain.job import Job, State
from fairway.explain import wording
from fairway.explain.claims import EVICTED, KEEPS
from fairway.explain.states import standing
from fairway.placement.verdicts.recorded import words
from fairway.wire.asks import QueuePlace
from fairway.wire.jobs import Verdict
from fairway.wire.reasons import Code, Reason


class ClusterAnswer(Struct, frozen=True, omit_defaults=True):
    """What was last found of one cluster, in words and in numbers."""

    cluster: str
    code: str
    text: str
    numbers: dict[str, int] = {}
    chosen: bool = False


class Why(Struct, frozen=True):
    """`where` and `because` are sentences; `moves` each name one thing that would change it; `timer` is what happens
    at `timer_at` (ms since 1970, 0: nothing does) if nothing happens before. `before` tells of earlier attempts."""

    job: str
    tenant: str
    state: str
    reason: str
    where: str
    because: str
    since: int
    now: int
    attempt: int = 0
    kind: str = ""
    name: str = ""
    moves: tuple[str, ...] = ()
    next_event: str = ""
    timer: str = ""
    timer_at: int = 0
    clusters: tuple[ClusterAnswer, ...] = ()
    queue: QueuePlace | None = None
    before: tuple[str, ...] = ()


def why(job: Job, place: QueuePlace | None, now: int, frozen: Freeze | None = None) -> Why:
    """`place` is the queue service's answer, None when it gave none; only a job that waits has a place. `frozen`: no
    job is given up now."""
    place = place if job.state is State.QUEUED else None
    stands = standing(job, place, now)
    if frozen and job.state in (State.DISPATCHED, State.RUNNING):
        because = f"{stands.because}; {frozen.why.text}"
        stands = msgspec.structs.replace(stands, because=because, timer="", timer_at=0)
    work = job.spec.workload if job.spec else None
    return Why(
        job=job.id,
        tenant=job.tenant,
        state=job.state.value,
        reason=stands.reason,
        where=f"{_name(job)} {stands.where}.",
        because=wording.sentence(stands.because),
        since=job.since,
        now=now,
        attempt=job.attempt,
        kind=work.kind if work else job.kind,
        name=work.name if work else job.name,
        moves=tuple(map(wording.sentence, stands.moves)),
        next_event=stands.next_event,
        timer=wording.sentence(stands.timer),
        timer_at=stands.timer_at,
        clusters=_clusters(job, now),
        queue=place,
        before=_before(job),
    )


def _name(job: Job) -> str:
    if job.spec is None:
        return f"{job.kind} {job.tenant}/{job.name}" if job.name else job.id
    work = job.spec.workload
    return f"{work.kind} {work.namespace}/{work.name}"


def _clusters(job: Job, now: int) -> tuple[ClusterAnswer, ...]:
    """What the last look at the fleet found: of the present placement, or of the one that failed to find room."""
    if job.ended:
        return ()
    told = recorded_verdicts.verdicts(job.placed or job)
    chosen = job.placed.cluster if job.placed else ""
    asks = wording.gang(job.spec.workload) if job.spec else ""
    return tuple(_answer(one, asks, one.cluster == chosen, now) for one in told)


def _answer(one: Verdict, asks: str, chosen: bool, now: int) -> ClusterAnswer:
    if one.code is Code.RECENTLY_FAILED:
        left = max(0, one.numbers.get("until", 0) - now)
        if not left:
            return ClusterAnswer(one.cluster, one.code.value, "an attempt failed there; it may go there again")
        one = msgspec.structs.replace(one, numbers={**one.numbers, "left": left})
    return ClusterAnswer(one.cluster, one.code.value, words(one, asks), one.numbers, chosen)


def _before(job: Job) -> tuple[str, ...]:
    """Every attempt that has ended and is not the story's end itself."""
    over = [one for one in job.attempts if one.why is not None and (one.number < job.attempt or not job.ended)]
    return tuple(
        f"Attempt {one.number} in {one.cluster} ended after {wording.span(one.ended_at - one.started_at)}: "
        f"{wording.sentence(_ended(one.why) if one.why else '')}"
        for one in over
    )


def _ended(why: Reason) -> str:
    return f"{why.text}; {KEEPS}" if why.code in EVICTED else why.text
