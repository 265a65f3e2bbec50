"""Who of the fleet has not reported, and whether evictions are frozen for it."""

from collections.abc import Collection, Mapping

import msgspec
import structlog
from msgspec import Struct

from fairway.domain.eviction_freeze import Freeze, freeze
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Row
from fairway.watcher.missing import SERVICE
from fairway.wire.capacity import ClusterInfo

log = structlog.get_logger()
# A watch that stalled is noticed when its silence is no longer trusted (FAIRWAY_WATCH_SILENCE: 70 s), and its kind is
# then listed, which takes at most so long with what follows from it (ms).
LIST_MS = 20_000
SETTLE_MS = 70_000 + LIST_MS
_info = msgspec.json.Decoder(ClusterInfo).decode
_frozen = msgspec.json.Decoder(Freeze | None).decode


class Roster(Struct, frozen=True):
    """Names of clusters: `members` are watched here, of `introduced` ones the agents have said that they are there."""

    members: Collection[str] = ()
    introduced: Collection[str] = ()


class FleetSilence:
    """Implements `missing.KnownSilence`."""

    def __init__(self, roster: Roster, meter: Meter | None, settle_ms: int) -> None:
        self._roster = roster
        self._meter = meter
        self._settle_ms = settle_ms
        self.freeze: Freeze | None = None
        self.frozen: Freeze | None = None
        self.frozen_rev = 0
        self.unsure = False
        self._heard: dict[str, int] = {}
        self._awaited: dict[str, int] = {}
        self._lasting: Freeze | None = None

    def forget(self) -> None:
        """The store was lost: who had reported to it. A freeze is not over with it."""
        self._heard.clear()
        self._awaited.clear()
        self._lasting = self.freeze

    def hear(self, cluster: str, row: Row | None) -> None:
        if row is not None:
            self._heard[cluster] = _info(row.data).observed_at
        else:
            self._heard.pop(cluster, None)

    def follow(self, row: Row | None, held: Mapping[str, set[str]], now: int) -> None:
        """Who has not reported to this working set is silent as well: a member with jobs at once, another one when it
        is known by name for as long. Until then nobody is sure of most of the fleet, which gives nothing up either.
        `row` has the freeze that is in force."""
        before = self.frozen
        self.frozen, self.frozen_rev = (_frozen(row.data), row.rev) if row else (None, 0)
        missing = {name for name in self._roster.members if name not in self._heard}
        busy = {name for name in missing if held.get(name)}
        awaited = {*self._roster.introduced} & missing - busy
        self._awaited = {name: self._awaited.get(name, now) for name in sorted(awaited)}
        known = (*self._heard.values(), *(0 for _ in busy))
        self.freeze = freeze(self.frozen or self._lasting, (*known, *self._awaited.values()), now, self._settle_ms)
        self._lasting = self._lasting and self.freeze
        self.unsure = freeze(None, (*known, *(0 for _ in awaited)), now, self._settle_ms) is not None
        self._tell(before)

    def keep(self, frozen: Freeze | None, rev: int) -> None:
        """This is in the store from now on."""
        self.frozen = frozen
        self.frozen_rev = rev if frozen else 0

    def _tell(self, before: Freeze | None) -> None:
        if self._meter is not None:
            self._meter.frozen.labels(SERVICE).set(self.frozen is not None)
        if self.frozen and not before:
            log.warning("evictions frozen", service=SERVICE, cause=self.frozen.why.text)
        elif before and not self.frozen:
            log.warning("evictions no longer frozen", service=SERVICE, since=before.since)
