"""Outermost: every request is counted by its route and what was answered, whoever answered it."""

import time
from collections.abc import Sequence

from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairway.gateway.counted.http_counts import HttpCounts


class Measured:
    def __init__(self, app: ASGIApp, counts: HttpCounts, routes: Sequence[Route]) -> None:
        self._app = app
        self._counts = counts
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.monotonic()
        answered = False

        def count(status: int) -> None:
            nonlocal answered
            answered = True
            self._counts.answered(self._route(scope), scope["method"], status, time.monotonic() - began)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                count(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception:
            if not answered:
                count(500)  # as whoever is outside of this answers
            raise

    def _route(self, scope: Scope) -> str:
        """Its template. A path with another method than the route's is still of that route."""
        asked = {**scope}
        return next((one.path for one in self._routes if one.matches(asked)[0] is not Match.NONE), "")
