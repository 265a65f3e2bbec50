"""The port of a process for those who watch it: metrics, health and readiness. It asks nobody who they are, so it is
not the door's port, and on this machine alone unless FAIRWAY_METRICS_HOST says otherwise."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from prometheus_client import CollectorRegistry, make_asgi_app
from starlette.responses import PlainTextResponse

from fairway.domain.text.host_names import is_loopback, without_port

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
# Told before each scrape; None as long as there is nothing to tell.
Counted = Callable[[], Awaitable[CollectorRegistry | None]]
HEALTH = ("/healthz", "/readyz")


class MetricsPage:
    """`health` answers the paths of HEALTH. On a port of this machine alone it answers to loopback names only: a page
    of another site that points its own name here still sends that name."""

    def __init__(self, host: str, counted: Counted, health: App) -> None:
        self._counted = counted
        self._health = health
        self._loopback = is_loopback(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope.get("path", ""))
        if scope["type"] != "http":
            return
        if self._loopback and not is_loopback(without_port(_host(scope))):
            answer: App = PlainTextResponse("this port answers only to loopback names; use http://127.0.0.1\n", 421)
        elif path in HEALTH:
            answer = self._health
        elif path.rstrip("/") != "/metrics":
            answer = PlainTextResponse("nothing is served here but /metrics, /healthz and /readyz\n", 404)
        elif (registry := await self._counted()) is None:
            answer = PlainTextResponse("the bus was not reached yet\n", 503)
        else:
            # Compressing the page of a large fleet takes as long as making it, and stops every loop meanwhile.
            answer = make_asgi_app(registry, disable_compression=True)
        await answer(scope, receive, send)


def _host(scope: Scope) -> str:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
