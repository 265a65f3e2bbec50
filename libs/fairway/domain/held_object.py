"""An object of the hub that is held there: nothing of it is submitted yet, so that no message and no job tells of it.

The hub service holds it and keeps its rows, all of them in the commit that begins or ends the holding. They are made
again from the hub's objects, never from the record.
"""

from msgspec import Struct

from fairway.domain import decision
from fairway.domain.decision import Put
from fairway.wire.reasons import Reason

# The state of what is held, where jobs are listed. No job has it.
STATE = "held"


class HeldObject(Struct, frozen=True, omit_defaults=True):
    """`kind` is the key of its kind, `Kind.group/version`; `since` in milliseconds since 1970. `job` is the id of the
    job that will stand for it, as far as it is known; `holder` the id of another job, live, that has its name."""

    kind: str
    namespace: str
    name: str
    uid: str
    since: int
    why: Reason
    job: str = ""
    holder: str = ""

    @property
    def plain(self) -> str:
        return self.kind.partition(".")[0]

    @property
    def id(self) -> str:
        """By which it is asked for."""
        return self.job or self.uid


def kept(one: HeldObject) -> tuple[Put, ...]:
    """Its rows: itself by its uid, and its uid by the job's id."""
    by_job = (Put(decision.HELD_JOBS, one.job, one.uid),) if one.job else ()
    return Put(decision.HELD, one.uid, one), *by_job


def released(one: HeldObject) -> tuple[Put, ...]:
    """It is submitted, or gone from the hub. `one` is as it was kept."""
    by_job = (Put(decision.HELD_JOBS, one.job, None),) if one.job else ()
    return Put(decision.HELD, one.uid, None), *by_job
