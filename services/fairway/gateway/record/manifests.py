"""GET /v1/jobs/{id}/manifest: the manifest as the record has it, for who may read the job's object on the hub."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from fairway.domain.job import Job
from fairway.gateway.audit.audit_trail import AuditTrail
from fairway.gateway.callers.access import access_of
from fairway.gateway.callers.rights_of_kinds import reading
from fairway.gateway.http.problem import Problem, answer
from fairway.gateway.http.submit import Door
from fairway.runtime.ports import Bus
from fairway.runtime.record.manifests import manifest_of

Find = Callable[[Request], Awaitable[Job]]


class JobManifest(Struct, frozen=True):
    """What counts for the job now. `sha256` is of the manifest and of the policies that came along."""

    job: str
    sha256: str
    manifest: dict[str, Any]


class Manifests:
    """`find` is the job that is asked for, if its caller may see it."""

    def __init__(self, bus: Bus, find: Find, door: Door, trail: AuditTrail) -> None:
        self._bus = bus
        self._find = find
        self._door = door
        self._trail = trail

    async def one(self, request: Request) -> Response:
        access = access_of(request)
        job = await self._find(request)
        ask = reading(job)
        await access.need(ask)
        ref = job.spec.manifest if job.spec else job.submitted_as
        found = await manifest_of(self._bus, ref) if ref is not None else None
        if ref is None or found is None:
            text = f"the record has no manifest of job {job.id} any more"
            raise Problem(410, text, f"`fairway story {job.id}` says when it was removed, and its sha256")
        # Nobody is shown what nobody can tell later that they saw.
        await self._door.publish([self._trail.did(access, ask)])
        return answer(JobManifest(job.id, ref.sha256, found))
