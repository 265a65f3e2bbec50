"""A waiting job claims room that others have, and how that ends: for the job whose claim it is, and for who is evicted.

A claim is numbered within its job. Whose attempts are to go for it stands in no message of its own tenant
(`evictions.py`): one tenant never learns another's jobs.
"""

from enum import StrEnum

from msgspec import field

from fairway.wire.capacity import Slot
from fairway.wire.envelope import Count, JobMessage, Moment
from fairway.wire.lifecycle import Lost
from fairway.wire.reasons import Reason


class Cause(StrEnum):
    """By what right others are evicted: the guaranteed share of a quota node, or a higher priority in one leaf."""

    RECLAIM = "Reclaim"
    PREEMPTION = "Preemption"


class Claimed(JobMessage, frozen=True, kw_only=True, tag="claimed"):
    """The job waits in vain, others would give way to it, and it was patient. `guarantor` is the quota node in whose
    min it is (empty: in none's); quota that becomes free is its own until the claim ends, `until` at the latest. Of
    what it asks for it lacks `short` in its quota, by `<node>|<resource>` (nothing: it lacks room alone)."""

    verb = "claimed"
    claim: Count
    causes: tuple[Cause, ...]
    level: int = 0
    guarantor: str = ""
    until: Moment
    short: dict[str, int] = field(default_factory=dict)


class Nominated(JobMessage, frozen=True, kw_only=True, tag="nominated"):
    """These nodes of this cluster are kept for the job: for nobody else from the commit that says so. `victims` is how
    many attempts end for it, of which so many are `evicted` (the others were on their way out); it is let go when all
    of its room is free, `until` at the latest."""

    verb = "nominated"
    claim: Count
    cluster: str
    slots: tuple[Slot, ...]
    victims: Count
    evicted: Count = 0
    until: Moment


class Unclaimed(JobMessage, frozen=True, kw_only=True, tag="unclaimed"):
    """The claim is over without a place for the job, and why. Another one follows no sooner than `again`."""

    verb = "unclaimed"
    claim: Count
    why: Reason
    again: Moment = 0


class Evicted(Lost, frozen=True, kw_only=True, tag="evicted"):
    """The attempt was ended to make room for a job of `leaf` (empty: the fleet has no quota tree), by that job's claim;
    `claim` is an id that tells claims apart and names no job. `level` and `priority` are the job's for which it was,
    `own_level` and `own_priority` those of this one."""

    verb = "evicted"
    claim: str
    right: Cause
    leaf: str = ""
    level: int = 0
    priority: int = 0
    own_level: int = 0
    own_priority: int = 0
