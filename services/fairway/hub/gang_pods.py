"""The pods of a gang beside its leader, for which the job stands. What the record says of the job is theirs, too."""

from fairway.domain.job import Job
from fairway.hub.job_object import JobObject
from fairway.hub.view import View
from fairway.wire.spec import HubRef, Template
from fairway.workloads.gangs.found_gang import POD


def pods_beside(hub: HubRef | None) -> tuple[Template, ...]:
    """Of a job that stands for this object."""
    return tuple(one for one in hub.templates if one.kind == POD) if hub is not None else ()


def pods_of(job: Job | None) -> tuple[Template, ...]:
    if job is None:
        return ()
    return pods_beside(job.spec.hub if job.spec is not None else job.hub)


def followers(view: View, job: Job | None) -> list[JobObject]:
    """Those that are there."""
    found = (view.objects.get(one.uid) for one in pods_of(job))
    return [one for one in found if one is not None and job is not None and one.leader and one.job == job.id]


def join(view: View, pod: Template, leader: str, job: str) -> None:
    """The pod is one of that job, which stands for its `leader`. A pod that has a job stays with that."""
    known = view.objects.get(pod.uid)
    if known is None or known.submitted or known.leader:
        return
    known.leader = leader
    known.job = job
    known.shown.wanted = None
    known.shown.attempt = 0
    known.shown.version = ""
    view.turns.put(known.one)


def behind(view: View, known: JobObject) -> bool:
    """Whether the object, or a pod that goes with it, does not show yet what follows from what was said."""
    pods = followers(view, view.jobs.get(known.job))
    return any(one.shown.wanted is not None for one in (known, *pods))


def teller(view: View, job: Job | None) -> JobObject | None:
    """The object that keeps the words on a job until all show what follows from them: its own, or when that is gone
    the first of the others."""
    if job is None:
        return None
    known = view.objects.get(job.hub_uid)
    return known if known is not None else next(iter(followers(view, job)), None)


def teller_of(view: View, known: JobObject) -> JobObject | None:
    """Who keeps the words that this object shows."""
    return teller(view, view.jobs.get(known.job)) if known.leader else known
