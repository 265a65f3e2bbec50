"""How much a tenant may submit: how many of its jobs may be pending, how many may come in a second, and how many bytes
in an hour. Pure."""

from collections.abc import Mapping

from msgspec import Struct

from fairway.domain.job import Job, State
from fairway.domain.quota.tree import QuotaNode, attributes, leaves
from fairway.wire.reasons import Code, Reason

# Attributes of a node of the quota tree; the one nearest to the tenant's leaf counts.
MAX_PENDING = "fairway.io/max-pending"
MAX_RATE = "fairway.io/max-submit-rate"
MAX_BYTES = "fairway.io/max-submit-bytes-per-hour"
# With less of it (bytes) no manifest of a size that is taken would ever go.
LEAST_BYTES = 1 << 20
HOUR_MS = 3_600_000
# In place of a tenant's name: whoever is in no leaf. Each of their jobs is refused, and is in the record all the same.
_ELSEWHERE = ""
# Tenants whose last submissions still count, before those that do no more are forgotten.
_MOST = 10_000
_PENDING = frozenset({State.ADMITTED, State.QUEUED, State.DEQUEUED, State.PLACED, State.RESERVED})


def pending(job: Job) -> bool:
    """Admitted, and in no cluster."""
    return job.state in _PENDING


class Limits(Struct, frozen=True):
    """`pending` jobs that are admitted and in no cluster, submissions a second, and bytes of manifests and policies an
    hour (0: no limit)."""

    pending: int = 0
    rate: int = 0
    bytes: int = 0


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
    return Limits(*(int(attributes.get(name, 0)) for name in (MAX_PENDING, MAX_RATE, MAX_BYTES)))


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


def too_many_bytes(tenant: str, limit: Limits, size: int) -> Reason:
    text = f"{size} bytes more are beyond the {limit.bytes} that {tenant} may submit in an hour"
    remedy = f"submit it anew later, or with less data in the manifest, or have {MAX_BYTES} of its quota raised"
    return Reason(Code.TOO_MANY_BYTES, text, "metadata.namespace", remedy)


class Refusal(Struct, frozen=True):
    """Why not now, and after how many milliseconds to ask again."""

    why: Reason
    wait_ms: int


class Allotment:
    """What each tenant has taken of late of an amount that it is given anew in each `window_ms`: at most so much, and
    as much at once after a pause of that length. `used` says when each has used up what it was given, in µs."""

    def __init__(self, window_ms: int) -> None:
        self._window = window_ms * 1_000
        self.used: dict[str, int] = {}

    def wait(self, tenant: str, most: int, amount: int, now: int) -> int:
        """Milliseconds until so much may be taken; 0: now. An amount beyond `most` waits for all of it. `now` in ms.
        Without a limit nobody waits, whatever was taken while there was one."""
        if not most:
            return 0
        at = now * 1_000
        over = max(self.used.get(tenant, 0), at) + self._time(most, amount) - at - self._window
        return max(0, -(-over // 1_000))

    def take(self, tenant: str, most: int, amount: int, now: int) -> None:
        at = now * 1_000
        if most:
            self.used[tenant] = max(self.used.pop(tenant, 0), at) + self._time(most, amount)
        if len(self.used) > _MOST:
            self.used = {name: one for name, one in self.used.items() if one > at}

    def _time(self, most: int, amount: int) -> int:
        """In which so much is given anew (µs)."""
        return min(amount, most) * self._window // most if most else 0


class SubmissionPace:
    """What each tenant has submitted of late: `jobs` by the second, `bytes` by the hour."""

    def __init__(self) -> None:
        self.jobs = Allotment(1_000)
        self.bytes = Allotment(HOUR_MS)

    def copy(self) -> "SubmissionPace":
        found = SubmissionPace()
        found.jobs.used = dict(self.jobs.used)
        found.bytes.used = dict(self.bytes.used)
        return found

    def refusal(self, tenant: str, limit: Limits, size: int, now: int) -> Refusal | None:
        """Why a submission of so many bytes has to wait; None: it may come, and counts."""
        if wait_ms := self.bytes.wait(tenant, limit.bytes, size, now):
            return Refusal(too_many_bytes(tenant, limit, size), wait_ms)
        if wait_ms := self.jobs.wait(tenant, limit.rate, 1, now):
            return Refusal(too_fast(tenant, limit), wait_ms)
        self.count(tenant, limit, size, now)
        return None

    def count(self, tenant: str, limit: Limits, size: int, now: int) -> None:
        """One that was submitted."""
        self.bytes.take(tenant, limit.bytes, size, now)
        self.jobs.take(tenant, limit.rate, 1, now)
