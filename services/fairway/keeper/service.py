"""The keeper at work: it follows the record at a distance, says what stays of manifests, and deletes them."""

from contextlib import aclosing

import msgspec
import structlog
from msgspec import Struct

from fairway.domain.working_sets import WorkingSets
from fairway.keeper.decide import removals
from fairway.keeper.memory import DueManifests, KeeperMemory
from fairway.keeper.resume import resumed
from fairway.runtime.ports import Clock, ErasableBus, Outgoing
from fairway.runtime.record.senders import message_of
from fairway.runtime.record.working_sets import working_sets
from fairway.runtime.retry import until_reached
from fairway.wire import flow, subjects
from fairway.wire import jobs as wire
from fairway.wire.jobs import JobMessage

log = structlog.get_logger()
_encode = msgspec.json.Encoder().encode
# What has become old enough meanwhile is looked for this often (s).
_ROUND_S = 60.0
# After each word, so that a record of years is gone through beside the work and not before it: less than 100 jobs/s.
_PAUSE_S = 0.01
_AGAIN_S = 5.0
_LETTERS_MS = 1_000 * next(one.max_age for one in subjects.STREAMS if one.name == subjects.DLQ)
_SUBMISSIONS = flow.consumer("admission")[:2]


class KeeperState(Struct):
    """How far the record was read, and what is known of it."""

    memory: KeeperMemory
    at: int


class Keeper:
    """Two of them are as good as one: what one has deleted, the other finds gone."""

    def __init__(self, record: ErasableBus, clock: Clock, kept_ms: int, letters_ms: int = _LETTERS_MS) -> None:
        """`letters_ms`: for how long a dead letter may be said again."""
        self._record = record
        self._clock = clock
        self._kept_ms = kept_ms
        self._letters_ms = letters_ms
        self._sets = WorkingSets()
        self._handled = 0
        self._state: KeeperState | None = None

    async def run(self) -> None:
        log.info("manifests of ended jobs are removed from the record", kept_s=self._kept_ms // 1000)
        while True:
            removed = await until_reached("keeper", self._clock, self.round, _AGAIN_S)
            if removed:
                log.info("manifests removed", messages=removed)
            await self._clock.sleep(_ROUND_S)

    async def round(self) -> int:
        """Removes what has become old enough; how many messages. Unreachable: it begins anew where it stands in the
        record, whatever was done of it."""
        self._sets = await working_sets(self._record, self._sets)
        self._handled = await self._record.handled(*_SUBMISSIONS)
        state = self._state or await self._begun()
        self._state = None
        removed = await self._go_on(state, self._clock.now() - self._kept_ms)
        self._state = state
        return removed

    async def _begun(self) -> KeeperState:
        memory = KeeperMemory(self._letters_ms)
        return KeeperState(memory, await resumed(self._record, self._counts, memory))

    def _counts(self, message: JobMessage, sequence: int) -> bool:
        """Whether it was said in a working set that was in use."""
        return not self._sets.late(message, sequence)

    async def _go_on(self, state: KeeperState, until: int) -> int:
        """What was stored later than `until` is read another time."""
        removed = 0
        async with aclosing(self._record.history(subjects.JOBS, start=state.at + 1)) as past:
            async for one in past:
                if one.stored_at > until:
                    break
                message = message_of(one)
                if message is not None and self._counts(message, one.sequence):
                    for due in state.memory.read(one, message):
                        removed += await self._remove(due, one.sequence - 1)
                state.at = one.sequence
        return removed

    async def _remove(self, due: DueManifests, upto: int) -> int:
        """First what stays is stored, then the rest goes."""
        now = self._clock.now()
        said = wire.ManifestsRemoved(
            tenant=due.tenant, at=now, removed=(), kept=self._kept_ms, upto=upto, handled=self._handled
        )
        for say, places in removals(due, said):
            word = Outgoing(say.id, say.subject, _encode(say.message), f"fairway.job.{said.verb}", "/fairway/keeper")
            await self._record.publish([word])
            for place in places:
                await self._record.erase(subjects.JOBS, place)
            await self._clock.sleep(_PAUSE_S)
        return len(due.manifests)
