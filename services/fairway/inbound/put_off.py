"""Which cancellations wait to be looked at again, of each tenant so many: what is put off counts against all who are
heard, and anybody can name jobs that there are not."""

# Jobs that one tenant submits and cancels within the seconds that admission may take.
MOST = 100
# One that did not come by then is somebody else's by now, or was taken out of the stream (ms).
_LATE_MS = 60_000
# Tenants whose waiting is counted; beyond them it is counted anew.
_TENANTS = 10_000
Key = tuple[int, str]


class PutOff:
    """By tenant and message, until when it is expected."""

    def __init__(self) -> None:
        self._of: dict[str, dict[Key, int]] = {}

    def room(self, tenant: str, key: Key, now: int) -> bool:
        """Whether this one may wait. One that does already may go on."""
        known = self._of.get(tenant, {})
        return key in known or len(known) < MOST or sum(until > now for until in known.values()) < MOST

    def put(self, tenant: str, key: Key, due: int, now: int) -> None:
        if tenant not in self._of and len(self._of) >= _TENANTS:
            self._of.clear()
        known = self._of.setdefault(tenant, {})
        if len(known) >= MOST:
            for late in [one for one, until in known.items() if until <= now]:
                del known[late]
        known[key] = due + _LATE_MS

    def drop(self, tenant: str, key: Key) -> None:
        known = self._of.get(tenant, {})
        known.pop(key, None)
        if not known:
            self._of.pop(tenant, None)
