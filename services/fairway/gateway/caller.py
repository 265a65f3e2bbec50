"""Who asks over HTTP: the one place that says so, for every message that this door writes."""

from starlette.requests import Request

from fairway.runtime.ports import Ids
from fairway.wire.envelope import Actor


def caller(request: Request, ids: Ids) -> Actor:
    """The caller of this request, under an id of its own. Nobody is asked who they are yet."""
    known = getattr(request.state, "caller", None)
    if known is None:
        known = request.state.caller = Actor("unauthenticated", "http", ids.new())
    return known
