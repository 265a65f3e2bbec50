"""POST /v1/jobs: a body becomes one `submitted` message, and is accepted only when the stream has stored it."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from fairway.domain import decision
from fairway.domain.decision import Say
from fairway.domain.submission import Asked, Submission, submission
from fairway.gateway.callers.access import Access, access_of
from fairway.gateway.callers.caller import GROUP
from fairway.gateway.callers.rights_of_kinds import policies_along, submitting
from fairway.gateway.http import problem
from fairway.gateway.http.dry_run import Preview
from fairway.gateway.http.first_result import FirstResult, Word
from fairway.gateway.http.outgoing import outgoing
from fairway.gateway.http.request_bodies import Reading
from fairway.gateway.reader import Reader
from fairway.gateway.submission_limiter import Limiter
from fairway.runtime.ports import Clock, Unreachable, Wanted, World
from fairway.runtime.record.publishable import Unsaid, Unsayable
from fairway.runtime.views.settings import setting
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.reasons import Code, Reason, Refused
from fairway.workloads.companions.apart import apart
from fairway.workloads.hub.objects import Key
from fairway.workloads.job_warnings import job_warnings
from fairway.workloads.kinds.registry import read

# Together less than the 15 s that the command waits for an answer.
_LISTEN_S = 2.0
_PUBLISH_S = 5.0
_WAIT_S = 5.0
# Submissions that are known again before admission has stored their clients; older ones are found in the store.
_RECENT = 10_000


class Accepted(Struct, frozen=True):
    """`state` is `submitted` until more is known; `repeated`: this client had sent the same before. `warnings` are of
    secrets that are written out."""

    job: str
    namespace: str
    client: str
    state: str = "submitted"
    queue: str = ""
    repeated: bool = False
    warnings: tuple[str, ...] = ()


class Door:
    """`foresee` says what would become of a submission."""

    def __init__(
        self, world: World, reading: Reading, foresee: Callable[[Submission], Preview], limiter: Limiter
    ) -> None:
        self._world = world
        self.reading = reading
        self._foresee = foresee
        self._limiter = limiter
        self._rows = Reader(world.store)
        # Digest and job by client. Not what was submitted: each may have a megabyte.
        self._recent: OrderedDict[str, tuple[str, str]] = OrderedDict()
        self.settled = FirstResult(world)

    async def post(self, request: Request) -> Response:
        asked = await self.reading.asked(request)
        access = access_of(request)
        said = await self.allowed(asked, access)
        if "dryRun" in request.query_params:
            return problem.answer(self._foresee(said))
        known = await self.known(said)
        if known is not None:
            again = Accepted(known, said.tenant, asked.client, repeated=True)
            return problem.answer(again, 200, {"Location": f"/v1/jobs/{known}"})
        await self.limited(said)
        word = await self.word(said) if "wait" in request.query_params else None
        try:
            await self.publish([said.say], asked.client)
            self.remember(said)
            accepted = await settled(said, asked, word)
        finally:
            if word is not None:
                word.cancel()  # of what was not stored, nothing will be heard
        return problem.answer(accepted, 202, {"Location": f"/v1/jobs/{accepted.job}"})

    async def allowed(self, asked: Asked, access: Access) -> Submission:
        """The submission as it will be said, by somebody who may create this on the hub. Raises a Problem, or Refused
        for what is of no kind, unless they may have that refused in the record. What a Secret holds stands in none."""
        if why := apart(asked.manifest):
            raise Refused(why)
        ask = submitting(asked.manifest)
        if ask.group == GROUP and not await access.may(ask):
            read(asked.manifest)
        for one in (ask, *policies_along(asked)):
            await access.need(one)
        return submission(asked, access.owner, self._world.clock.now())

    @property
    def clock(self) -> Clock:
        return self._world.clock

    def now(self) -> int:
        return self._world.clock.now()

    async def in_force(self, subject: str) -> list[tuple[Key, str]]:
        """Those settings that the fleet has on a subject, each with its kind and group."""
        found: list[tuple[Key, str]] = []
        async for one in self._world.bus.history(subjects.CONFIG, [subject], last=True):
            message, manifest = setting(one) or (None, None)
            if message is not None and manifest is not None:
                kind = f"{message.kind}.{manifest.get('apiVersion', '')}"
                found.append(((message.kind, message.namespace, message.name), kind))
        return found

    async def known(self, said: Submission) -> str | None:
        """The job that this client's same body made before; a different body is refused. Admission has the last word:
        what cannot be looked up now goes through, and is recognised there."""
        digest = ""
        job = ""
        if (recent := self._recent.get(said.key)) is not None:
            digest, job = recent
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
        raise used_before(job)

    async def limited(self, said: Submission) -> None:
        """A store that is away keeps nobody out: how many are pending is not known then."""
        try:
            pending = await self._limiter.pending((said.tenant,))
        except Unreachable:
            pending = {}
        if too_much := self._limiter.take(said.tenant, said.size, pending):
            raise problem.too_much(too_much.why, too_much.wait_ms)

    def remember(self, said: Submission) -> None:
        self._recent[said.key] = (said.digest, said.job)
        while len(self._recent) > _RECENT:
            self._recent.popitem(last=False)

    async def word(self, said: Submission) -> asyncio.Future[Word]:
        try:
            return await self.settled.expect((said.job, said.say.id), _LISTEN_S)
        except TimeoutError:
            raise problem.away("the bus does not answer", "nothing was accepted; try again") from None

    async def publish(self, words: Sequence[Say], client: str = "") -> None:
        """All of it stored, or a Problem that says whether some of it may have been."""
        if never := await self.stored(words, client):
            raise problem.unsayable(next(iter(never.values())))

    async def stored(self, words: Sequence[Say], client: str = "") -> dict[str, Unsaid]:
        """By their ids, what no bus would ever store; all else is stored. Raises a Problem when that is not known."""
        bus = self._world.bus
        if not bus.connected:
            raise problem.away("the bus is away", "nothing was accepted; try again")
        messages = list(map(outgoing, words))
        try:
            async with asyncio.timeout(_PUBLISH_S):
                await bus.publish(messages)
        except Unsayable as error:
            # By what they say: a message whose id was taken goes out under another one.
            ids = {message.data: message.id for message in messages}
            return {ids[one.message.data]: one for one in error.refused}
        except (Unreachable, TimeoutError, OSError) as error:
            same = f"try again with Idempotency-Key: {client}" if client else "try again with the same client ids"
            detail = f"it is not known whether the message was stored; {same}, which is safe"
            cause = f": {error}" if isinstance(error, Unreachable) else ""
            raise problem.away(f"the bus did not confirm the message{cause}", detail) from error
        return {}


def used_before(job: str) -> problem.Problem:
    text = f"this client id was used before with another body, for job {job}"
    return problem.refused([Reason(Code.DUPLICATE, text, "Idempotency-Key", "use a new client id")], job)


async def settled(said: Submission, asked: Asked, word: asyncio.Future[Word] | None) -> Accepted:
    """What is known when the first word was said, or when it was waited for long enough."""
    message = said.say.message
    warnings = job_warnings(bytes(message.manifest)) if isinstance(message, wire.Submitted) else ()
    plain = Accepted(said.job, said.tenant, asked.client, warnings=warnings)
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
