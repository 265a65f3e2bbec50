"""Who of the fleet has not reported, and whether evictions are frozen for it."""

from collections.abc import Iterable, Mapping

import msgspec

from fairway.domain.attempts.eviction_freeze import Freeze, freeze
from fairway.runtime.ports import Row
from fairway.runtime.service import Remembered
from fairway.runtime.views.membership import Membership
from fairway.wire.capacity import ClusterInfo

# A watch that stalled is noticed when its silence is no longer trusted (FAIRWAY_WATCH_SILENCE: 70 s), and its kind is
# then listed, which takes at most so long with what follows from it (ms).
LIST_MS = 20_000
SETTLE_MS = 70_000 + LIST_MS
_info = msgspec.json.Decoder(ClusterInfo).decode
_frozen = msgspec.json.Decoder(Freeze | None).decode
_kept = msgspec.json.Decoder(tuple[int, tuple[str, ...] | None, Freeze | None, Freeze | None]).decode


class FleetSilence:
    """Implements `missing.KnownSilence`. `members` are watched here; while they are not known nobody is sure.
    `introduced` are the clusters that are known by name."""

    def __init__(self, introduced: Membership, settle_ms: int) -> None:
        self.introduced = introduced
        self.settle_ms = settle_ms
        self.members: tuple[str, ...] | None = None
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
        self.frozen, self.frozen_rev = (_frozen(row.data), row.rev) if row else (None, 0)
        missing = {name for name in self.members or () if name not in self._heard}
        busy = {name for name in missing if held.get(name)}
        awaited = {*self.introduced.clusters} & missing - busy
        self._awaited = {name: self._awaited.get(name, now) for name in sorted(awaited)}
        known = (*self._heard.values(), *(0 for _ in busy))
        self.freeze = freeze(self.frozen or self._lasting, (*known, *self._awaited.values()), now, self.settle_ms)
        self._lasting = self._lasting and self.freeze
        self.unsure = freeze(None, (*known, *(0 for _ in awaited)), now, self.settle_ms) is not None
        self.unsure |= self.members is None

    def keep(self, frozen: Freeze | None, rev: int) -> None:
        """This is in the store from now on."""
        self.frozen = frozen
        self.frozen_rev = rev if frozen else 0

    def remembered(self) -> Iterable[Remembered]:
        yield Remembered("silence", "", (self.settle_ms, self.members, self.freeze, self._lasting))
        yield from (Remembered("reported", name, at) for name, at in self._heard.items())
        yield from (Remembered("awaited", name, since) for name, since in self._awaited.items())

    def recall(self, table: str, key: str, data: bytes) -> None:
        match table:
            case "silence":
                self.settle_ms, self.members, self.freeze, self._lasting = _kept(data)
            case "reported":
                self._heard[key] = msgspec.json.decode(data, type=int)
            case "awaited":
                self._awaited[key] = msgspec.json.decode(data, type=int)
