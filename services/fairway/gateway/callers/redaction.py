"""What an answer says of other jobs: who they are where the caller may see them, else only how many they are.

Only what Fairway itself says of them is looked at: where a job stands, and who stands first in a queue. An answer is
never searched for what looks like a job: its owner wrote much of it, and what changed would tell which jobs there are.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from fairway.domain.job import Job
from fairway.domain.quota.charge import total
from fairway.domain.resources import describe
from fairway.explain.wording import listed
from fairway.gateway.callers.access import Access
from fairway.gateway.http.problem import Problem
from fairway.gateway.reader import Reader
from fairway.wire.asks import QueuePlace
from fairway.wire.reasons import Code, Reason

OTHER = "a job of another tenant"


class Redaction:
    """For one caller."""

    def __init__(self, rows: Reader, access: Access) -> None:
        self._rows = rows
        self._access = access

    async def places(self, places: Sequence[QueuePlace]) -> list[QueuePlace]:
        """With the names of jobs in place of their ids. For what one waits for whose turn is first (its quota, its
        clusters, its own words) there has to be nobody before it whom the caller may not see."""
        every = await self._access.everywhere("get")
        named = {name for place in places for name in (*place.ahead, *place.behind)}
        names = await self._names(named)
        return [_told(place, names) if place.gates else _of_before(place, names, every) for place in places]

    async def _names(self, ids: Iterable[str]) -> dict[str, str]:
        """Of those jobs that the caller may see."""
        found = await self._rows.jobs(ids) if ids else {}
        return {name: _name(job) for name, job in found.items() if await self._visible(job.tenant)}

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


def _told(place: QueuePlace, names: Mapping[str, str]) -> QueuePlace:
    behind = _shown(place.behind, names)
    first = f" ({place.head})" if place.head and all(one in names for one in place.behind) else ""
    gates = place.gates
    if behind:
        gates = tuple(_behind(one, f"{listed(behind)}{first}") for one in gates)
    text = "; and ".join(one.text for one in gates)
    shown = _shown(place.ahead, names)
    return msgspec.structs.replace(place, ahead=shown, behind=behind, text=text, gates=gates, head="")


def _behind(gate: Reason, first: str) -> Reason:
    if gate.code is not Code.BEHIND_HEAD:
        return gate
    return msgspec.structs.replace(gate, text=f"{gate.text}; before it: {first}")


def _of_before(place: QueuePlace, names: Mapping[str, str], every: bool) -> QueuePlace:
    """As a queue service of an earlier version has it: its sentence names jobs, and it may not say which."""
    behind = _shown(place.behind, names)
    unsaid = place.lacks == Code.BEHIND_HEAD and not behind and not every
    text = place.text
    if unsaid or any(one not in names for one in place.behind):
        text = f"queue {place.queue} lets nobody pass {listed(behind) if behind else 'those before it'}"
    return msgspec.structs.replace(place, ahead=_shown(place.ahead, names), text=text, behind=behind)


def _shown(ids: Sequence[str], names: Mapping[str, str]) -> tuple[str, ...]:
    """`team-a/train, 3 jobs of other tenants`."""
    seen = [names[one] for one in ids if one in names]
    others = len(ids) - len(seen)
    return (*seen, OTHER if others == 1 else f"{others} jobs of other tenants") if others else tuple(seen)


def _name(job: Job) -> str:
    return f"{job.tenant}/{(job.spec.workload.name if job.spec else job.name) or job.id}"


def _size(job: Job) -> str:
    asks = total(job.spec.workload) if job.spec else {}
    return f"{OTHER} ({describe(asks)})" if asks else OTHER
