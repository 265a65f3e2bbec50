"""Clusters that are silent together: is it they, or is it us? A freeze of evictions as a value, and when it begins and
ends.

One silent cluster is a cluster that is away. When several are, and they are more than half, what they have in common is
the likelier fault: the bus, the network, our own credentials or clocks. Giving up what runs there would start it all
anew for nothing, and use up its attempts. Of one cluster alone, and of one of two, nobody can tell whose fault it is.
"""

from collections.abc import Iterable

from msgspec import Struct

from fairway.wire.reasons import Code, Reason

# The row of table `freeze` that has it while there is one.
EVICTIONS = "evictions"
# The same limit as the scheduler's: six heartbeats of an agent.
SILENT_MS = 30_000
_LEAST = 2


class Freeze(Struct, frozen=True, omit_defaults=True):
    """Since when, how many clusters were silent `of` how many when it was looked at last. `back_at`: reports of half of
    them are back since then (0: they are not). Times in ms since 1970."""

    since: int
    silent: int
    of: int
    back_at: int = 0

    @property
    def why(self) -> Reason:
        if self.back_at:
            text = "the clusters report again; nothing is given up until what happened there was seen"
            return Reason(Code.FLEET_SILENT, text)
        text = f"{self.silent} of {self.of} clusters are silent at once: nothing is given up while it may be our fault"
        return Reason(Code.FLEET_SILENT, text, remedy="look at NATS, the network and the agents before the clusters")


def freeze(before: Freeze | None, heard: Iterable[int], now: int, settle_ms: int) -> Freeze | None:
    """The freeze after a look at when each cluster was heard last (0: not since this working set was made). It ends
    `settle_ms` after the reports are back: until then not everything was seen that happened meanwhile."""
    times = list(heard)
    silent = sum(at < now - SILENT_MS for at in times)
    of = len(times)
    if silent >= _LEAST and 2 * silent > of:
        return Freeze(before.since if before else now, silent, of)
    if before is None:
        return None
    back_at = before.back_at or now
    return Freeze(before.since, silent, of, back_at) if now < back_at + settle_ms else None
