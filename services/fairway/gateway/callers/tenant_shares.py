"""Places that all tenants share: while some are free anybody has one, and when none is, the most even division."""

from collections import Counter
from collections.abc import Callable
from types import TracebackType

from fairway.gateway.callers.rate_limits import too_much

_AGAIN_MS = 5_000


class SharedPlace:
    """Given back at the end of `with`. `lost`: a tenant that has fewer got it meanwhile; `on_loss` is told of that."""

    def __init__(self, tenant: str, give_back: Callable[["SharedPlace"], None]) -> None:
        self.tenant = tenant
        self.lost = False
        self.on_loss: Callable[[], None] = lambda: None
        self._give_back = give_back

    def free(self) -> None:
        self._give_back(self)

    def lose(self) -> None:
        self.lost = True
        self.free()
        self.on_loss()

    def __enter__(self) -> "SharedPlace":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.free()


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

    def take(self, tenant: str) -> SharedPlace:
        """Raises a Problem (429)."""
        if len(self._taken) >= self._most:
            counts = Counter(one.tenant for one in self._taken)
            largest, count = counts.most_common(1)[0]
            if count <= counts[tenant] + 1:
                title = f"all {self._most} {self._what} are taken, and no tenant has more of them than this one could"
                raise too_much(title, _AGAIN_MS)
            next(one for one in reversed(self._taken) if one.tenant == largest).lose()
        place = SharedPlace(tenant, lambda one: self._taken.pop(one, None))
        self._taken[place] = None
        return place
