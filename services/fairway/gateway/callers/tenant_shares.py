"""Places that all tenants share: while some are free anybody has one, and when none is, the most even division."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fairway.gateway.callers.rate_limits import too_much

_AGAIN_MS = 5_000


class SharedPlace:
    """`lost`: a tenant that has fewer got it meanwhile; `on_loss` is told of that."""

    def __init__(self, tenant: str) -> None:
        self.tenant = tenant
        self.lost = False
        self.on_loss: Callable[[], None] = lambda: None


class Shares:
    """At most `most` places. When all are taken, the tenant that has the most gives up its newest to one who has fewer,
    as long as that makes them more even: so one tenant, or a few, can keep nobody out."""

    def __init__(self, most: int, what: str) -> None:
        self._most = most
        self._what = what
        self._taken: dict[SharedPlace, None] = {}  # the oldest first

    @property
    def count(self) -> int:
        return len(self._taken)

    @contextmanager
    def take(self, tenant: str) -> Iterator[SharedPlace]:
        """Given back at the end of `with`. Raises a Problem (429)."""
        if len(self._taken) >= self._most:
            counts = Counter(one.tenant for one in self._taken)
            largest, count = counts.most_common(1)[0]
            if count <= counts[tenant] + 1:
                title = f"all {self._most} {self._what} are taken, and no tenant has more of them than this one could"
                raise too_much(title, _AGAIN_MS)
            self._lose(next(one for one in reversed(self._taken) if one.tenant == largest))
        place = SharedPlace(tenant)
        self._taken[place] = None
        try:
            yield place
        finally:
            self._taken.pop(place, None)

    def _lose(self, place: SharedPlace) -> None:
        del self._taken[place]
        place.lost = True
        place.on_loss()
