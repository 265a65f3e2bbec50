"""What becomes of objects whose turn it is: submitted, held with a reason, or left to whoever has them. Pure."""

from collections.abc import Iterable, Mapping

from fairway.domain.decision import Call, Decision, Heard, Reminder, Step
from fairway.domain.events import name_key
from fairway.domain.held_object import HeldObject, kept, released
from fairway.domain.job import Job
from fairway.domain.submission import HUB_CLIENT, Asked, Submission, submission
from fairway.domain.tenancy.submission_limits import Limits, SubmissionPace, limit_for, too_many
from fairway.hub.calls import RESET, Place, failed
from fairway.hub.gang_pods import pods_beside
from fairway.hub.job_object import JobObject, Json, job_of, ref_of, suspended
from fairway.hub.messages import Resubmit, Show, Tell, Turn, Unbind
from fairway.hub.telling.bindings import name_of
from fairway.hub.telling.pending_update import UNCLAIMED_MS
from fairway.hub.telling.statuses import HELD_MS
from fairway.hub.view import View
from fairway.wire.jobs import Submitted
from fairway.wire.reasons import Code, Reason, together
from fairway.workloads.gangs.found_gang import POD, goes_with
from fairway.workloads.hub.ends import ended
from fairway.workloads.hub.objects import HubObject, cleaned, of_hub
from fairway.workloads.kinds.registry import KINDS

_AGAIN_MS = 1_000


class Allowance:
    """How much each tenant may submit now; what is taken counts for the objects that come after it."""

    def __init__(self, limits: Mapping[str, Limits], pace: SubmissionPace, pending: Mapping[str, int]) -> None:
        self._limits = limits
        self._pace = pace.copy()
        self._pending = dict(pending)

    def refusal(self, tenant: str, size: int, now: int) -> Reason | None:
        """Why one more job of so many bytes may not be submitted; None: it may, and counts."""
        limit = limit_for(tenant, self._limits)
        if why := too_many(tenant, limit, self._pending.get(tenant, 0)):
            return why
        if refusal := self._pace.refusal(tenant, limit, size, now):
            return refusal.why
        self._pending[tenant] = self._pending.get(tenant, 0) + 1
        return None


def turn(view: View, now: int) -> Decision:
    """Of all objects in hand; and when the next turn comes."""
    allowance = Allowance(view.limits, view.turns.pace, view.turns.rows.pending)
    steps: list[Step] = []
    reminders: list[Reminder] = []
    for one in view.turns.batch:
        known = view.objects.get(one.uid)
        if known is None or one.uid not in view.turns.ready or (known.submitted and not known.refused):
            continue
        if known.refused:
            reminders += _anew(view, known, now)
            continue
        step = _submitted(view, known, allowance, now)
        if step is not None:
            steps.append(step)
            reminders += _bound_no_more(view, step)
        if (step is None or not step.events) and not ended(one):
            reminders += _of_held(view, known, step is not None, now)
    return Decision(tuple(steps), reminders=(*reminders, *next_turn(view, now, view.turns.batch)))


def _bound_no_more(view: View, step: Step) -> list[Reminder]:
    """The other pods of a gang had bindings of their own while they waited for it."""
    words = [say.message for say in step.events]
    pods = (view.objects.get(pod.uid) for one in words if isinstance(one, Submitted) for pod in pods_beside(one.hub))
    found = [known.one for known in pods if known is not None]
    return [Reminder(Unbind(one.namespace, name_of(one), one.uid)) for one in found]


def _of_held(view: View, known: JobObject, new: bool, now: int) -> list[Reminder]:
    """To tell its owner why it is not submitted, and to show that it waits, if that is `new` or was not done yet."""
    uid = known.one.uid
    reminders = []
    if new and view.telling.late(uid, now + UNCLAIMED_MS):
        reminders.append(Reminder(Tell(uid, now + UNCLAIMED_MS), UNCLAIMED_MS))
    if (new or known.shown.wanted is not None) and uid not in view.telling.showing:
        reminders.append(Reminder(Show(uid), HELD_MS))
    return reminders


def next_turn(view: View, now: int, in_hand: tuple[HubObject, ...] = ()) -> tuple[Reminder, ...]:
    """The message that brings the next turn, unless it is on its way."""
    return _turn_at(view, view.turns.ripe_at(now), now, 10 if in_hand else 1)


def turn_for(view: View, uids: Iterable[str], now: int) -> tuple[Reminder, ...]:
    """As `next_turn`, when these objects alone are new: ten thousand may be ready."""
    ready = filter(None, map(view.turns.ready.get, uids))
    return _turn_at(view, min((view.turns.ripe_of(one, now) for one in ready), default=None), now, 1)


def _turn_at(view: View, at: int | None, now: int, least_ms: int) -> tuple[Reminder, ...]:
    if at is None or (view.turns.next_at is not None and view.turns.next_at <= max(at, now + least_ms)):
        return ()
    return (Reminder(Turn(), max(at - now, least_ms)),)


def _submitted(view: View, known: JobObject, allowance: Allowance, now: int) -> Step | None:
    one = known.one
    if ended(one) and known.held is not None:
        return Step(released(known.held))
    if ended(one) or one.uid in view.turns.rows.unread:
        return None
    if why := not_now(view, known):
        return _held(view, known, why, now)
    said = submission_of(view, one, now)
    assert said is not None, "what no policy selects is held"
    if too_much := allowance.refusal(one.namespace, said.size, now):
        return _held(view, known, too_much, now)
    return Step(released(known.held) if known.held else (), (said.say,))


def not_now(view: View, known: JobObject) -> Reason | None:
    """Why an object is not submitted, apart from how much its tenant submits."""
    one = known.one
    if known.leader:
        leader = view.objects.get(known.leader)
        return goes_with(leader.one.name if leader is not None else "of before")
    policies = view.hub_settings.room.policy_for(one)
    if isinstance(policies, Reason):
        return policies
    if lacks := lacking(view, one):
        return lacks[1]
    if apart := _pod_apart(view, one, policies):
        return apart
    if why := KINDS[one.kind].one_of_several(one.manifest):
        return why
    if suspended(one):
        return Reason(Code.SUSPENDED, "suspended by its owner", *KINDS[one.kind].let_go)
    holder = holder_of(view, one)
    if holder is not None and not holder.ended:
        text = f"its name is taken by job {holder.id}, which is {holder.state.value}"
        remedy = "wait until that one has ended, or apply this object under another name"
        return Reason(Code.DUPLICATE, text, "metadata.name", remedy)
    return None


def lacking(view: View, one: HubObject) -> tuple[tuple[str, str], Reason] | None:
    """The first setting that it names and that is not there, and the reason to wait for it; without a setting, that it
    cannot be written out as what it refers to is now."""
    written = view.templates.written(one)
    if written.wrong and not view.hub_settings.foreign(one):
        return ("", one.uid), together(written.wrong)
    return view.hub_settings.lacking(written.one)


def _pod_apart(view: View, leader: HubObject, policies: tuple[Json, ...]) -> Reason | None:
    """Why one of the other pods of a whole gang does not go with it."""
    for pod in view.templates.written(leader).templates:
        other = view.objects.get(pod.uid)
        if pod.kind != POD or other is None:
            continue
        if other.submitted or other.leader not in ("", leader.uid):
            text = f"pod {pod.name} of its gang is of job {other.job}"
            return Reason(Code.GANG_OF_PODS, text, "metadata", "delete that pod, and apply it anew")
        if view.hub_settings.room.policy_for(other.one) != policies:
            text = f"pod {pod.name} of its gang is selected by another policy, or by none"
            return Reason(Code.GANG_OF_PODS, text, "metadata", "let one policy select all pods of the gang")
    return None


def holder_of(view: View, one: HubObject) -> Job | None:
    """The job of another door, or of an earlier object, that has the object's name."""
    name = view.turns.rows.names.get(name_key(one.namespace, one.plain, one.name), "")
    job = view.jobs.get(name)
    return job if job is not None and job.hub_uid != one.uid else None


def _held(view: View, known: JobObject, why: Reason, now: int) -> Step | None:
    """The rows of a held object, when they change; None: it is nothing of Fairway's."""
    one = known.one
    if why.code is Code.NO_POLICY and _of_nobody(view, one):
        return Step(released(known.held)) if known.held else None
    holder = holder_of(view, one)
    before = known.held
    since = before.since if before is not None else now
    other = holder.id if why.code is Code.DUPLICATE and holder is not None else ""
    job = known.job
    if known.leader:
        job = job_of(one)
        other = known.job
    held = HeldObject(one.kind, one.namespace, one.name, one.uid, since, why, job, other)
    return None if held == before else Step(kept(held))


def _of_nobody(view: View, one: HubObject) -> bool:
    """What no policy selects there is nothing of Fairway's."""
    return view.hub_settings.foreign(one) or not KINDS[one.kind].for_the_fleet(one.manifest)


def submission_of(view: View, one: HubObject, now: int, again: bool = False) -> Submission | None:
    """None when no policy selects it. `again`: what it was before was refused."""
    policies = view.hub_settings.room.policy_for(one)
    if isinstance(policies, Reason):
        return None
    written = view.templates.written(one)
    asked = Asked(cleaned(written.one.manifest), policies, f"{HUB_CLIENT}{one.uid}")
    return submission(asked, of_hub(one.namespace, one.uid), now, ref_of(one, written.templates), again)


def _anew(view: View, known: JobObject, now: int) -> list[Reminder]:
    """An object whose job was refused, when it is no longer what was refused."""
    if lacking(view, known.one) is not None:
        return []
    new = submission_of(view, known.one, now, again=True)
    return [] if new is None or new.digest == known.refused else [Reminder(Resubmit(known.one.uid))]


def resubmit(view: View, heard: Heard[object], message: Resubmit, now: int) -> Decision:
    """First it is taken back that the object failed. Of a batch Job the API server does not take it back, ever: such
    a one is deleted and applied again."""
    known = view.objects.get(message.uid)
    new = submission_of(view, known.one, now, again=True) if known is not None and known.one.manifest else None
    if known is None or new is None or not known.refused or new.digest == known.refused:
        return Decision()
    one = known.one
    if not heard.outcomes and known.shown.status:
        return Decision(calls=(Call(RESET, "", known.job, 0, Place(one.kind, one.namespace, one.name, one.uid)),))
    if failed(heard):
        return Decision(again_in=_AGAIN_MS)
    if heard.outcomes and heard.outcomes[-1].code:
        return Decision()
    return Decision((Step(events=(new.say,)),))
