"""Which attempt of a job a member's object is: told by its place, its uid and its seal, never by labels alone. Pure.

Labels are anybody's to write: an object with those of another tenant's job, in another namespace, under another name,
of another kind or with another uid than `dispatched` said, speaks for nobody.
"""

from typing import Any

import msgspec

from fairway.domain.job import Job, State
from fairway.watcher.object_checks import ObjectDoubt
from fairway.wire import jobs as wire
from fairway.workloads.member_copy import applied_for, attempt_labels
from fairway.workloads.seal import seal_of

_STARTED = (State.DISPATCHED, State.RUNNING)


class Observed(wire.JobMessage, frozen=True, kw_only=True, tag="observed"):
    """Local: an object as a member cluster shows it, of this kind (`Kind.group/version`), which says that it is of an
    attempt of ours. `gone`: it was deleted; `doubt`: somebody has written to its spec; `place`: of what
    this watcher has seen, in order, from 1; `sealed`: the job and the attempt of its seal, which is good; `stripped`:
    its labels say something else."""

    cluster: str
    kind: str
    manifest: dict[str, Any]
    gone: bool = False
    doubt: ObjectDoubt | None = None
    place: int = 0
    sealed: tuple[str, int] | None = None
    stripped: bool = False

    @property
    def whole(self) -> bool:
        """It is there, as it can be found by its labels."""
        return not self.gone and not self.stripped


def uid_of(manifest: dict[str, Any]) -> str:
    return str((manifest.get("metadata") or {}).get("uid") or "")


# Of a pod's spec; a manifest may have thousands of them.
_PODS = frozenset({"containers", "initContainers", "volumes"})


def without_pods(manifest: dict[str, Any]) -> dict[str, Any]:
    """The object without what its pods run, and without who wrote which of its fields."""
    meta = {key: value for key, value in (manifest.get("metadata") or {}).items() if key != "managedFields"}
    return {**manifest, "metadata": meta, "spec": _without(manifest.get("spec"))}


def _without(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _without(value) for key, value in part.items() if key not in _PODS}
    return [_without(one) for one in part] if isinstance(part, list) else part


def attempt_of(job: Job, seen: Observed) -> int:
    """The number of the attempt whose object it is, or may be; 0 when it is no object of the job.

    The uid decides where it is known. Where it is not (it was never dispatched, or by a version that did not keep it),
    the seal does; and without any seal what the API server keeps of who made it, for objects of before there were
    seals."""
    if job.spec is None or not _in_place(job, seen):
        return 0
    uid = uid_of(seen.manifest)
    for tried in job.attempts:
        if uid and tried.uid == uid:
            return tried.number
    number = seen.sealed[1] if seen.sealed and seen.sealed[0] == job.id else _of_before_seals(job, seen)
    if not 0 < number <= job.attempt:
        return 0  # nobody authorised it
    known = any(tried.number == number and tried.uid for tried in job.attempts)
    # The same attempt applied once more is ours to remove when the attempt is over, and until then it says nothing.
    return 0 if known and number == job.attempt and not job.ended else number


def identified(job: Job, seen: Observed) -> Observed | None:
    """What was seen of an object, said of the attempt whose it is; None when it is no object of the job."""
    number = attempt_of(job, seen)
    return msgspec.structs.replace(seen, attempt=number) if number else None


def unknown(job: Job) -> bool:
    """Whether the present attempt is somewhere, and its row does not say which object it is."""
    return job.state in _STARTED and not job.uid


def _in_place(job: Job, seen: Observed) -> bool:
    assert job.spec is not None, "asked of jobs that were admitted"
    work = job.spec.workload
    name = (seen.manifest.get("metadata") or {}).get("name")
    return (seen.kind, seen.tenant, name) == (work.key, work.namespace, work.name)


def _of_before_seals(job: Job, seen: Observed) -> int:
    if seal_of(seen.manifest):
        return 0  # of another fleet, or copied
    return seen.attempt if applied_for(seen.manifest, attempt_labels(job.id, seen.attempt)) else 0
