"""What a job's binding says of its evictions: that it made room for others, until its next attempt runs. Pure."""

from msgspec import Struct

from fairway.domain.job import Job
from fairway.explain import wording
from fairway.explain.claims import EVICTED, KEEPS


class MadeRoom(Struct, frozen=True):
    """`true` until the next attempt runs, or the job ends."""

    true: bool
    reason: str
    text: str


def made_room(job: Job) -> MadeRoom | None:
    """None of a job that was never evicted."""
    evicted = [at for at, one in enumerate(job.attempts) if one.why is not None and one.why.code in EVICTED]
    if not evicted:
        return None
    last = job.attempts[evicted[-1]]
    assert last.why is not None, "that is how it was found"
    after = job.attempts[evicted[-1] + 1 :]
    if job.ended or any(one.running_at for one in after):
        return MadeRoom(False, job.state.value.capitalize(), f"evicted {wording.many(len(evicted), 'time')} before")
    where = f"attempt {last.number} in {last.cluster} was ended"
    often = f"; evicted {wording.many(len(evicted), 'time')} by now" if len(evicted) > 1 else ""
    return MadeRoom(True, last.why.code.value, f"{where}: {last.why.text}; {KEEPS}{often}")
