"""What an answer says of other tenants' jobs: how large they are, and not who they are.

Only what Fairway itself says of them is looked at: where a job stands, and who stands first in a queue. An answer is
never searched for what looks like a job: its owner wrote much of it, and what changed would tell which jobs there are.
"""

import msgspec

from fairway.domain.job import Job
from fairway.domain.quota.charge import total
from fairway.domain.resources import describe
from fairway.explain.wording import listed
from fairway.gateway.callers.access import Access
from fairway.gateway.http.problem import Problem
from fairway.gateway.reader import Reader
from fairway.wire.asks import QueuePlace
from fairway.wire.reasons import Code

OTHER = "a job of another tenant"


class Redaction:
    """For one caller."""

    def __init__(self, rows: Reader, access: Access) -> None:
        self._rows = rows
        self._access = access

    async def place(self, place: QueuePlace) -> QueuePlace:
        """Without the ids of jobs that the caller may not read. A sentence that speaks of one is said anew, without
        what that one waits for: its quota, its clusters, its own words."""
        words = await self.words([*place.ahead, *place.behind])
        ahead, behind = (tuple(words.get(one, one) for one in named) for named in (place.ahead, place.behind))
        # A queue service of an earlier version does not say of whom it speaks.
        unsaid = place.lacks == Code.BEHIND_HEAD and not behind and not await self._access.everywhere("get")
        text = place.text
        if unsaid or behind != place.behind:
            text = f"queue {place.queue} lets nobody pass {listed(behind) if behind else 'those before it'}"
        return msgspec.structs.replace(place, ahead=ahead, text=text, behind=behind)

    async def words(self, names: list[str]) -> dict[str, str]:
        """What stands in place of those of `names`, all of them ids of jobs, that the caller may not read."""
        if not names or await self._access.everywhere("get"):
            return {}
        jobs = await self._rows.jobs(names)
        words = {name: OTHER for name in names if name not in jobs}
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
    asks = total(job.spec.workload) if job.spec else {}
    return f"{OTHER} ({describe(asks)})" if asks else OTHER
