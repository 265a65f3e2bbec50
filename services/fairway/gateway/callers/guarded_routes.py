"""Before each handler: the parameters that the request names, and the route's right where it is known by then. A
handler that answers unasked is a mistake."""

from collections.abc import Awaitable, Callable, Sequence

from starlette.requests import Request
from starlette.responses import Response

from fairway.gateway.callers.access import access_of
from fairway.gateway.http.answers import bodies
from fairway.gateway.http.openapi import Operation, Parameter
from fairway.gateway.http.problem import Problem
from fairway.wire.reasons import Code, Reason

Handler = Callable[[Request], Awaitable[Response]]
_SHOWN = 40


def guarded(operation: Operation, handler: Handler) -> Handler:
    async def answered(request: Request) -> Response:
        access = access_of(request)
        check_parameters(request, operation.parameters)
        if operation.right.at_once:
            await access.need(operation.right.ask)
        response = await handler(request)
        if not access.asked:
            raise Problem(500, "the gateway failed at this request: it asked for no right", "report this")
        return response

    return answered


def check_parameters(request: Request, parameters: Sequence[Parameter]) -> None:
    """Raises a Problem (400) for what stands in the query and is not acted on: whoever writes `dryRun` to a route that
    knows nothing of it would have done what they only wanted to try."""
    known = {one.name: one for one in parameters if one.place == "query"}
    seen = set[str]()
    for name, value in request.query_params.multi_items():
        shown = name[:_SHOWN]
        if name not in known:
            takes = f"this route takes {', '.join(known)}" if known else "this route takes none"
            raise refused_parameter(shown, f"{shown} is no parameter of this route", f"leave it out; {takes}")
        if name in seen:
            raise refused_parameter(shown, f"{shown} is there twice", "give it once")
        if (values := known[name].values) and value not in values:
            remedy = f"use {' or '.join(f'{name}={one}' for one in values)}, or leave it out"
            raise refused_parameter(shown, f"{shown}={value[:_SHOWN]!r} is not known", remedy)
        seen.add(name)


def refused_parameter(name: str, text: str, remedy: str) -> Problem:
    reasons = bodies([Reason(Code.INVALID, text, name, remedy)])
    return Problem(400, text, remedy, code=Code.INVALID.value, reasons=reasons)
