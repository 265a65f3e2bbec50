"""What comes of looking for room in what others hold."""

from msgspec import Struct

from fairway.wire.capacity import Slot
from fairway.wire.preemption.evictions import Victim
from fairway.wire.reasons import Reason


class Relief(Struct, frozen=True):
    """Where the gang goes once these victims are gone, in an order in which each may go. `looked` is of how many
    candidates they were chosen."""

    cluster: str
    slots: tuple[Slot, ...]
    victims: tuple[Victim, ...]
    looked: int


class NoRelief(Struct, frozen=True):
    """Nobody is evicted, and why. If all went that may, `missing` pods still had no room in `cluster`, which is the
    nearest to a yes; both are empty where no cluster comes into question, or room is not what lacks."""

    why: Reason
    looked: int
    cluster: str = ""
    missing: int = 0
