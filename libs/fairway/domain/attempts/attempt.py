"""One try of a job in one cluster, and which object there it was."""

import msgspec
from msgspec import Struct

from fairway.wire.capacity import Slot
from fairway.wire.reasons import Reason


class Attempt(Struct, frozen=True, omit_defaults=True):
    """One try in one cluster, and how it ended (no reason: it has not). `hold` is how room is held in the member;
    `uid` that of its object there, once it was dispatched: another object of that name is not this one's. `claim` is
    the id of that for which it had to go."""

    number: int
    cluster: str
    slots: tuple[Slot, ...] = ()
    started_at: int = 0
    running_at: int = 0
    ended_at: int = 0
    why: Reason | None = None
    hold: str = ""
    uid: str = ""
    claim: str = ""


def newest_with(attempts: tuple[Attempt, ...], **changes: object) -> tuple[Attempt, ...]:
    """The attempts with the newest one changed, unless it has ended already."""
    if not attempts or attempts[-1].ended_at:
        return attempts
    return (*attempts[:-1], msgspec.structs.replace(attempts[-1], **changes))
