"""Bodies of requests, read within their size and their time, and the job or the objects in them."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import structlog
from msgspec import Struct
from starlette.requests import Request

from fairway.domain.events import message_id
from fairway.domain.submission import Asked, client_problem, names_of
from fairway.domain.text.digits import is_whole
from fairway.gateway.callers.access import access_of
from fairway.gateway.http.problem import Problem, refused
from fairway.runtime.ports import Ids, World
from fairway.wire.reasons import Code, Reason, Refused
from fairway.workloads.reading.parse import LARGEST_TEXT, parse_documents, with_name
from fairway.workloads.settings.policies import is_policy

log = structlog.get_logger()
_YAML = ("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml")
# Texts larger than this are parsed beside the event loop: of YAML this is some 10 ms.
_INLINE = 8 * 1024
# So many of them at a time, each of another tenant.
_AT_ONCE = 2


class Envelope(Struct, frozen=True):
    """The body of a submission as JSON. `client` is the id by which a repeat is known; the header wins over it."""

    manifest: dict[str, Any]
    policies: list[dict[str, Any]] = []
    client: str = ""


class Turns:
    """Large texts are parsed few at a time, and of each tenant's callers one: whoever sends many waits for their own,
    and stands before others with one of them at most."""

    def __init__(self, at_once: int = _AT_ONCE) -> None:
        self._turn = asyncio.Semaphore(at_once)
        self._own: dict[str, asyncio.Lock] = {}
        self._waiting: Counter[str] = Counter()

    @asynccontextmanager
    async def one(self, tenant: str) -> AsyncIterator[None]:
        self._waiting[tenant] += 1
        try:
            # Both let in who came first: so behind its own, each has the next turn but those of the others.
            async with self._own.setdefault(tenant, asyncio.Lock()), self._turn:
                yield
        finally:
            self._waiting[tenant] -= 1
            if not self._waiting[tenant]:
                del self._waiting[tenant], self._own[tenant]


class Reading:
    """`count` is told of each body that cannot be read."""

    def __init__(self, world: World, ids: Ids, body_s: float, count: Callable[[Code], None]) -> None:
        self._world = world
        self._ids = ids
        self._body_s = body_s
        self._count = count
        self._turns = Turns()

    async def asked(self, request: Request) -> Asked:
        """The one job in the body of a request."""
        client = request.headers.get("idempotency-key", "")
        documents = await self.documents(request)
        if media(request) == "application/json" and len(documents) == 1 and "manifest" in documents[0]:
            return self.named(from_envelope(documents[0], client))
        return self.named(one_job(documents, client))

    def named(self, asked: Asked) -> Asked:
        """With an id of its client and with a name, which are made where there are none. Raises Refused."""
        if why := client_problem(asked.client, "Idempotency-Key"):
            raise Refused(why)
        asked = msgspec.structs.replace(asked, client=asked.client or f"http:{self._ids.new()}")
        suffix = message_id("name", names_of(asked.manifest)[0], asked.client)[:5]
        return msgspec.structs.replace(asked, manifest=with_name(asked.manifest, suffix))

    async def documents(self, request: Request) -> list[dict[str, Any]]:
        """The objects in the body of a request."""
        kind = media(request)
        if kind not in (*_YAML, "application/json"):
            detail = "send application/json or application/yaml"
            raise Problem(415, f"the body is {kind[:60] or 'of no type'}, which is not read here", detail)
        try:
            return await self._parsed(await read_body(request, self._body_s), access_of(request).caller.tenant)
        except (Refused, Problem) as error:
            # Counted and not kept: whoever sends what cannot be read would fill the dead letters with it.
            self._count(error.reasons[0].code if isinstance(error, Refused) else Code(error.body.code))
            raise

    async def _parsed(self, body: bytes, tenant: str) -> list[dict[str, Any]]:
        if len(body) <= _INLINE:
            return parse_documents(body)
        async with self._turns.one(tenant):
            return await asyncio.to_thread(parse_documents, body)


def one_job(documents: Sequence[dict[str, Any]], client: str) -> Asked:
    """The one job among `documents`, the rest being policies. Raises Refused."""
    policies = tuple(one for one in documents if is_policy(one))
    jobs = [one for one in documents if not is_policy(one)]
    if len(jobs) == 1:
        return Asked(jobs[0], policies, client)
    kinds = ", ".join(str(one.get("kind", "?"))[:60] for one in jobs[:5]) or "none"
    text = f"the body holds {len(jobs)} objects that are no policies ({kinds}), not one job"
    raise Refused(Reason(Code.INVALID, text, remedy="send one job in each request, with its policies beside it"))


def from_envelope(body: dict[str, Any], client: str) -> Asked:
    """`{"manifest": {...}, "policies": [...], "client": "..."}`. Raises Refused with the field."""
    unknown = sorted(set(body) - {"manifest", "policies", "client"})
    if unknown:
        raise Refused(Reason(Code.INVALID, "is not known", str(unknown[0])[:80], "use manifest, policies and client"))
    manifest = body.get("manifest")
    policies = body.get("policies") or []
    if not isinstance(manifest, dict):
        raise Refused(Reason(Code.INVALID, "is missing or not an object", "manifest", "put the job's manifest here"))
    if not isinstance(policies, list) or not all(isinstance(one, dict) for one in policies):
        raise Refused(Reason(Code.INVALID, "is not a list of objects", "policies", "put PropagationPolicies here"))
    wrong = next((index for index, one in enumerate(policies) if not is_policy(one)), None)
    if wrong is not None:
        kind = str(policies[wrong].get("kind", "?"))[:60]
        raise Refused(Reason(Code.INVALID, f"{kind} is not a policy", f"policies[{wrong}]", "leave it out"))
    given = body.get("client") or ""
    if not isinstance(given, str):
        raise Refused(Reason(Code.INVALID, "is not a string", "client", "put it in quotes"))
    return Asked(manifest, tuple(policies), client or given)


def media(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_body(request: Request, seconds: float) -> bytes:
    """At most 1 MiB of it, within its time; more is refused without being read."""
    declared = request.headers.get("content-length", "")
    if is_whole(declared) and int(declared) > LARGEST_TEXT:
        raise _too_large(int(declared))
    size = 0
    parts = []
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                size += len(part)
                if size > LARGEST_TEXT:
                    raise _too_large(size)
                parts.append(part)
    except TimeoutError:
        text = f"the body was not there within {seconds:g} s"
        raise Problem(408, text, "send it faster, or less of it", headers={"Connection": "close"}) from None
    return b"".join(parts)


def _too_large(size: int) -> Problem:
    text = f"the body has {size} bytes or more; {LARGEST_TEXT} (1 MiB) is the most"
    return refused([Reason(Code.TOO_LARGE, text, remedy="move data out of it, into a ConfigMap or an image")])
