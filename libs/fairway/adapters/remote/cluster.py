"""The cluster port for a member in pull mode: the same promises, kept by a process beside the member, over the bus.

Watches are asked for batch by batch: the next question says that the former answer came, so nothing is lost and
nobody is flooded. When the other side is another process than before, everything is listed again, and what vanished
meanwhile is told as gone.
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from typing import Any, TypeVar

import msgspec
import structlog
from msgspec import Struct
from nats.aio.client import Client
from nats.aio.msg import Msg

from fairway.adapters.remote import messages as rw
from fairway.adapters.remote import secrets as secrets_stay
from fairway.adapters.remote.known_objects import noted, sound
from fairway.adapters.vanished_objects import Told, vanished
from fairway.runtime.cluster_port import Applied, Change, ClusterRefused, check_labels
from fairway.runtime.ports import Unreachable
from fairway.workloads.companions.named import SECRET

log = structlog.get_logger()
Json = dict[str, Any]

# The other side's own limit for a request to its API is 30 s.
_CALL_S = 40.0
_HELLO_S = 5.0
_AGAIN_S = 1.0
# How often it is asked whether the process is still there that an answer is awaited from.
_PULSE_S = 2.0
_answered = msgspec.msgpack.Decoder(rw.Answered).decode


T = TypeVar("T")


class SessionLost(Unreachable):
    """The other side knows nothing of this watch: it is another process, or was not asked for too long."""


class Gone(Unreachable):
    """The bus says that nobody listens there."""


class CallBatch(Struct):
    """`number` counts up by one; it is said again until the next one is asked for."""

    number: int
    changes: list[Change]


class RemoteCluster:
    """Open with `RemoteCluster.open`; the connection is the caller's."""

    def __init__(self, name: str, client: Client) -> None:
        self.name = name
        self._nc = client
        self._asker = secrets.token_hex(8)
        self._instance = ""
        self._waiting: dict[str, asyncio.Future[rw.Answered]] = {}
        self._asked_at: dict[str, str] = {}
        self._assembler = rw.Assembler()
        self._calls = 0
        self._heard: Any = None
        self._pulse: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, name: str, client: Client) -> "RemoteCluster":
        made = cls(name, client)
        made._heard = await client.subscribe(rw.reply(name, made._asker, "*"), cb=made._take)
        made._pulse = asyncio.create_task(made._feel())
        return made

    async def _feel(self) -> None:
        """A process that was killed answers nothing: whoever waits for it is told within seconds, not at the end of its
        patience."""
        while True:
            await asyncio.sleep(_PULSE_S)
            for subject in sorted(set(self._asked_at.values()) - {rw.ask(self.name)}):
                try:
                    await self._said(subject, rw.CallRequest("hello"), _HELLO_S)
                except Gone as error:
                    for call in [call for call, at in self._asked_at.items() if at == subject]:
                        self._fail(call, error)
                except (Unreachable, ClusterRefused):
                    continue

    def _fail(self, call: str, error: Exception) -> None:
        waiting = self._waiting.get(call)
        if waiting is not None and not waiting.done():
            waiting.set_exception(error)

    async def _take(self, msg: Msg) -> None:
        call = msg.subject.rpartition(".")[2]
        waiting = self._waiting.get(call)
        if waiting is None or waiting.done():
            return
        if not msg.data and (msg.headers or {}).get("Status") == "503":
            self._fail(call, Gone(f"nobody serves {self.name}: is `fairway run member` up beside it?"))
            return
        try:
            whole = self._assembler.take(msg.data)
            if whole is not None:
                waiting.set_result(_answered(whole[1]))
        except (rw.Broken, msgspec.DecodeError, RecursionError) as error:
            waiting.set_exception(Unreachable(f"{self.name}: an answer that makes no sense: {error}"))

    async def _call(self, verb: str, wait_s: float = _CALL_S, **args: Any) -> Any:
        """The value of the answer. After any doubt the other side is looked for anew."""
        if not self._instance:
            self._instance = str(await self._said(rw.ask(self.name), rw.CallRequest("hello"), _HELLO_S))
        try:
            return await self._said(rw.at(self.name, self._instance), rw.CallRequest(verb, args), wait_s)
        except Unreachable:
            self._instance = ""
            raise

    async def _said(self, subject: str, asked: rw.CallRequest, wait_s: float) -> Any:
        self._calls += 1
        call = str(self._calls)
        waiting = self._waiting[call] = asyncio.get_running_loop().create_future()
        self._asked_at[call] = subject
        back = rw.reply(self.name, self._asker, call)
        try:
            for frame in rw.frames(f"{self._asker}.{call}", asked):
                await self._nc.publish(subject, frame, reply=back)
            async with asyncio.timeout(wait_s):
                answer = await waiting
        except rw.CallTooLarge as error:
            raise ClusterRefused("RequestEntityTooLarge", str(error)) from error
        except TimeoutError:
            raise Unreachable(f"{self.name} did not answer {asked.verb} within {wait_s:g} s") from None
        except Unreachable:
            raise
        except Exception as error:
            raise Unreachable(f"the bus did not take {asked.verb} for {self.name}: {error!r}") from error
        finally:
            self._waiting.pop(call, None)
            self._asked_at.pop(call, None)
        return _value(answer)

    def _as(self, kind: type[T], said: Any) -> T:
        """What the other side says is believed as far as it has the form that it should have."""
        try:
            return msgspec.convert(said, kind)
        except msgspec.ValidationError as error:
            raise Unreachable(f"{self.name}: an answer that makes no sense: {error}") from error

    async def apply(self, kind: str, manifest: Json, level: str = "") -> Applied:
        secrets_stay.check(kind, self.name)
        return self._as(Applied, await self._call("apply", kind=kind, manifest=manifest, level=level))

    async def delete(self, kind: str, namespace: str, name: str, labels: dict[str, str], wait_s: float) -> bool:
        check_labels(labels)
        args: Json = {"kind": kind, "namespace": namespace, "name": name, "labels": labels, "within": wait_s}
        return bool(await self._call("delete", _CALL_S + wait_s, **args))

    async def get(self, kind: str, namespace: str, name: str) -> Json | None:
        verb = "identify" if kind == SECRET else "get"
        found: Json | None = await self._call(verb, kind=kind, namespace=namespace, name=name)
        return sound(found, self.name)

    async def patch(
        self, kind: str, namespace: str, name: str, body: Json | list[Json], subresource: str = ""
    ) -> Json | None:
        secrets_stay.check(kind, self.name)
        args: Json = {"kind": kind, "namespace": namespace, "name": name, "body": body, "subresource": subresource}
        found: Json | None = await self._call("patch", **args)
        return sound(found, self.name)

    async def create(self, kind: str, manifest: Json) -> None:
        secrets_stay.check(kind, self.name)
        await self._call("create", kind=kind, manifest=manifest)

    async def review(self, kind: str, body: Json) -> Json:
        raise ClusterRefused("Forbidden", f"{self.name} is a member: only the hub is asked about callers")

    async def discard(self, kind: str, namespace: str, labels: dict[str, str], name: str = "") -> None:
        check_labels(labels)
        await self._call("discard", kind=kind, namespace=namespace, labels=labels, name=name)

    async def mark_pods(self, namespace: str, labels: dict[str, str], notes: dict[str, str]) -> None:
        check_labels(labels)
        await self._call("mark_pods", namespace=namespace, labels=labels, notes=notes)

    async def shorten(self, namespace: str, labels: dict[str, str], grace_s: int) -> None:
        check_labels(labels)
        await self._call("shorten", namespace=namespace, labels=labels, grace_s=grace_s)

    async def drop(self, kind: str, namespace: str, name: str) -> None:
        await self._call("drop", kind=kind, namespace=namespace, name=name)

    async def served(self) -> tuple[str, ...]:
        return self._as(tuple[str, ...], await self._call("served"))

    async def inform(self, facts: Any) -> None:
        """Tells the agent over there what was said of its cluster."""
        await self._call("facts", facts=msgspec.to_builtins(facts))

    async def watch(self, kind: str, selector: str = "", namespace: str = "") -> AsyncGenerator[Change, None]:
        told: Told = {}
        failures = 0
        while True:
            left = set(told)
            try:
                session = await self._call("open", kind=kind, selector=selector, namespace=namespace)
                number = 0
                while True:
                    batch = self._as(CallBatch, await self._call("next", session=session, after=number))
                    number = batch.number
                    failures = 0
                    for change in batch.changes:
                        if change.synced:
                            for key in sorted(left):
                                yield vanished(kind, key, told.pop(key))
                            left = set()
                        for one in noted(change, told, self.name):
                            left.discard((one.namespace, one.name))
                            yield one
            except (Unreachable, ClusterRefused) as error:
                failures += 1
                if failures % 30 == 2:
                    log.warning("watch interrupted", cluster=self.name, kind=kind, cause=str(error))
                await asyncio.sleep(0 if isinstance(error, SessionLost) and failures < 2 else _AGAIN_S)

    async def close(self) -> None:
        if self._pulse is not None:
            self._pulse.cancel()
        if self._heard is not None and not self._nc.is_closed:
            await self._heard.unsubscribe()


def _value(answer: rw.Answered) -> Any:
    if answer.refused is not None:
        code, text = answer.refused
        raise SessionLost(text) if code == "Lost" else ClusterRefused(code, text)
    if answer.away:
        raise Unreachable(answer.away)
    return answer.value
