"""How a claim ends, and whether those who were evicted for it were evicted in vain. Pure."""

from fairway.domain.job import ends
from fairway.wire import jobs as wire
from fairway.wire.jobs import JobMessage
from fairway.wire.reasons import Code

# Its job got the room that was kept for it, or other room in that cluster.
USED = "used"


def claim_end(message: JobMessage, attempt: int, cluster: str) -> str:
    """How this message of a job ends its open claim, which is of that attempt and has room in the `cluster` (empty: in
    none yet): `used`, the code of its reason, or how the job ended; empty when it does not."""
    if isinstance(message, wire.Reserved):
        return USED if message.cluster == cluster else Code.CLAIM_NOT_NEEDED
    if isinstance(message, wire.Unclaimed):
        return message.why.code
    if ends(message):
        return message.verb
    return "another attempt" if isinstance(message, wire.Queue) and message.attempt != attempt else ""


def in_vain(end: str) -> bool:
    """Whether who was evicted for a claim that ended so was evicted for nothing; `end` is empty while it is open."""
    return end not in ("", USED)
