"""The other end of `RemoteCluster`: beside the member, it does what is asked with the cluster port that is there."""

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

from fairway.adapters.remote import messages as rw
from fairway.adapters.remote import secrets as secrets_stay
from fairway.adapters.remote.cluster import CallBatch
from fairway.runtime.cluster_port import Change, Cluster, ClusterRefused
from fairway.runtime.ports import Unreachable

log = structlog.get_logger()
Do = Callable[..., Awaitable[Any]]

# A question for the next batch is answered after this long, with or without news.
_PATIENCE_S = 10.0
# A watch that nobody asks for is ended.
_FORGOTTEN_S = 60.0
_MOST_CHANGES = 500
_MOST_BYTES = 4 * 2**20
_MOST_IN_HAND = 1_000
# What the other side may call of the cluster port as it is; all else it says to this side itself.
_OF_THE_PORT = ("apply", "get", "patch", "create", "discard", "mark_pods", "shorten", "drop", "served")
# Those that carry an object's content.
_WITH_CONTENT = ("apply", "get", "patch", "create", "open")
_asked = msgspec.msgpack.Decoder(rw.CallRequest).decode
_pack = msgspec.msgpack.Encoder().encode


class Session:
    """One watch: filled by the cluster, emptied batch by batch; it waits when nobody empties it."""

    def __init__(self, cluster: Cluster, kind: str, selector: str, namespace: str) -> None:
        self._line: asyncio.Queue[Change] = asyncio.Queue(_MOST_CHANGES)
        self._batch = CallBatch(0, [])
        self._left: Change | None = None
        self._task = asyncio.create_task(self._fill(cluster, kind, selector, namespace))
        self.asked_at = asyncio.get_running_loop().time()

    async def _fill(self, cluster: Cluster, kind: str, selector: str, namespace: str) -> None:
        async for change in cluster.watch(kind, selector, namespace):
            await self._line.put(change)

    async def next(self, after: int) -> CallBatch:
        """The batch after number `after`: a new one, or the last one again if it did not arrive."""
        self.asked_at = asyncio.get_running_loop().time()
        if self._task.done():
            raise ClusterRefused("Lost", "this watch has ended")
        if after == self._batch.number - 1:
            return self._batch
        if after != self._batch.number:
            raise ClusterRefused("Lost", f"batch {after} was never sent")
        self._batch = CallBatch(after + 1, await self._changes())
        self.asked_at = asyncio.get_running_loop().time()
        return self._batch

    async def _changes(self) -> list[Change]:
        found = [self._left] if self._left is not None else []
        size = 0
        self._left = None
        if not found:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE_S):
                    found.append(await self._line.get())
        while found and len(found) < _MOST_CHANGES and not self._line.empty():
            size += len(_pack(found[-1]))
            change = self._line.get_nowait()
            if size + len(_pack(change)) > _MOST_BYTES:
                self._left = change
                break
            found.append(change)
        return found

    def end(self) -> None:
        self._task.cancel()


class Serving:
    """Answers for one member. `told` is what the hub says of the cluster, once it has said it."""

    def __init__(self, cluster: Cluster, client: Client, facts: Callable[[Any], None]) -> None:
        self._cluster = cluster
        self._nc = client
        self._facts = facts
        self.instance = secrets.token_hex(8)
        self.heard = asyncio.Event()
        self._sessions: dict[str, Session] = {}
        self._assembler = rw.Assembler()
        self._tasks: set[asyncio.Task[None]] = set()
        self._verbs: dict[str, Do] = {
            "hello": self._hello,
            "facts": self._take_facts,
            "open": self._open,
            "next": self._next,
            "delete": self._delete,
            "identify": self._identify,
        }

    async def run(self) -> None:
        """Until cancelled."""
        name = self._cluster.name
        heard = [
            await self._nc.subscribe(rw.ask(name), queue="member", cb=self._hear),
            await self._nc.subscribe(rw.at(name, self.instance), cb=self._hear),
        ]
        self.heard.set()
        try:
            while True:
                await asyncio.sleep(_FORGOTTEN_S / 4)
                self._forget()
        finally:
            for task in self._tasks:
                task.cancel()
            for session in self._sessions.values():
                session.end()
            for one in heard:
                if not self._nc.is_closed:
                    await one.unsubscribe()

    def _forget(self) -> None:
        now = asyncio.get_running_loop().time()
        for key, session in list(self._sessions.items()):
            if now - session.asked_at > _FORGOTTEN_S:
                self._sessions.pop(key).end()

    async def _hear(self, msg: Msg) -> None:
        """Calls are done side by side: a deletion may take its time."""
        try:
            whole = self._assembler.take(msg.data)
            asked = _asked(whole[1]) if whole is not None else None
        except (rw.Broken, msgspec.DecodeError, RecursionError) as error:
            log.warning("not understood", subject=msg.subject, cause=str(error))
            return
        if asked is None or not msg.reply or len(self._tasks) >= _MOST_IN_HAND:
            return
        task = asyncio.create_task(self._answer(asked, msg.reply))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, asked: rw.CallRequest, reply: str) -> None:
        try:
            ours = asked.verb in _OF_THE_PORT
            do = getattr(self._cluster, asked.verb) if ours else self._verbs.get(asked.verb)
            if do is None:
                raise ClusterRefused("UnknownVerb", f"{asked.verb} is not known here; upgrade this side")
            if asked.verb in _WITH_CONTENT:
                secrets_stay.check(asked.args.get("kind", ""), self._cluster.name)
            answer = rw.Answered(msgspec.to_builtins(await do(**asked.args)))
        except ClusterRefused as error:
            answer = rw.Answered(refused=(error.code, error.text))
        except Unreachable as error:
            answer = rw.Answered(away=str(error))
        except Exception as error:
            log.error("call failed", verb=asked.verb, cause=repr(error)[:2_000])
            answer = rw.Answered(refused=("BadCall", repr(error)))
        call = reply.rpartition(".")[2]
        try:
            for frame in rw.frames(call, answer):
                await self._nc.publish(reply, frame)
        except Exception as error:  # the bus is away: whoever asked asks again
            log.warning("answer not sent", verb=asked.verb, cause=repr(error))

    async def _hello(self) -> str:
        return self.instance

    async def _take_facts(self, facts: Any) -> None:
        self._facts(facts)

    async def _open(self, kind: str, selector: str, namespace: str) -> str:
        key = secrets.token_hex(8)
        self._sessions[key] = Session(self._cluster, kind, selector, namespace)
        return key

    async def _next(self, session: str, after: int) -> CallBatch:
        if session not in self._sessions:
            raise ClusterRefused("Lost", "this watch is not known here")
        return await self._sessions[session].next(after)

    async def _identify(self, kind: str, namespace: str, name: str) -> Any:
        return secrets_stay.without_content(await self._cluster.get(kind, namespace, name))

    async def _delete(self, within: float, **what: Any) -> bool:
        return await self._cluster.delete(**what, wait_s=within)
