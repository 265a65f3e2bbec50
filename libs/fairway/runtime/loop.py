"""The one loop: load the view, decide, commit writes and outbox, publish, acknowledge. In batches.

A message is acknowledged when all that it caused is stored. Whatever happens before that, it comes again, and the
guards of the steps see to it that it has its effects once.
"""

import asyncio
from collections.abc import Sequence

import structlog

from fairway.runtime.inbox import Inbox, Item
from fairway.runtime.lease import StoreAndLease
from fairway.runtime.metrics import Meter
from fairway.runtime.outbox import Outbox
from fairway.runtime.outside_calls import CallPlan, OutsideCalls
from fairway.runtime.ports import Fenced, Outgoing, StoreWiped, Unreachable, World
from fairway.runtime.record.dead_letters import dead_letter
from fairway.runtime.record.senders import foreign
from fairway.runtime.record.working_sets import Past, late
from fairway.runtime.service import AnyService
from fairway.runtime.spoken_of import heard_of
from fairway.runtime.views.memory_view import MemoryView
from fairway.runtime.vital_tasks import LoopTasks, vital
from fairway.wire.reasons import Code, Reason, Refused

log = structlog.get_logger()
# A message that a handler fails on this often goes to the dead letters; the delay between tries doubles.
_TRIES = 6
_FIRST_DELAY_MS = 200
# What is known or owned is gone: begin again.
_LOST = (StoreWiped, Fenced, Unreachable)


class Loop:
    """Runs one service until cancelled."""

    def __init__(self, service: AnyService, world: World, meter: Meter) -> None:
        self.service = service
        self.world = world
        self.meter = meter
        self.view = MemoryView(service)
        self.inbox = Inbox(service, world)
        self.outbox = Outbox(service.name, world, lambda code: meter.dead_letter(service.name, code))
        self.opening = StoreAndLease(service, world)
        self.acting = OutsideCalls(service.act, self.inbox.put_back, self._failed) if service.act else None
        self._past = Past(world.bus, world.store)
        self._tasks = LoopTasks()

    @property
    def waiting(self) -> str:
        """Why it is not ready: the store, the working set or the lease is missing, or what it decided cannot be said.
        Who has nothing to do knows of the store by sweeping its outbox."""
        if not self.opening.works:
            return self.opening.lacking
        return self.outbox.saying.waiting if self.outbox.reached else "the store does not answer"

    @property
    def ready(self) -> bool:
        return not self.waiting

    async def run(self) -> None:
        structlog.contextvars.bind_contextvars(service=self.service.name)
        await self._open()
        async with asyncio.TaskGroup() as group:
            self._tasks.group = group
            self._listen()
            group.create_task(vital("loop: outbox.sweep", self.outbox.sweep()))
            if self.service.recording is not None:
                group.create_task(vital("loop: recording", self.service.recording.run(self.inbox)))
            if self.service.single:
                group.create_task(vital("loop: opening.keep_lease", self.opening.keep_lease()))
            while True:
                batch = await self.inbox.next()
                await self._insist(batch)

    def _listen(self) -> None:
        """Where it does not yet: to its messages, and to what runs beside it."""
        tasks = self._tasks
        if tasks.listening is None:
            tasks.listening = tasks.group.create_task(vital("loop: inbox.run", self.inbox.run()))
        if tasks.beside is None and self.service.beside is not None:
            tasks.beside = tasks.group.create_task(vital("loop: service.beside", self.service.beside(self.inbox)))

    async def _stand_by(self) -> None:
        """Another instance has the lease. What this one has in hand, and what it would still be given, is for that
        one."""
        if await self._tasks.end_listening():
            await self.inbox.give_back()

    async def _begin_anew(self) -> None:
        """Of a service with one owner, what runs beside it tells everything once more: its memory knows nothing now."""
        if self.service.single and await self._tasks.end_beside():
            self.inbox.begin_anew()

    async def _open(self) -> None:
        self.service.ownership.over()
        await self._begin_anew()
        self.opening.works = False
        while not await self._opened():
            await self.world.clock.sleep(0.1)
        if self.service.begin is not None:
            self.inbox.put(self.service.begin)
        self.opening.works = True

    async def _opened(self) -> bool:
        """False when the store, or the lease, was lost again on the way."""
        try:
            await self.opening.open(self._stand_by)
            await self._past.sets()
            await self.view.load(self.world.store)
            await self.outbox.recover()
        except _LOST as error:
            self.opening.waits(error)
            return False
        return True

    async def _insist(self, batch: Sequence[Item]) -> None:
        """Handles a batch, however often it takes: what is in hand is never dropped, unless another has the lease."""
        plans = await self._decoded(batch)
        while plans:
            try:
                plans = await self._round(plans)
                self.opening.works = True
            except (StoreWiped, Fenced) as error:
                log.warning("working set lost", service=self.service.name, cause=type(error).__name__)
                await self._open()
            except Unreachable as error:
                self.opening.works = False
                self.opening.waits(error)
                await self.world.clock.sleep(0.5)
                await self._open()
            plans = [one for one in plans if not self.inbox.outdated(one.item)]
            stood_by = self._tasks.listening is None
            self._listen()
            if stood_by:
                return

    async def _decoded(self, batch: Sequence[Item]) -> list[CallPlan]:
        plans = []
        for item in batch:
            try:
                plans.append(CallPlan(item, item.heard()))
            except Refused as refused:
                await self._bury(item, refused.reasons[0])
            except Exception as error:  # whatever it is: one message must not stop the others
                why = Reason(Code.UNDECODABLE, f"the message does not decode: {error}", remedy="fix its sender")
                await self._bury(item, why)
        return plans

    async def _round(self, plans: list[CallPlan]) -> list[CallPlan]:
        """One pass over the messages in hand; returns those that met a conflict and have to be decided again."""
        started = self.meter.start()
        plans = self._timely(plans)
        try:
            await self._look(plans)
            for plan, why in [(one, why) for one in plans if (why := foreign(self.view.jobs, one.heard))]:
                plans.remove(plan)
                await self._bury(plan.item, why)
            plans = await self._decide(plans)
            for plan in plans:
                if plan.decision.calls:
                    assert self.acting is not None, f"{self.service.name} makes calls but has no way to act"
                    self.meter.decisions.calls(self.service.name)
                    self.acting.take(plan, self._tasks.group)
            return await self._finish([plan for plan in plans if not plan.decision.calls], started)
        except _LOST:
            raise
        except Exception as error:  # one of them cannot be looked up, or what it writes cannot be stored
            for step in (step for plan in plans for step in plan.decision.steps):
                self.view.refused(step)
            self.view.torn()
            return await self._one_by_one(plans, error)

    async def _one_by_one(self, plans: list[CallPlan], error: Exception) -> list[CallPlan]:
        """Which of them it was shows when each is looked at by itself."""
        if len(plans) > 1:
            return [left for plan in plans for left in await self._round([plan])]
        await self._failed(plans[0], error)
        return []

    def _timely(self, plans: list[CallPlan]) -> list[CallPlan]:
        """Without the events of a working set that was lost before they were stored."""
        if gone := [one for one in plans if late(one.heard, self._past.known)]:
            log.warning("late words passed over", service=self.service.name, count=len(gone))
            self.inbox.ack([one.item for one in gone])
        return [one for one in plans if one not in gone]

    async def _look(self, plans: list[CallPlan]) -> None:
        heard = [plan.heard for plan in plans]
        lease = (self.service.name, self.opening.token) if self.service.single else ("", 0)
        await self.view.look(self.world.store, heard, self.world.clock.now(), lease)

    async def _decide(self, plans: list[CallPlan]) -> list[CallPlan]:
        now = self.world.clock.now()
        decided = []
        started = self.meter.start()
        for plan in plans:
            try:
                plan.decision = self.view.decide(self.service.decide, plan.heard, now)
            except Exception as error:
                await self._failed(plan, error)
                continue
            decided.append(plan)
            plan.before = [self.view.apply(step) for step in plan.decision.steps]
        self.meter.decisions.took(self.service.name, len(decided), started)
        return decided

    async def _finish(self, plans: list[CallPlan], started: float) -> list[CallPlan]:
        """Commits, publishes and acknowledges; what was refused is kept in hand."""
        steps = [one for plan in plans for one in plan.steps()]
        conflicts: dict[int, CallPlan] = {}
        said: list[Outgoing] = []
        if not steps:
            self.view.settled()
        else:
            commit, outgoing = await self.outbox.pack([step for _, step, _ in steps], self.opening.token)
            taken = await self.world.store.commit(commit)
            for (plan, step, before), ok, words in zip(steps, taken, outgoing, strict=True):
                if ok:
                    said += words
                    self.meter.jobs.committed(step, before, plan.heard)
                else:
                    self.view.refused(step)
                    conflicts[id(plan)] = plan
            self.view.settled()
            await self.outbox.publish(said, commit)
        if any(plan.found_done for plan in plans):
            await self.outbox.make_up()
        self._acknowledge([plan for plan in plans if id(plan) not in conflicts])
        self.meter.decisions.done(self.service.name, [bool(plan.decision.steps) for plan in plans], len(conflicts))
        self.meter.batch(self.service.name, len(plans), len(conflicts), len(said), started)
        return list(conflicts.values())

    def _acknowledge(self, plans: Sequence[CallPlan]) -> None:
        self.inbox.ack([item for plan in plans for item in self.inbox.settled(plan.item, plan.decision)])

    async def _failed(self, plan: CallPlan, error: BaseException) -> None:
        """A handler raised: try again with growing delay, then keep the message where an operator finds it."""
        log.error("handler failed", **heard_of(plan.heard), error=repr(error), delivered=plan.heard.delivered)
        if plan.heard.delivered < _TRIES and plan.item.durable:
            plan.item.later(_FIRST_DELAY_MS * 2**plan.heard.delivered)
            return
        why = Reason(Code.HANDLER_FAILED, f"{type(error).__name__}: {error}", remedy="see the service's log")
        await self._bury(plan.item, why)

    async def _bury(self, item: Item, why: Reason) -> None:
        self.meter.dead_letter(self.service.name, why.code)
        await self.outbox.saying.insist([dead_letter(self.service.name, item, why, self.world.clock.now())])
        self.inbox.ack([item])
