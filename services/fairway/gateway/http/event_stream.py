"""Server-sent events of one tenant's jobs, live from the record. The id of an event is its place in the stream."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import ExitStack

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from fairway.domain.text.digits import is_whole
from fairway.gateway.callers.access import Access, access_of
from fairway.gateway.callers.caller import JOBS, AccessQuestion, Caller
from fairway.gateway.callers.rate_limits import InHand, too_much
from fairway.gateway.callers.tenant_shares import SharedPlace, Shares
from fairway.gateway.http.problem import Problem
from fairway.runtime.ports import Delivery, StoreWiped, Unreachable, World
from fairway.runtime.record.senders import message_of
from fairway.runtime.record.working_sets import REBUILDS, rebuild_of, working_sets
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.workloads.reading.names import is_namespace

_encode = msgspec.json.Encoder().encode
# Each open stream holds a consumer of its own.
_STREAMS = 64
_LOST = "another tenant has fewer event streams and got this one's place; come back later"
_COME_BACK_MS = 5_000
# A comment this often, so that a reader who left is noticed and no proxy thinks the line is dead.
_KEEP_ALIVE_S = 15.0
# Whoever may no longer watch is not told any more after a minute: it is looked at with an event, or a comment.
_ASK_AGAIN_MS = 45_000


class Streams:
    """`each`: so many one caller may have open; `most`: all of them together."""

    def __init__(self, world: World, each: int = 8, most: int = _STREAMS, keep_alive_s: float = _KEEP_ALIVE_S) -> None:
        self._world = world
        self._keep_alive_s = keep_alive_s
        self._all = Shares(most, "event streams")
        self._mine = InHand(each, "event streams of one caller")

    @property
    def open(self) -> int:
        return self._all.count

    async def events(self, request: Request) -> Response:
        namespace = request.query_params.get("namespace", "")
        if not is_namespace(namespace):
            raise Problem(400, "namespace is missing or not a name", "add ?namespace=NAME: events are of one tenant")
        access = access_of(request)
        everywhere = await access.everywhere("watch")
        if not everywhere:
            await access.need(AccessQuestion("watch", JOBS, namespace=namespace))
        after = request.headers.get("last-event-id", "")
        if after and not is_whole(after, 18):
            raise Problem(400, f"Last-Event-ID {after[:20]!r} is not a number", "send the id of the last event heard")
        with ExitStack() as held:
            held.enter_context(self._mine.one(access.caller.user))
            place = held.enter_context(self._all.take(_tenant(access.caller, namespace, everywhere)))
            return _Held(self.lines(namespace, int(after) if after else 0, access), place, held.pop_all())

    async def lines(self, namespace: str, after: int, access: Access | None = None) -> AsyncGenerator[bytes, None]:
        """Ends when the bus is away: the reader comes back with the last id, and nothing is lost. Ends too when the
        caller may no longer watch."""
        told = self._told(namespace, after)
        asked_at = self._world.clock.now()
        waiting: asyncio.Task[bytes] | None = None
        try:
            yield b": open\n\n"
            while True:
                waiting = waiting or asyncio.ensure_future(anext(told))
                done, _ = await asyncio.wait([waiting], timeout=self._keep_alive_s)
                if access is not None and self._world.clock.now() - asked_at >= _ASK_AGAIN_MS:
                    access = await access.again()
                    asked_at = self._world.clock.now()
                    if not await access.jobs("watch", namespace):
                        raise access.forbidden(AccessQuestion("watch", JOBS, namespace=namespace))
                if not done:
                    yield b": still here\n\n"
                    continue
                yield waiting.result()
                waiting = None
        except (Unreachable, StoreWiped, OSError, TimeoutError, StopAsyncIteration):
            yield b": the bus or the store is away; come back with Last-Event-ID\n\n"
        except Problem as problem:
            yield b": the end: %b\n\n" % problem.body.title.encode()
        finally:
            if waiting is not None:
                waiting.cancel()
                await asyncio.wait([waiting])
            await told.aclose()

    async def _told(self, namespace: str, after: int) -> AsyncGenerator[bytes, None]:
        """Without what was said too late for its working set: it happened for nobody."""
        wanted = [subjects.job("*", namespace), REBUILDS]
        now = bool(after)
        start = {"start": after + 1} if after else {"last": True}
        sets = await working_sets(self._world.bus)
        record = self._world.bus.history(subjects.JOBS, wanted, live=True, **start)
        try:
            async for one in record:
                if one.subject == REBUILDS:
                    if (message := rebuild_of(one)) is not None:
                        sets.hear(message, one.sequence)
                elif now and (said := message_of(one)) is not None and not sets.late(said, one.sequence):
                    yield event(one, said)
                now = now or not one.subject
        finally:
            if isinstance(record, AsyncGenerator):
                await record.aclose()


class _Held(StreamingResponse):
    """Gives back what was taken for it when it has ended, or was never begun. It ends too when its place is lost, even
    if nobody reads it: then only the connection stays, which counts as a request in hand."""

    def __init__(self, body: AsyncGenerator[bytes, None], place: SharedPlace, held: ExitStack) -> None:
        super().__init__(body, media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        self._lines = body
        self._place = place
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            await send(message)
            begun = True

        with self._held:
            try:
                async with asyncio.timeout(None) as until:
                    self._place.on_loss = lambda: until.reschedule(0)
                    await super().__call__(scope, receive, sending)
                return
            except TimeoutError:
                if not self._place.lost:
                    raise
            finally:
                await self._lines.aclose()
        if not begun:
            raise too_much(_LOST, _COME_BACK_MS)
        await send({"type": "http.response.body", "body": b": the end: %b\n\n" % _LOST.encode(), "more_body": False})


def _tenant(caller: Caller, namespace: str, everywhere: bool) -> str:
    """Whose share a stream counts against: the tenant's who asks, not of whom it tells. Of people it is not known but
    by what they ask for; an administrator has a share to themselves."""
    return f"user {caller.user}" if everywhere and not caller.namespace else caller.namespace or namespace


def event(one: Delivery, message: wire.JobMessage) -> bytes:
    """A manifest is not repeated: it may hold what is nobody else's business."""
    if isinstance(message, wire.Manifested):
        size = msgspec.Raw(_encode({"size": len(bytes(message.manifest))}))
        message = msgspec.structs.replace(message, manifest=size, policies=())
    # Who comes back with it is told all of a bundle again, rather than missing the rest of it.
    place = one.sequence - 1 if one.behind else one.sequence
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (place, message.verb.encode(), _encode(message))
