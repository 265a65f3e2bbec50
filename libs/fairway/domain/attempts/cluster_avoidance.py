"""What the end of an attempt says: whether it is counted, and for how long it speaks against its cluster."""

from collections.abc import Iterable

from fairway.domain.attempts.attempt import Attempt
from fairway.domain.batch_resources import batch_pod_sets
from fairway.wire.reasons import Code
from fairway.wire.workload import Workload

# An attempt that ended so was never applied, was taken back by its owner, or made room for others: it spends nothing of
# the attempts that its policy allows.
UNSPENT = frozenset(
    {
        Code.RESERVATION_EXPIRED,
        Code.ROOM_TAKEN,
        Code.WEBHOOK_FAILED,
        Code.NAMESPACE_TERMINATING,
        Code.SUSPENDED,
        Code.RECLAIMED,
        Code.PREEMPTED,
    }
)
# So does one whose batch resources became less under it, as often as this: a job that starts nowhere ends at last.
MOST_SHRUNK = 10
# For this long (ms) the job goes elsewhere then.
_SHRUNK_AVOID_MS = 600_000
# These pass without the job: the member is asked again after this long (ms), then after twice as long, and so on.
_PASSING = (Code.ROOM_TAKEN, Code.WEBHOOK_FAILED, Code.NAMESPACE_TERMINATING)
_FIRST_MS = 2_000


def avoided_for(code: Code, avoid: int, before: int) -> int:
    """Milliseconds. `avoid` is what the policy says for failures; `before` how often an attempt of this job has ended
    so in the member. It may know of something that its agent does not see, and is not asked in vain for ever."""
    if code in (Code.RESERVATION_EXPIRED, Code.SUSPENDED, Code.RECLAIMED, Code.PREEMPTED):
        return 0  # the reservation was lost, nobody dispatched it, its owner holds it, or others go first there
    if code is Code.BATCH_SHRUNK:
        return _SHRUNK_AVOID_MS
    if code in _PASSING:
        return min(avoid, _FIRST_MS << min(before, 20))
    return avoid


def avoided(avoid: dict[str, int], attempts: Iterable[Attempt], work: Workload) -> dict[str, int]:
    """Of the clusters that a job avoids those that it avoids for `work`, and until when: where only batch resources
    became less, there may be cpu and memory for one that may have either."""
    if not avoid or not work.batch_first or batch_pod_sets(work):
        return avoid
    last = {one.cluster: one.why for one in attempts}
    return {
        name: until
        for name, until in avoid.items()
        if (why := last.get(name)) is None or why.code is not Code.BATCH_SHRUNK
    }
