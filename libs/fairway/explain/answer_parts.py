"""The parts of an answer to "why", before they are put together."""

from msgspec import Struct


class Standing(Struct, frozen=True):
    """`where` continues the job's name, `because` stands alone; `moves` are conditions, any one of which would move
    it; `next_event` is the verb on the bus that would say so; `timer` what happens at `timer_at` (ms) without it."""

    reason: str
    where: str
    because: str
    moves: tuple[str, ...] = ()
    next_event: str = ""
    timer: str = ""
    timer_at: int = 0
