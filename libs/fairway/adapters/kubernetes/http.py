"""Requests to one Kubernetes API: bytes in, bytes out, and one meaning for every way they can fail."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import aiohttp
import msgspec
from msgspec import Struct
from yarl import URL

from fairway.adapters.kubernetes.responses import Status, status_of
from fairway.domain.text.digits import is_whole
from fairway.runtime.cluster_port import ClusterRefused
from fairway.runtime.ports import Unreachable

if TYPE_CHECKING:
    from kubernetes_asyncio.client import ApiClient

JSON = "application/json"
MERGE = "application/merge-patch+json"
STEPS = "application/json-patch+json"
# Of an object that was written only its metadata is answered: the server has less to encode, and we to read.
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

_TIMEOUT = aiohttp.ClientTimeout(total=30, sock_connect=5)
# A page of 500 pods of 15 KB is 8 MB; a server that says far more is broken or hostile.
_MOST_BYTES = 128 * 2**20
_MOST_LINE = 8 * 2**20
_MOST_TEXT = 2_000
# Calls under way at once. More only queue up in the API server, and each connection costs a TLS handshake.
_CALLS = 24
_BUSY_TRIES = 4
_BUSY_MOST_S = 10.0
_REASONS = {
    400: "BadRequest",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    409: "Conflict",
    410: "Expired",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    422: "Invalid",
}


class HttpRefusal(ClusterRefused):
    """With the HTTP status, the plural and name of the object that it speaks of, when it names one, and the reasons of
    its causes."""

    def __init__(self, status: int, said: Status) -> None:
        super().__init__(said.reason or _REASONS.get(status, str(status)), said.message[:_MOST_TEXT])
        self.status = status
        self.plural = said.details.kind if said.details else ""
        self.named = said.details.name if said.details else ""
        self.causes = [one.reason for one in (said.details.causes if said.details else None) or ()]


class Failing(Unreachable):
    """The server answered that it failed; `said` is what it said."""

    def __init__(self, what: str, status: int, said: Status) -> None:
        super().__init__(f"{what} failed with {status}: {said.message[:_MOST_TEXT] or 'no reason given'}")
        self.said = said


class NoAnswer(Unreachable):
    """The connection stands, and nothing came through it for as long as silence is trusted."""


class AnswerTooLarge(Unreachable):
    """The answer is larger than any is read, or longer than any is waited for: a smaller one may come."""


class Request(Struct, frozen=True):
    """`known` is the ETag of the answer that the caller has: when it still holds, the answer is empty."""

    method: str
    path: str
    query: Mapping[str, str] = {}
    body: Any = None
    content: str = JSON
    accept: str = JSON
    known: str = ""


class Http:
    def __init__(self, name: str, client: ApiClient, rng: random.Random) -> None:
        self._name = name
        self._client = client
        self.rng = rng
        self._in_hand: dict[ApiClient, int] = {}
        self._calls = asyncio.Semaphore(_CALLS)
        self._renewed = asyncio.Event()

    async def use(self, client: ApiClient) -> None:
        """Other credentials from the next request on. What is in hand ends with the former ones, a watch whenever its
        server ends it; nothing is asked twice and nothing is missed."""
        former = self._client
        self._client = client
        renewed = self._renewed
        self._renewed = asyncio.Event()
        renewed.set()
        if former not in self._in_hand:
            await former.close()

    async def pause(self, seconds: float) -> None:
        """Before trying again what failed: as long as that, or until there are other credentials."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._renewed.wait()

    async def call(self, request: Request) -> bytes:
        """The body of a 2xx answer."""
        return (await self.tagged(request))[0]

    async def found(self, request: Request) -> bytes | None:
        """As `call`, and None when there is no such thing."""
        try:
            return await self.call(request)
        except HttpRefusal as error:
            if error.status != 404:
                raise
            return None

    async def tagged(self, request: Request) -> tuple[bytes, str]:
        """The body of a 2xx answer and its ETag; no body when the one that is `known` still holds. 429 is waited out a
        few times, as long as the server asks, with jitter."""
        for _ in range(_BUSY_TRIES):
            async with self._calls, self._send(request, _TIMEOUT) as response:
                data = await _whole(response)
                if 200 <= response.status < 300 or (response.status == 304 and request.known):
                    return data, response.headers.get("ETag", request.known)
                if response.status != 429:
                    raise _failure(f"{self._name} {request.method} {request.path}", response.status, data)
                wait = _seconds(response.headers.get("Retry-After", ""))
            await asyncio.sleep(wait * self.rng.uniform(1.0, 1.5))
        raise Unreachable(f"{self._name} answers {request.path} with 429, too many requests; trying again later")

    async def lines(self, request: Request, idle_s: float) -> AsyncGenerator[bytes, None]:
        """The lines of an answer without end; Silent when nothing comes for `idle_s`."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=5, sock_read=idle_s)
        async with self._send(request, timeout) as response:
            if response.status != 200:
                data = await _whole(response)
                raise _failure(f"{self._name} {request.method} {request.path}", response.status, data)
            rest = b""
            async for chunk in response.content.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    if line:
                        yield line
                if len(rest) > _MOST_LINE:
                    raise Unreachable(f"{self._name} sent a line of more than {_MOST_LINE} bytes; asking again")

    @contextlib.asynccontextmanager
    async def _send(self, request: Request, timeout: aiohttp.ClientTimeout) -> AsyncIterator[aiohttp.ClientResponse]:
        client = self._client
        self._in_hand[client] = self._in_hand.get(client, 0) + 1
        try:
            async with self._sent(client, request, timeout) as response:
                yield response
        finally:
            self._in_hand[client] -= 1
            if not self._in_hand[client]:
                del self._in_hand[client]
                if client is not self._client:
                    await client.close()

    @contextlib.asynccontextmanager
    async def _sent(
        self, client: ApiClient, request: Request, timeout: aiohttp.ClientTimeout
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        rest = client.rest_client
        given = client.configuration
        if rest.pool_manager.closed:
            raise Unreachable(f"{self._name} is no longer a member")
        headers = {"Accept": request.accept, "User-Agent": "fairway"}
        token = await given.get_api_key_with_prefix("BearerToken")
        if token:
            headers["Authorization"] = token
        if request.known:
            headers["If-None-Match"] = request.known
        data = None
        if request.body is not None:
            data = msgspec.json.encode(request.body)
            headers["Content-Type"] = request.content
        query = "?" + urlencode(request.query) if request.query else ""
        try:
            async with rest.pool_manager.request(
                request.method,
                URL(f"{given.host}{request.path}{query}", encoded=True),
                data=data,
                headers=headers,
                timeout=timeout,
                allow_redirects=False,
                server_hostname=rest.server_hostname,
            ) as response:
                yield response
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            cause = str(error) or type(error).__name__
            meaning = NoAnswer if isinstance(error, aiohttp.SocketTimeoutError) else Unreachable
            raise meaning(f"{self._name} did not answer {request.method} {request.path}: {cause}") from error

    async def close(self) -> None:
        await self._client.close()


async def _whole(response: aiohttp.ClientResponse) -> bytes:
    chunks = []
    size = 0
    try:
        async for chunk in response.content.iter_any():
            chunks.append(chunk)
            size += len(chunk)
            if size > _MOST_BYTES:
                raise AnswerTooLarge(f"the answer is larger than {_MOST_BYTES} bytes and was not read to its end")
    except TimeoutError as error:
        if not chunks:
            raise
        raise AnswerTooLarge(f"after {_TIMEOUT.total:g} s only {size} bytes of the answer had come") from error
    return b"".join(chunks)


def _failure(what: str, status: int, data: bytes) -> Exception:
    """401 is no refusal of the object: credentials expire and are renewed, as a network comes and goes."""
    said = status_of(data)
    if status in (401, 408) or status >= 500 or status < 400:
        return Failing(what, status, said)
    return HttpRefusal(status, said)


def _seconds(retry_after: str) -> float:
    """Kubernetes writes whole seconds; anything else is read as one."""
    return min(float(retry_after), _BUSY_MOST_S) if is_whole(retry_after) else 1.0
