"""Evictions as the record tells them, and for which job each was, as far as that is kept. Pure."""

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from fairway.domain.events import claim_id
from fairway.wire import jobs as wire
from fairway.wire.preemption.evictions import Evict


class Eviction(Struct, frozen=True, omit_defaults=True):
    """An attempt of `job` that was ended, by which right (`cause`) and for a job of which `leaf`. `level` and
    `priority` are those of whoever got the room, `own_level` and `own_priority` this one's. `beneficiary` is the job
    whose claim it was, and `candidates` are those of whom it was chosen: empty and 0 where the decision is not kept,
    or not shown."""

    at: int
    cause: str
    job: str
    tenant: str
    attempt: int
    cluster: str
    claim: str
    leaf: str = ""
    level: int = 0
    priority: int = 0
    own_level: int = 0
    own_priority: int = 0
    text: str = ""
    beneficiary: str = ""
    candidates: int = 0


class EvictionFilter(Struct, frozen=True):
    """From `since` on (ms since 1970), of the `claim`, of the `job` that was evicted or got the room: each by its id or
    the beginning of that."""

    since: int = 0
    claim: str = ""
    job: str = ""

    def takes(self, one: Eviction) -> bool:
        jobs = (one.job, one.beneficiary)
        about = not self.job or any(name.startswith(self.job) for name in jobs if name)
        return one.at >= self.since and one.claim.startswith(self.claim) and about


def eviction_of(message: wire.Evicted, decisions: dict[str, Evict]) -> Eviction:
    decided = decisions.get(message.claim)
    return Eviction(
        message.at,
        message.right.value,
        message.job,
        message.tenant,
        message.attempt,
        message.cluster,
        message.claim,
        message.leaf,
        message.level,
        message.priority,
        message.own_level,
        message.own_priority,
        message.why.text,
        decided.job if decided is not None else "",
        decided.looked if decided is not None else 0,
    )


def by_claim(decisions: Iterable[Evict]) -> dict[str, Evict]:
    return {claim_id(one.job, one.attempt, one.claim): one for one in decisions}


def newest_first(found: Iterable[Eviction], asked: EvictionFilter) -> list[Eviction]:
    return sorted(filter(asked.takes, found), key=lambda one: (-one.at, one.job, one.attempt))


def of_story(record: Iterable[object]) -> list[Eviction]:
    """Of one job, as its story has it: of what others there are it says nothing."""
    said = (one for one in record if isinstance(one, dict) and one.get("type") == wire.Evicted.verb)
    return [eviction_of(msgspec.convert(one, wire.Evicted), {}) for one in said]
