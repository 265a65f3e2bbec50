"""A route's right, asked before its handler where it is known by then; a handler that answers unasked is a mistake."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from fairway.gateway.callers.access import access_of
from fairway.gateway.callers.caller import Right
from fairway.gateway.problem import Problem

Handler = Callable[[Request], Awaitable[Response]]


def guarded(right: Right, handler: Handler) -> Handler:
    async def answered(request: Request) -> Response:
        access = access_of(request)
        if right.at_once:
            await access.need(right.ask)
        response = await handler(request)
        if not access.asked:
            raise Problem(500, "the gateway failed at this request: it asked for no right", "report this")
        return response

    return answered
