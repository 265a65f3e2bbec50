"""Answers of the HTTP door: JSON by msgspec, errors as problem+json (RFC 9457) with the cause first."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from fairway.gateway.http.answers import ReasonBody, bodies
from fairway.runtime.record.publishable import Unsaid
from fairway.wire.reasons import Code, Reason, Refused

encode = msgspec.json.Encoder().encode
# After this many seconds a client may try again what the bus or the store could not take.
RETRY_AFTER_S = 2


class ProblemBody(Struct, frozen=True, omit_defaults=True):
    """`title` is the cause, `detail` what to do about it."""

    title: str
    status: int
    detail: str = ""
    code: str = ""
    job: str = ""
    reasons: tuple[ReasonBody, ...] = ()


class Problem(Exception):
    def __init__(self, status: int, title: str, detail: str = "", **more: Any) -> None:
        super().__init__(title)
        self.headers: dict[str, str] = more.pop("headers", {})
        self.body = ProblemBody(title=title, status=status, detail=detail, **more)


def refused(reasons: Sequence[Reason], job: str = "", title: str = "") -> Problem:
    """A manifest that is not taken: 413 when it is only its size, 409 for a duplicate, else 422."""
    codes = {one.code for one in reasons}
    status = 413 if codes == {Code.TOO_LARGE} else 409 if codes == {Code.DUPLICATE} else 422
    first = reasons[0]
    place = f"{first.field}: " if first.field else ""
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    title = title or f"{place}{first.text}{more}"
    return Problem(status, title, first.remedy, code=first.code.value, job=job, reasons=bodies(reasons))


def away(cause: str, detail: str) -> Problem:
    return Problem(503, cause, detail, code="Unavailable", headers={"Retry-After": str(RETRY_AFTER_S)})


def unsayable(one: Unsaid) -> Problem:
    """What no bus would ever store: trying again is of no use."""
    title = f"this cannot be said on the bus: {one.why.text}"
    status = 413 if one.too_large else 422
    return Problem(status, title, one.why.remedy, code=one.why.code.value, reasons=bodies([one.why]))


def too_much(why: Reason, wait_ms: int) -> Problem:
    """Nothing was accepted; the same may be sent again after so many milliseconds."""
    again = {"Retry-After": str(-(-wait_ms // 1_000))}
    return Problem(429, why.text, why.remedy, code=why.code.value, reasons=bodies([why]), headers=again)


def answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(encode(value), status, headers, "application/json")


async def on_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem), "registered for Problem only"
    return Response(encode(error.body), error.body.status, error.headers, "application/problem+json")


async def on_refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused), "registered for Refused only"
    return await on_problem(request, refused(error.reasons))


async def on_failure(request: Request, error: Exception) -> Response:
    """What nobody foresaw. The server logs it; the answer keeps it to itself."""
    return await on_problem(request, Problem(500, "the gateway failed at this request", "see its log, and try again"))


async def on_status(request: Request, error: Exception) -> Response:
    """What the router itself answers: 404 and 405."""
    status = getattr(error, "status_code", 500)
    titles = {404: f"nothing is served at {request.url.path[:200]}", 405: f"{request.method} is not served here"}
    detail = "see /openapi.json for what is served"
    return await on_problem(request, Problem(status, titles.get(status, "the request failed"), detail))
