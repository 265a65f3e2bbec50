"""/readyz: whether a process is ready, for anybody; what it waits for, for who asks by a name of its own."""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse

from fairway.gateway.callers.hosts import Hosts
from fairway.gateway.http.problem import Problem

_MORE = "what it waits for is told at http://127.0.0.1, and at the names of FAIRWAY_HTTP_HOSTS"


def readiness(request: Request, hosts: Hosts, waiting: list[str] | str, **more: Any) -> JSONResponse:
    """A probe asks by any address, and needs the status alone. A page of another site that has its own name lead here
    sends that name: it would read of members, kinds and causes."""
    body = {"ready": not waiting, **more, "waiting": waiting}
    try:
        hosts.check(request)
    except Problem:
        body = {"ready": not waiting, "detail": _MORE}
    return JSONResponse(body, status_code=503 if waiting else 200)
