"""What an answer says of other tenants' jobs: how large they are, and not who they are."""

import re
from collections.abc import Iterable

import msgspec

from fairway.domain import decision
from fairway.domain.job import Job
from fairway.domain.resources import Resources, add, describe
from fairway.gateway.callers.access import Access
from fairway.gateway.problem import Problem
from fairway.gateway.reader import Reader
from fairway.runtime.ports import Wanted

OTHER = "a job of another tenant"
# As domain.names.job_id makes them: what a sentence that names a job holds.
_ID = re.compile(rb"(?<![a-z0-9-])[a-z0-9][a-z0-9-]{0,39}-[a-z2-7]{10}(?![a-z0-9-])")
# Rows are read in pieces of so many: a page of a list names hundreds.
_PIECE = 500
_job = msgspec.json.Decoder(Job).decode


class Veil:
    """For one caller."""

    def __init__(self, rows: Reader, access: Access) -> None:
        self._rows, self._access = rows, access

    async def over(self, answer: bytes, own: str, named: Iterable[str] = ()) -> bytes:
        """The JSON `answer` about job `own` without the ids of jobs that the caller may not read. `named` are ids that
        stand in it for certain."""
        if await self._access.everywhere("get"):
            return answer
        certain = {name.encode() for name in named} - {own.encode()}
        found = sorted((certain | set(_ID.findall(answer))) - {own.encode()})
        words = await self.words([name.decode() for name in found], {name.decode() for name in certain})
        if not words:
            return answer
        names = b"|".join(re.escape(name.encode()) for name in sorted(words, key=len, reverse=True))
        whole = re.compile(rb"(?<![A-Za-z0-9-])(?:" + names + rb")(?![A-Za-z0-9-])")
        return whole.sub(lambda match: words[match[0].decode()].encode(), answer)

    async def words(self, names: list[str], certain: Iterable[str] = ()) -> dict[str, str]:
        """What stands in place of those of `names` that are jobs of others. One that is in no row is left alone, unless
        it is `certain` to be a job."""
        if not names or await self._access.everywhere("get"):
            return {}
        jobs: dict[str, Job] = {}
        for start in range(0, len(names), _PIECE):
            found = await self._rows.read(Wanted(rows={decision.JOBS: names[start : start + _PIECE]}))
            jobs |= {name: _job(row.data) for (_, name), row in found.rows.items()}
        words = {name: OTHER for name in certain if name not in jobs}
        for name, job in jobs.items():
            if not await self._visible(job.tenant):
                words[name] = _size(job)
        return words

    async def _visible(self, tenant: str) -> bool:
        try:
            return await self._access.jobs("get", tenant) or await self._access.jobs("list", tenant)
        except Problem as problem:
            if problem.body.status == 400:
                return False  # more was asked for this request than one may be the cause of
            raise


def _size(job: Job) -> str:
    total: Resources = {}
    for pods in job.spec.workload.pod_sets if job.spec else ():
        total = add(total, pods.requests, pods.count)
    return f"{OTHER} ({describe(total)})" if total else OTHER
