"""What should be there and is not: an object, a gang that never started or is no longer up, a node, the word of a
dispatch. Pure."""

from typing import Any, Protocol

from msgspec import Struct

from fairway.domain.attempts.eviction_freeze import Freeze
from fairway.domain.attempts.retry import attempt_over, batch_shrunk, next_attempt
from fairway.domain.decision import NOTHING, Call, Decision, Heard, Outcome
from fairway.domain.events import JobRows, Teller
from fairway.domain.job import Job, State
from fairway.domain.quota.charge import total
from fairway.domain.resources import describe
from fairway.watcher.batch_shrunk import on_batch, patience
from fairway.watcher.edits import Edit
from fairway.watcher.object_checks import GONE, LOOK, THERE, ObjectDoubt, ObjectLook
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.workloads.kinds.phase import PENDING
from fairway.workloads.kinds.registry import status

SERVICE = "watcher"
# Objects dispatched this shortly before a list may be missing from it (ms).
_LIST_MARGIN_MS = 5_000
# What could not be looked at, or has to wait for something, is looked at again after this long (ms).
AGAIN_MS = 1_000
# An object can be seen before its dispatch is committed; looked at again this soon (ms).
SOON_MS = 100
_STARTED = (State.DISPATCHED, State.RUNNING)
# With an attempt that is somewhere, or will be in a moment.
PRESENT = (State.RESERVED, *_STARTED)


class Listed(fleet.FleetMessage, frozen=True, kw_only=True, tag="listed"):
    """Local: these objects (`<job>/<attempt> <uid>`) are all that a cluster has of a kind."""

    cluster: str
    kind: str
    keys: frozenset[str]


class Late(fleet.FleetMessage, frozen=True, kw_only=True, tag="late"):
    """Local: look for jobs that should have started by now. `members` are watched here (None: as it was)."""

    members: tuple[str, ...] | None = None


class Emptied(fleet.FleetMessage, frozen=True, kw_only=True, tag="emptied"):
    """Local: the jobs of this cluster are to start anew elsewhere."""

    cluster: str


class Down(Struct, frozen=True):
    """Since when the `gang` of a running attempt is not up any more (ms since 1970), and how it stands."""

    attempt: int
    since: int
    text: str
    gang: int = 0


class StatusSaid(Struct, frozen=True):
    """Of an attempt: which status was told to the hub last, by its digest."""

    attempt: int
    digest: str


class KnownSilence(Protocol):
    """`freeze` is what the fleet's silence makes of `frozen`, which is in the store at `frozen_rev`. While most of it
    has not reported yet, nobody is sure."""

    freeze: Freeze | None
    frozen: Freeze | None
    frozen_rev: int
    unsure: bool


class View(JobRows, Protocol):
    """`overdue` are the jobs whose deadline has passed; `held` the ids of jobs by cluster as the ledger knows: a `new`
    view has read its rows before it knew. `down` has running jobs whose gang is not up any more; `newest` the place of
    what was seen last of a present attempt, `said` what the hub was told of it."""

    new: bool
    overdue: list[str]
    held: dict[str, set[str]]
    down: dict[str, Down]
    newest: dict[str, int]
    said: dict[str, StatusSaid]

    @property
    def silence(self) -> KnownSilence: ...


def early(job: Job, manifest: dict[str, Any] | None, doubt: ObjectDoubt | None) -> Decision:
    """Seen before its dispatch is known (None: seen to go): looked at again, if there will be anything to say of it.
    Nothing will be of one that is pending; what was put off before it became so is no longer the newest. Neither is
    anything said while a stray of an earlier attempt is removed: of a job that is done for one at a time."""
    if job.removing:
        return Decision(again_in=AGAIN_MS)
    if manifest is None or job.spec is None:
        return Decision(again_in=SOON_MS)
    phase = status(manifest, job.spec.workload, manifest.get("status"))
    return Decision(again_in=SOON_MS) if doubt is not None or phase.state != PENDING else NOTHING


def look(job: Job, uid: str) -> Call:
    """Asks whether an object that is no longer told of is really gone."""
    assert job.spec is not None, "a job with an attempt was admitted"
    work = job.spec.workload
    about = ObjectLook(work.key, work.namespace, work.name, uid)
    return Call(LOOK, job.cluster, job.id, job.attempt, about)


def vanished(job: Job, answer: Outcome | None) -> Reason | None:
    """What became of an object that is not told of any more; None while nobody knows."""
    if answer is None or not answer.ok or answer.body == THERE:
        return None
    if answer.body == GONE:
        return Reason(Code.VANISHED, f"the object was deleted in {job.cluster}, not by Fairway")
    text = f"Fairway's labels were taken off the object in {job.cluster}: nobody could tell any more whose it is"
    return Reason(Code.EDITED, text, remedy="leave the labels under fairway.io/ as they are")


def edited(job: Job, answer: Outcome) -> Reason:
    first: Edit = answer.body[0]
    who = first.who or "somebody"
    text = f"{first.path} was changed in {job.cluster} by {who}: what runs there is not what was submitted"
    return Reason(Code.EDITED, text, remedy="change the job where it was submitted, not in a member cluster")


def listed(view: View, heard: Heard[object], seen: Listed, now: int) -> Decision:
    """After a gap: what should be there and is not was deleted while nobody looked."""
    if view.new:
        return Decision(again_in=SOON_MS)
    absent = {}
    busy = False
    for name in sorted(view.held.get(seen.cluster, ())):
        job = view.jobs.get(name)
        if job is None or job.spec is None or _in_list(job, seen) or not _started_in(job, seen):
            continue
        if job.removing:
            busy = True  # with an attempt before this one: of a job one at a time is removed
        elif _begun(job) <= now - _LIST_MARGIN_MS:
            absent[name] = job
    if absent and not heard.outcomes:
        return Decision(calls=tuple(look(job, job.uid) for job in absent.values()))
    answers = {one.call.job: one for one in heard.outcomes}
    steps = []
    for name, job in absent.items():
        why = vanished(job, answers.get(name))
        if why:
            steps.append(attempt_over(Teller(view, SERVICE, heard, now, name), wire.Lost, why).step())
    unknown = any(name not in answers or not answers[name].ok for name in absent)
    return Decision(tuple(steps), again_in=AGAIN_MS if unknown or busy else None)


def emptied(view: View, heard: Heard[object], message: Emptied, now: int) -> Decision:
    """What is there is recalled and goes back to its queue, whatever the number of its attempts: it did no wrong."""
    cluster = message.cluster
    why = Reason(Code.CORDONED, f"{cluster} is to leave the fleet, and its jobs start anew elsewhere")
    steps = []
    for name in sorted(view.held.get(cluster, ())):
        job = view.jobs.get(name)
        if job is None or job.cluster != cluster or job.removing or job.cancelling:
            continue
        if job.state in _STARTED:
            steps.append(next_attempt(Teller(view, SERVICE, heard, now, name), wire.Lost, why).step())
    return Decision(tuple(steps))


def _in_list(job: Job, seen: Listed) -> bool:
    """Another object with its labels is not its own."""
    if job.uid:
        return f"{job.key} {job.uid}" in seen.keys
    return any(key.startswith(f"{job.key} ") for key in seen.keys)


def _started_in(job: Job, seen: Listed) -> bool:
    assert job.spec is not None, "a held job was admitted"
    return job.state in _STARTED and job.cluster == seen.cluster and job.spec.workload.key == seen.kind


def _begun(job: Job) -> int:
    """When the object was applied, or a little earlier."""
    return job.attempts[-1].started_at if job.state is State.RUNNING else job.since


def down_of(view: View, job: Job) -> Down | None:
    """What was seen of an earlier attempt says nothing of the present one, nor does what was measured by a gang that it
    does not have any more."""
    down = view.down.get(job.id)
    gang = job.spec.workload.gang_minimum if job.spec else 0
    return down if down is not None and down.attempt == job.attempt and down.gang in (0, gang) else None


def late(view: View, heard: Heard[object], now: int) -> Decision:
    steps = []
    for name in view.overdue:
        job = view.jobs.get(name)
        if job is None or job.spec is None or job.removing:
            continue
        since = job.since
        text = ""
        most = job.spec.start_timeout
        if job.state is State.RUNNING:
            down = down_of(view, job)
            since, text = (down.since, down.text) if down else (now, "")
            most = patience(job)
        if job.state not in _STARTED or now - since < most:
            continue
        why = _not_up(job, (now - since) // 1000, text)
        teller = Teller(view, SERVICE, heard, now, name)
        steps.append((batch_shrunk(teller, why) if on_batch(job) else attempt_over(teller, wire.Lost, why)).step())
    return Decision(tuple(steps))


def _not_up(job: Job, seconds: int, text: str) -> Reason:
    remedy = "see the pods' events there; the policy sets the start timeout"
    shrunk = on_batch(job)
    if job.state is State.RUNNING:
        text = f"no longer up in {job.cluster} for {seconds} s: {text}"
        return Reason(Code.BATCH_SHRUNK if shrunk else Code.GANG_DOWN, text, remedy=remedy)
    assert job.spec is not None, "only an admitted job was dispatched"
    text = f"not running in {job.cluster} after {seconds} s; its gang needs {describe(total(job.spec.workload))}"
    return Reason(Code.BATCH_SHRUNK if shrunk else Code.START_TIMEOUT, text, remedy=remedy)


def stranded(view: View, heard: Heard[object], seen: fleet.Stranded, now: int) -> Decision:
    """Its pods are on nodes that are away, and nobody in the cluster has done anything about it."""
    steps = []
    for one in seen.attempts:
        job = view.jobs.get(one.job)
        if job is None or job.spec is None or job.removing or job.cancelling or job.state not in _STARTED:
            continue
        if (job.cluster, job.attempt) != (seen.cluster, one.attempt):
            continue
        if one.namespace != job.spec.workload.namespace:
            continue  # pods of somebody else that carry its labels
        text = f"its pods are on {one.node} in {seen.cluster}, which {one.how} for {one.seconds} s"
        why = Reason(Code.NODE_LOST, text, remedy="bring the node back, or delete it so that its pods go")
        steps.append(attempt_over(Teller(view, SERVICE, heard, now, one.job), wire.Lost, why).step())
    return Decision(tuple(steps))
