"""How much a tenant may submit: how many of its jobs may be pending, and how many may come in a second. Pure."""

from collections.abc import Mapping

from msgspec import Struct

from fairway.domain.job import Job, State
from fairway.domain.quota.tree import QuotaNode, attributes, leaves
from fairway.wire.reasons import Code, Reason

# Attributes of a node of the quota tree; the one nearest to the tenant's leaf counts.
MAX_PENDING = "fairway.io/max-pending"
MAX_RATE = "fairway.io/max-submit-rate"
# In place of a tenant's name: whoever is in no leaf. Each of their jobs is refused, and is in the record all the same.
_ELSEWHERE = ""
# Tenants whose last submissions still count, before those that do no more are forgotten.
_MOST = 10_000
_PENDING = frozenset({State.ADMITTED, State.QUEUED, State.DEQUEUED, State.PLACED, State.RESERVED})


def pending(job: Job) -> bool:
    """Admitted, and in no cluster."""
    return job.state in _PENDING


class Limits(Struct, frozen=True):
    """`pending` jobs that are admitted and in no cluster, and submissions a second (0: no limit)."""

    pending: int = 0
    rate: int = 0


NONE = Limits()


def limits(tree: QuotaNode | None) -> dict[str, Limits]:
    """By tenant, of those that have any; of namespaces in no leaf those of the root."""
    elsewhere = _given(tree.attributes) if tree else NONE
    found = {} if elsewhere == NONE else {_ELSEWHERE: elsewhere}
    for path in leaves(tree) if tree else ():
        mine = _given(attributes(path))
        if mine != NONE:
            found |= dict.fromkeys(path[-1].namespaces, mine)
    return found


def limit_for(tenant: str, found: Mapping[str, Limits]) -> Limits:
    """Of one tenant, in what `limits` found."""
    return found.get(tenant) or found.get(_ELSEWHERE, NONE)


def _given(attributes: Mapping[str, str]) -> Limits:
    return Limits(int(attributes.get(MAX_PENDING, 0)), int(attributes.get(MAX_RATE, 0)))


def too_many(tenant: str, limit: Limits, count: int) -> Reason | None:
    """Why one more job may not be pending; None: it may."""
    if not limit.pending or count < limit.pending:
        return None
    text = f"{count} jobs of {tenant} are pending, and {limit.pending} may be"
    remedy = f"submit it anew when some have gone to a cluster, or have {MAX_PENDING} of its quota raised"
    return Reason(Code.TOO_MANY_PENDING, text, "metadata.namespace", remedy)


def too_fast(tenant: str, limit: Limits) -> Reason:
    text = f"more than {limit.rate} jobs a second were submitted for {tenant}"
    remedy = f"submit them more slowly, or have {MAX_RATE} of its quota raised"
    return Reason(Code.TOO_FAST, text, "metadata.namespace", remedy)


class SubmissionRate:
    """What each tenant has submitted of late: at most its rate, and as much at once after a pause of a second. `used`
    says when each has used up what it was given, in µs."""

    def __init__(self) -> None:
        self.used: dict[str, int] = {}

    def wait(self, tenant: str, rate: int, now: int) -> int:
        """Milliseconds until one more may be submitted; 0: now, and it counts as submitted. `now` in ms."""
        if not rate:
            return 0
        at = now * 1_000
        each = 1_000_000 // rate
        until = max(self.used.pop(tenant, 0), at)
        over = until + each - at - 1_000_000
        self.used[tenant] = until if over > 0 else until + each
        if len(self.used) > _MOST:
            self.used = {name: one for name, one in self.used.items() if one > at}
        return max(0, -(-over // 1_000))
