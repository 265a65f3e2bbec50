"""What every client of one store in memory shares: the rows, their changes, leases and the lock of a rebuild."""

from itertools import islice, takewhile

from fairway.runtime.ports import Row, StoreWiped

# As in commit.lua.
_MOST_GONE = 20_000
_AT_ONCE = 1_000


class Changes:
    """The versions of followed rows, by table and key, the newest last. Of rows that are gone only the newest are kept;
    who follows from before `forgotten` begins anew."""

    def __init__(self) -> None:
        self.versions: dict[tuple[str, str], int] = {}
        self._gone: dict[tuple[str, str], int] = {}
        self.last = 0
        self.forgotten = 0

    def add(self, name: tuple[str, str], gone: bool) -> None:
        self.last += 1
        self.versions.pop(name, None)
        self.versions[name] = self.last
        self._gone.pop(name, None)
        if not gone:
            return
        self._gone[name] = self.last
        if len(self._gone) >= _MOST_GONE + _AT_ONCE:
            for oldest in list(islice(self._gone, _AT_ONCE)):
                self.forgotten = self._gone.pop(oldest)
                del self.versions[oldest]

    def after(self, since: int, follow: tuple[str, ...]) -> list[tuple[str, str]]:
        """In the order of their versions. StoreWiped when they are no longer all known."""
        if 0 < since < self.forgotten:
            raise StoreWiped
        newer = takewhile(lambda name: self.versions[name] > since, reversed(self.versions))
        return [name for name in newer if name[0].startswith(follow)][::-1]


class StoreContents:
    """What every client of one store shares. `leases` have an owner, a token and the time they live to; `rebuilding`
    names who rebuilds, and until when it is believed to. The working set was `made_on` one `server`: on another one it
    counts as lost."""

    def __init__(self) -> None:
        self.epoch = ""
        self.rebuilding = ""
        self.rebuilding_until = 0
        self.rows: dict[str, dict[str, Row]] = {}
        self.counters: dict[str, dict[str, int]] = {}
        self.changes = Changes()
        self.leases: dict[str, tuple[str, int, int]] = {}
        self.server = self.made_on = 0

    def meet(self) -> None:
        if self.made_on != self.server:
            self.epoch = ""
            self.rebuilding = ""
            self.made_on = self.server
