"""What a stream holds, read in order by consumers that pass. Nothing is acknowledged, so the server sends nothing
twice, and the reader sees for himself that none is missing (as the ordered consumers of other clients do)."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from datetime import UTC, datetime
from functools import lru_cache

import structlog
from msgspec import Struct
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from fairway.adapters.nats.consumer import Gap, NatsSource, Wanted
from fairway.runtime.ports import Delivery
from fairway.wire.subjects import STREAMS, matches

log = structlog.get_logger()
# Opens a passing consumer, and says how many messages are before it.
Open = Callable[[str, ConsumerConfig, Wanted | None], Awaitable[tuple[NatsSource, int]]]
Close = Callable[[NatsSource], Awaitable[None]]
_MOST = 1_000
# To look for more subjects than these costs the server more than to send it all: what was not asked for is passed over
# here (docs/performance.md, of a rebuild).
_MOST_FILTERS = 8
# Of each subject they keep the newest message only: all of them are read as fast as any others.
_ALL_NEWEST = frozenset(one.name for one in STREAMS if one.per_subject == 1)


class HistoryQuery(Struct, frozen=True):
    """As `ports.Bus.history` has it; `since` leaves out what was stored before (ms since 1970)."""

    stream: str
    subjects: Sequence[str]
    start: int
    live: bool
    last: bool
    since: int = 0

    @property
    def wanted(self) -> Wanted | None:
        """Which messages are passed over here, and not by the server: none, while there is something to wait for."""
        if len(self.subjects) <= _MOST_FILTERS or self.live or self.last:
            return None
        patterns = self.subjects

        @lru_cache(4096)
        def wanted(subject: bytes) -> bool:
            text = subject.decode(errors="backslashreplace")
            return any(matches(pattern, text) for pattern in patterns)

        return wanted

    def consumer(self, after: int, past: bool) -> ConsumerConfig:
        """For what stands behind sequence `after`. The newest of each subject are all given again, for a server cannot
        begin among them; and once they have been told, what follows is not the newest of each but all of it."""
        newest = self.last and past and self.stream not in _ALL_NEWEST
        config = ConsumerConfig(
            filter_subjects=None if self.wanted else list(self.subjects) or None,
            ack_policy=AckPolicy.NONE,
            mem_storage=True,
            inactive_threshold=60,
            opt_start_seq=None if newest else after + 1,
            deliver_policy=DeliverPolicy.LAST_PER_SUBJECT if newest else DeliverPolicy.BY_START_SEQUENCE,
        )
        if self.since and after < self.start:
            config.opt_start_seq = None
            config.opt_start_time = datetime.fromtimestamp(self.since / 1_000, UTC)
            config.deliver_policy = DeliverPolicy.BY_START_TIME
        if newest and not self.subjects:
            config.filter_subjects = [next(one.subjects[0] for one in STREAMS if one.name == self.stream)]
        return config


async def told(asked: HistoryQuery, open: Open, close: Close) -> AsyncGenerator[Delivery, None]:
    """After a gap it is read on behind the last message that came before it. A bundle arrives whole: all of it was told
    before the gap, or none."""
    after = asked.start - 1
    past = True
    while past or asked.live:
        source, pending = await open(asked.stream, asked.consumer(after, past), asked.wanted)
        known = after
        try:
            if past and not pending:
                past = False
                if asked.live:
                    yield Delivery(id="", subject="", data=b"")
            while past or asked.live:
                for delivery in await source.batch(_MOST):
                    after = max(after, delivery.sequence)
                    if delivery.sequence > known and delivery.subject:
                        yield delivery
                    if past and delivery.left == 0:
                        past = False
                        if asked.live:
                            yield Delivery(id="", subject="", data=b"")
        except Gap as gap:
            log.info("reading on", stream=asked.stream, after=after, cause=str(gap))
        finally:
            await close(source)
