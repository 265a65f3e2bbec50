"""What stands between a client and its API server, and spoils it: refusals, stalls, delays, half-open connections."""

import asyncio
import ssl
import weakref
from base64 import b64decode
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import yaml
from aiohttp import web

Json = dict[str, Any]
Fault = Callable[[web.BaseRequest], "web.Response | None"]
_HOP = ("connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding")


def refusal(code: int, reason: str, **headers: str) -> web.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": "meddled with"}
    return web.Response(
        body=msgspec.json.encode({**body, "code": code}), status=code, content_type="application/json", headers=named
    )


class Meddler:
    """Plain HTTP on 127.0.0.1 before the API server of a kubeconfig. `asked` is every request as `METHOD path?query`.

    `fault` sees every request first: what it returns is the answer. `reset` drops connections, `held` answers nothing,
    `stalled` lets no byte of any watch through any more (the connections stay), `stall` none of those open now.
    """

    def __init__(self, kubeconfig: Path) -> None:
        self._config = yaml.safe_load(kubeconfig.read_text())
        self._there = self._config["clusters"][0]["cluster"]
        self._runner = web.ServerRunner(web.Server(self._handle), shutdown_timeout=0.1)
        self._transports: weakref.WeakSet[asyncio.Transport] = weakref.WeakSet()
        self._session: aiohttp.ClientSession
        self.asked: list[str] = []
        self.users: list[str] = []
        self.fault: Fault = lambda request: None
        self.reset = False
        self.held = asyncio.Event()
        self.stalled = False
        self._watches = 0
        self._silenced = 0
        self.restore()

    def restore(self) -> None:
        """Everything goes through; watches that were stalled stay silent."""
        self.fault = lambda request: None
        self.reset = False
        self.stalled = False
        self.held.set()

    def stall(self) -> None:
        """Half a failure: nothing comes through the watches that are open now, and everything else works."""
        self._silenced = self._watches

    def cut(self) -> None:
        """Every connection that is open now is dropped: watches end."""
        for transport in tuple(self._transports):
            transport.abort()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    @property
    def kubeconfig(self) -> Json:
        user = {"token": self._config["users"][0]["user"]["token"]}
        return {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": self.url}}],
            "users": [{"name": "u", "user": user}],
        }

    async def __aenter__(self) -> "Meddler":
        trust = ssl.create_default_context(cadata=b64decode(self._there["certificate-authority-data"]).decode())
        connector = aiohttp.TCPConnector(ssl=trust, limit=0)
        self._session = aiohttp.ClientSession(connector=connector, auto_decompress=False)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.restore()
        await self._runner.cleanup()
        await self._session.close()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        assert request.transport is not None
        self._transports.add(request.transport)
        self.asked.append(f"{request.method} {request.path_qs}")
        self.users.append(request.headers.get("Authorization", ""))
        if self.reset:
            request.transport.abort()
            raise ConnectionResetError("dropped by the test")
        await self.held.wait()
        answer = self.fault(request)
        if answer is not None:
            return answer
        body = await request.read()
        headers = {name: value for name, value in request.headers.items() if name.lower() not in ("host", *_HOP)}
        url = self._there["server"] + request.path_qs
        try:
            async with self._session.request(
                request.method,
                aiohttp.client.URL(url, encoded=True),
                data=body or None,
                headers=headers,
                timeout=aiohttp.ClientTimeout(total=None),
                allow_redirects=False,
            ) as said:
                return await self._pass_on(request, said)
        except aiohttp.ClientError:
            # The server is away: so is this.
            if request.transport is not None:
                request.transport.abort()
            raise ConnectionResetError("the server is away") from None

    async def _pass_on(self, request: web.BaseRequest, said: aiohttp.ClientResponse) -> web.StreamResponse:
        kept = {name: value for name, value in said.headers.items() if name.lower() not in _HOP}
        response = web.StreamResponse(status=said.status, headers=kept)
        await response.prepare(request)
        watch = "watch=" in request.path_qs
        self._watches += watch
        number = self._watches
        with suppress(ConnectionResetError, asyncio.IncompleteReadError):
            async for chunk in said.content.iter_any():
                if watch and (self.stalled or number <= self._silenced):
                    await asyncio.Event().wait()
                await response.write(chunk)
        return response
