"""A job's claim on room that others have, as its row keeps it; and what it makes of the quota meanwhile. Pure."""

from collections.abc import Mapping

from msgspec import Struct

from fairway.domain.quota.charge import quota_key
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import Resources
from fairway.wire.capacity import Slot
from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Reason

# How long the answer to a claim is waited for, and how long its room is kept beyond the grace of those who leave (ms).
ANSWER_MS = 30_000
KEPT_MS = 60_000
# A claim that came to nothing is followed by another one after so long, then twice as long, and so on.
_FIRST_MS = 2_000
_LONGEST_MS = 60_000


class Claim(Struct, frozen=True, omit_defaults=True):
    """The newest claim of a waiting job, `open` or over (then `why`, and not followed by another one before `again`).
    `at` is when it began (as is `begun`), or was nominated: then it has `cluster` and `slots`. So many attempts were
    `evicted` for it. Times in ms since 1970."""

    number: int
    open: bool = True
    causes: tuple[Cause, ...] = ()
    level: int = 0
    guarantor: str = ""
    at: int = 0
    begun: int = 0
    until: int = 0
    short: dict[str, int] = {}
    cluster: str = ""
    slots: tuple[Slot, ...] = ()
    victims: int = 0
    evicted: int = 0
    why: Reason | None = None
    again: int = 0


def again_at(number: int, now: int) -> int:
    """When another claim may follow one of this number that came to nothing."""
    return now + min(_FIRST_MS << min(number - 1, 10), _LONGEST_MS)


def hold_key(job: str, attempt: int, number: int) -> str:
    """The key under which the ledger keeps what is nominated for a claim. No attempt is named like this."""
    return f"{job}/{attempt}-claim-{number}"


def is_claims(key: str) -> bool:
    """Whether a key of the ledger is a claim's, not an attempt's."""
    return "-claim-" in key.rpartition("/")[2]


def within_min(node: QuotaNode, usage: Mapping[str, int], asks: Resources) -> bool:
    """Whether the node stays within its min with this: only then it asks back what it has lent."""
    return all(
        usage.get(quota_key(node.path, name), 0) + asks[name] <= least
        for name, least in node.min.items()
        if asks.get(name)
    )
