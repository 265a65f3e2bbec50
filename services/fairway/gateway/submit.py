"""POST /v1/jobs: a body becomes one `submitted` message, and is accepted only when the stream has stored it."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from fairway.domain import decision
from fairway.domain.decision import Say
from fairway.domain.tell import message_id
from fairway.gateway import problem
from fairway.gateway.body import check_client, from_envelope, one_job
from fairway.gateway.caller import caller
from fairway.gateway.decide import Asked, Submission, names_of, outgoing_kind, submission
from fairway.gateway.hub_objects import Key
from fairway.gateway.limiter import Limiter
from fairway.gateway.preview import Preview
from fairway.gateway.reader import Reader
from fairway.gateway.settle import Settled
from fairway.runtime.loop import World
from fairway.runtime.ports import Ids, Outgoing, Unreachable, Wanted
from fairway.runtime.sayable import Unsayable
from fairway.wire import fleet, subjects
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason, Refused
from fairway.workloads.door import LARGEST_TEXT, parse_documents, with_name

_encode = msgspec.json.Encoder().encode
_YAML = ("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml")
# Texts larger than this are parsed beside the event loop, two at a time.
_INLINE = 64 * 1024
# Together less than the 15 s that the command waits for an answer.
_LISTEN_S, _PUBLISH_S, _WAIT_S = 2.0, 5.0, 5.0
_RECENT = 10_000


class Accepted(Struct, frozen=True):
    """`state` is `submitted` until more is known; `repeated`: this client had sent the same before."""

    job: str
    namespace: str
    client: str
    state: str = "submitted"
    queue: str = ""
    repeated: bool = False


class Door:
    """`foresee` says what would become of a submission; `count` is told of each body that cannot be read."""

    def __init__(
        self, world: World, ids: Ids, foresee: Callable[[Submission], Preview], limiter: Limiter,
        count: Callable[[Code], None],
    ) -> None:  # fmt: skip
        self._world, self._ids, self._foresee, self._limiter, self._count = world, ids, foresee, limiter, count
        self._rows = Reader(world.store)
        self._large = asyncio.Semaphore(2)
        self._recent: OrderedDict[str, Submission] = OrderedDict()
        self.settled = Settled(world)

    async def post(self, request: Request) -> Response:
        asked = await self._asked(request)
        said = submission(asked, self.caller(request), self._world.clock.now())
        if request.query_params.get("dryRun") in ("true", "All"):
            return problem.answer(self._foresee(said))
        wait = request.query_params.get("wait", "")
        if wait not in ("", "admitted"):
            raise problem.Problem(400, f"wait={wait[:40]!r} is not known", "use wait=admitted, or leave it out")
        known = await self._known(said)
        if known is not None:
            again = Accepted(known, said.tenant, asked.client, repeated=True)
            return problem.answer(again, 200, {"Location": f"/v1/jobs/{known}"})
        await self._limited(said.tenant)
        word = await self._word(said) if wait else None
        await self.publish(said.say, asked.client)
        self._remember(said)
        accepted = await self._settled(said, asked, word)
        return problem.answer(accepted, 202, {"Location": f"/v1/jobs/{accepted.job}"})

    def caller(self, request: Request) -> Actor:
        return caller(request, self._ids)

    def now(self) -> int:
        return self._world.clock.now()

    async def documents(self, request: Request) -> list[dict[str, Any]]:
        """The objects in the body of a request."""
        media = _media(request)
        if media not in (*_YAML, "application/json"):
            detail = "send application/json or application/yaml"
            raise problem.Problem(415, f"the body is {media[:60] or 'of no type'}, which is not read here", detail)
        try:
            return await self._parsed(await read_body(request))
        except (Refused, problem.Problem) as error:
            # Counted and not kept: whoever sends what cannot be read would fill the dead letters with it.
            self._count(error.reasons[0].code if isinstance(error, Refused) else Code(error.body.code))
            raise

    async def in_force(self, subject: str) -> list[tuple[Key, str]]:
        """Those settings that the fleet has on a subject, each with its kind and group."""
        found: list[tuple[Key, str]] = []
        async for one in self._world.bus.history(subjects.CONFIG, [subject], last=True):
            try:
                message = msgspec.json.decode(one.data, type=fleet.Message)
            except msgspec.DecodeError:
                continue  # whoever follows the settings has said so
            if isinstance(message, fleet.Configured) and message.manifest and bytes(message.manifest) != b"null":
                manifest = msgspec.json.decode(message.manifest)
                group = manifest.get("apiVersion", "") if isinstance(manifest, dict) else ""
                found.append(((message.kind, message.namespace, message.name), f"{message.kind}.{group}"))
        return found

    async def _asked(self, request: Request) -> Asked:
        client = request.headers.get("idempotency-key", "")
        documents = await self.documents(request)
        if _media(request) == "application/json" and len(documents) == 1 and "manifest" in documents[0]:
            asked = from_envelope(documents[0], client)
        else:
            asked = one_job(documents, client)
        check_client(asked.client)
        asked = msgspec.structs.replace(asked, client=asked.client or f"http:{self._ids.new()}")
        suffix = message_id("name", names_of(asked.manifest)[0], asked.client)[:5]
        return msgspec.structs.replace(asked, manifest=with_name(asked.manifest, suffix))

    async def _parsed(self, body: bytes) -> list[dict[str, Any]]:
        if len(body) <= _INLINE:
            return parse_documents(body)
        async with self._large:
            return await asyncio.to_thread(parse_documents, body)

    async def _known(self, said: Submission) -> str | None:
        """The job that this client's same body made before; a different body is refused. Admission has the last word:
        what cannot be looked up now goes through, and is recognised there."""
        digest, job = "", ""
        if (recent := self._recent.get(said.key)) is not None:
            digest, job = recent.digest, recent.job
        else:
            try:
                found = await self._rows.read(Wanted(rows={decision.CLIENTS: [said.key]}))
            except Unreachable:
                return None
            if (row := found.rows.get((decision.CLIENTS, said.key))) is None:
                return None
            job, digest = msgspec.json.decode(row.data, type=tuple[str, str])
        if digest == said.digest:
            return job
        text = f"this client id was used before with another body, for job {job}"
        raise problem.refused([Reason(Code.DUPLICATE, text, "Idempotency-Key", "use a new client id")], job)

    async def _limited(self, tenant: str) -> None:
        """A store that is away keeps nobody out: how many are pending is not known then."""
        try:
            pending = await self._limiter.pending((tenant,))
        except Unreachable:
            pending = {}
        if too_much := self._limiter.take(tenant, pending):
            raise problem.too_much(too_much.why, too_much.wait_ms)

    def _remember(self, said: Submission) -> None:
        self._recent[said.key] = said
        while len(self._recent) > _RECENT:
            self._recent.popitem(last=False)

    async def _word(self, said: Submission) -> asyncio.Future[wire.Queue | wire.Rejected]:
        try:
            return await self.settled.expect((said.job, said.say.id), _LISTEN_S)
        except TimeoutError:
            raise problem.away("the bus does not answer", "nothing was accepted; try again") from None

    async def publish(self, say: Say, client: str = "") -> None:
        """Stored, or a Problem that says whether it may have been."""
        bus = self._world.bus
        if not bus.connected:
            raise problem.away("the bus is away", "nothing was accepted; try again")
        message = Outgoing(say.id, say.subject, _encode(say.message), outgoing_kind(say), "/fairway/gateway")
        try:
            async with asyncio.timeout(_PUBLISH_S):
                await bus.publish([message])
        except Unsayable as error:
            raise problem.unsayable(error.refused[0]) from error
        except (Unreachable, TimeoutError, OSError) as error:
            same = f"try again with Idempotency-Key: {client}" if client else "try again"
            detail = f"it is not known whether the message was stored; {same}, which is safe"
            cause = f": {error}" if isinstance(error, Unreachable) else ""
            raise problem.away(f"the bus did not confirm the message{cause}", detail) from error

    async def _settled(
        self, said: Submission, asked: Asked, word: asyncio.Future[wire.Queue | wire.Rejected] | None
    ) -> Accepted:
        plain = Accepted(said.job, said.tenant, asked.client)
        if word is None:
            return plain
        try:
            async with asyncio.timeout(_WAIT_S):
                message = await word
        except TimeoutError:
            return plain
        if isinstance(message, wire.Rejected):
            raise problem.refused(message.reasons, message.job)
        return msgspec.structs.replace(plain, state="queued", queue=message.queue)


def _media(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_body(request: Request) -> bytes:
    """At most 1 MiB of it; more is refused without being read."""
    declared = request.headers.get("content-length", "")
    size, parts = 0, []
    if declared.isdigit() and int(declared) > LARGEST_TEXT:
        raise _too_large(int(declared))
    async for part in request.stream():
        size += len(part)
        if size > LARGEST_TEXT:
            raise _too_large(size)
        parts.append(part)
    return b"".join(parts)


def _too_large(size: int) -> problem.Problem:
    text = f"the body has {size} bytes or more; {LARGEST_TEXT} (1 MiB) is the most"
    return problem.refused([Reason(Code.TOO_LARGE, text, remedy="move data out of it, into a ConfigMap or an image")])
