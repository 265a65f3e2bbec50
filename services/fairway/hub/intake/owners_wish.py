"""What the owner of an object wants of a job that is there: that it says something else, waits, or ends. Pure."""

from collections.abc import Iterator

from fairway.domain.decision import Call, Decision, Heard, Reminder, Say, Step
from fairway.domain.held_object import released
from fairway.domain.job import Job, State
from fairway.domain.submission import HUB_CLIENT, Asked, Submission, cancellation, holding, revision
from fairway.domain.tenancy.submission_limits import limit_for
from fairway.hub.calls import LOOK, MANIFEST, FoundObject, Place, failed
from fairway.hub.gang_pods import pods_of, teller
from fairway.hub.job_object import JobObject, ref_of, suspended, wish_of
from fairway.hub.messages import ObjectSeen, Orphan, Tell, Unbind, Wish
from fairway.hub.telling.bindings import name_of
from fairway.hub.telling.pending_update import SOON_MS
from fairway.hub.view import View
from fairway.wire.reasons import Reason
from fairway.wire.spec import JobSpec
from fairway.workloads.gangs.found_gang import POD
from fairway.workloads.hub.objects import HubObject, cleaned, of_hub

# Its submission is on its way to admission: it is looked at again after this long (ms).
_AGAIN_MS = 500
_HUB_AWAY_MS = 1_000
# Ends in which nothing of the job can be in a cluster.
NOWHERE = frozenset({State.CANCELLED, State.REJECTED})
# What a template says counts in these.
_WAITS = frozenset({State.ADMITTED, State.QUEUED})


def changed(view: View, heard: Heard[object], known: JobObject, one: HubObject, now: int) -> Decision:
    """What is asked for, of a submitted object as it was seen last."""
    job = view.jobs.get(known.job)
    wish = known.wish
    if wish_of(view.templates.written(one).one) != wish.digest or suspended(one) != wish.suspended or known.refused:
        return Decision()  # it has changed since, or is submitted anew
    if job is None:
        return Decision(again_in=_AGAIN_MS)
    if job.ended or job.cancelling or job.spec is None:
        return Decision()
    words = _held(job, known, now)
    if wish.said != wish.digest and not _only_templates(view, job, one) and not _other_pods(view, job, one):
        if not wish.said and not heard.outcomes:  # by another process: what it said is in the record
            return Decision(calls=(Call(MANIFEST, "", job.id, job.attempt, job.spec.manifest),))
        if not wish.said and failed(heard):
            return Decision(again_in=_HUB_AWAY_MS)
        new = revised(view, job, one, now)
        if wait_ms := _wait(view, new, now):
            # Once, however often it is changed meanwhile.
            later = (Reminder(Wish(one.uid), wait_ms),) if known.wish.later <= now else ()
            return Decision((Step(events=words),) if words else (), reminders=later)
        words += (new.say,)
    return Decision((Step(events=words),)) if words else Decision()


def _wait(view: View, new: Submission, now: int) -> int:
    """Until its tenant may submit so many bytes (ms)."""
    limit = limit_for(new.tenant, view.limits)
    return view.turns.pace.bytes.wait(new.tenant, limit.bytes, new.size, now)


def _only_templates(view: View, job: Job, one: HubObject) -> bool:
    """Whether its owner says nothing new, and what it refers to says it too late, or is gone."""
    if job.spec is None or job.spec.hub is None or not one.refers or job.spec.hub.wish != wish_of(one):
        return False
    return job.state not in _WAITS or bool(view.templates.written(one).wrong)


def _other_pods(view: View, job: Job, one: HubObject) -> bool:
    """Which pods are of a gang stays with the job. What its leader says without the others is nothing."""
    pods = {pod.uid for pod in pods_of(job)}
    return bool(pods) and pods != {pod.uid for pod in view.templates.written(one).templates if pod.kind == POD}


def _held(job: Job, known: JobObject, now: int) -> tuple[Say, ...]:
    if job.held == known.wish.suspended or (known.wish.let_go and not job.held):
        return ()
    return (holding(job, known.wish.suspended, of_hub(job.tenant, known.one.uid), now),)


def revised(view: View, job: Job, one: HubObject, now: int) -> Submission:
    """With the policy that selects it now; without any admission says what it lacks."""
    policies = view.hub_settings.room.policy_for(one)
    along = () if isinstance(policies, Reason) else policies
    written = view.templates.written(one)
    asked = Asked(cleaned(written.one.manifest), along, f"{HUB_CLIENT}{one.uid}")
    return revision(job, asked, of_hub(one.namespace, one.uid), now, ref_of(one, written.templates))


def look_again(view: View, heard: Heard[object], message: Wish) -> Decision:
    """What was not taken over then may be taken over now; of what was handed on nobody kept the manifest. What it
    refers to is looked at again as long as the job waits."""
    known = view.objects.get(message.uid)
    if known is None or (message.templates and not heard.outcomes and not _others(view, known)):
        return Decision()
    one = known.one
    if not heard.outcomes:
        place = Place(one.kind, one.namespace, one.name, one.uid, known.place)
        return Decision(calls=(Call(LOOK, "", known.job, 0, place),))
    if failed(heard):
        return Decision(again_in=_HUB_AWAY_MS)
    found = heard.outcomes[-1].body
    if not isinstance(found, FoundObject) or found.manifest is None:
        return Decision()
    if (found.manifest.get("metadata") or {}).get("uid") != one.uid:
        return Decision()
    return Decision(reminders=(Reminder(ObjectSeen(one.kind, found.manifest, place=found.seen)),))


def _others(view: View, known: JobObject) -> bool:
    job = view.jobs.get(known.job)
    if job is None or job.spec is None or job.spec.hub is None:
        return True  # it is on its way to admission
    return job.state in _WAITS and view.templates.others(known.one.uid, job.spec.hub.templates)


def gone(view: View, uid: str, now: int) -> Decision:
    """The object was deleted. Of a job that ended well or badly the object in the member goes, too. The status of the
    object does not count here: it may be that of an attempt before."""
    left = view.objects.left.get(uid)
    if left is None:
        return Decision()
    one = left.one
    job = view.jobs.get(left.job)
    over = job is not None and job.state in NOWHERE
    with_gang = bool(left.leader) and (job is None or not (job.ended or job.cancelling))
    words: tuple[Say, ...] = ()
    if left.submitted or with_gang:
        words = (cancellation(left.job, one.namespace, of_hub(one.namespace, uid), now),)
    writes = released(left.held) if left.held else ()
    step = (Step(writes, () if over else words),) if writes or (words and not over) else ()
    done = (*left.pending.ids, *left.pending.over)
    said = teller(view, job) if pods_of(job) else None
    told = (Reminder(Tell(said.one.uid, now)),) if said is not None else ()
    return Decision(step, reminders=(Reminder(Unbind(one.namespace, name_of(one), uid)), *told), done=done)


def orphan(view: View, heard: Heard[object], message: Orphan, now: int) -> Decision:
    """Whether the object of a job is gone for certain: if it is not among those that are there, the hub is asked."""
    job = view.jobs.get(message.job)
    if job is None or job.spec is None or job.spec.hub is None or job.state in NOWHERE or job.cancelling:
        return Decision()
    if not view.objects.listed:
        return Decision(again_in=_AGAIN_MS)
    places = tuple(_places(job, job.spec))
    if all(one.uid in view.objects for one in places):
        return Decision(reminders=(Reminder(Tell(job.hub_uid, now + SOON_MS), SOON_MS),))
    if not heard.outcomes:
        return Decision(calls=tuple(Call(LOOK, "", job.id, 0, one) for one in places))
    if failed(heard):
        return Decision(again_in=_HUB_AWAY_MS)
    looked = zip(places, heard.outcomes, strict=False)  # of a job that has ended meanwhile its own is the first
    if not any(_is_gone(made.body, one.uid) for one, made in looked if one.uid not in view.objects):
        return Decision()
    return Decision((Step(events=(cancellation(job.id, job.tenant, of_hub(job.tenant, job.hub_uid), now),)),))


def _places(job: Job, spec: JobSpec) -> Iterator[Place]:
    """Of the objects without which there is no such job: its own, and the other pods of a gang."""
    work = spec.workload
    yield Place(work.key, work.namespace, work.name, job.hub_uid)
    if not job.ended:
        yield from (Place(one.kind, one.namespace, one.name, one.uid) for one in pods_of(job))


def _is_gone(found: object, uid: str) -> bool:
    """A kind that the hub does not serve for now is no deletion."""
    if not isinstance(found, FoundObject):
        return False
    if found.manifest is None:
        return found.served
    return bool((found.manifest.get("metadata") or {}).get("uid") != uid)
