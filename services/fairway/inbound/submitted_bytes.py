"""Which submissions on the bus are beyond the bytes that their tenant may submit: found before any of it is said on."""

from collections.abc import Mapping, Sequence

from fairway.domain.decision import Heard
from fairway.domain.tenancy.submission_limits import HOUR_MS, Allotment, Limits, limit_for, too_many_bytes
from fairway.inbound.put_off import Key
from fairway.wire import inbound, subjects
from fairway.wire.reasons import Reason


class SubmittedBytes:
    """Of what this process heard: a new start begins to count anew. `beyond` are those in hand that are too much."""

    def __init__(self) -> None:
        self.beyond: dict[Key, Reason] = {}
        self._taken = Allotment(HOUR_MS)
        self._counted: dict[Key, None] = {}

    def count(self, heard: Sequence[Heard[object]], limits: Mapping[str, Limits], now: int) -> None:
        """Each message once, though the same may be in hand again."""
        beyond = self.beyond
        self.beyond = {}
        counted: dict[Key, None] = {}
        for one in heard:
            if not isinstance(one.message, inbound.SubmitRequest):
                continue
            key = one.sequence, one.id
            why = beyond.get(key) if key in self._counted else self._count(one, limits, now)
            counted[key] = None
            if why is not None:
                self.beyond[key] = why
        self._counted = counted

    def _count(self, one: Heard[object], limits: Mapping[str, Limits], now: int) -> Reason | None:
        tenant, _ = subjects.spoken(one.subject)
        limit = limit_for(tenant, limits)
        if self._taken.wait(tenant, limit.bytes, one.size, now):
            return too_many_bytes(tenant, limit, one.size)
        self._taken.take(tenant, limit.bytes, one.size, now)
        return None
