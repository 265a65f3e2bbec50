"""Before every route: the host, the caller, and how much they ask. Nothing behind it is reached without a caller."""

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fairway.domain.text.bearer_token import LONGEST
from fairway.gateway.callers.access import Access, Callers
from fairway.gateway.callers.hosts import Hosts
from fairway.gateway.callers.rate_limits import TOGETHER, Buckets, HttpLimits, InHand, too_much
from fairway.gateway.callers.tokens import HOW, unauthenticated
from fairway.gateway.callers.unknown_tokens import UnknownTokens
from fairway.gateway.counted import http_counts
from fairway.gateway.counted.http_counts import HttpCounts
from fairway.gateway.http.problem import Problem, on_problem
from fairway.runtime.ports import Clock, Ids


class Gate:
    def __init__(
        self, app: ASGIApp, callers: Callers, hosts: Hosts, limits: HttpLimits, ports: tuple[Clock, Ids]
    ) -> None:
        self._app = app
        self._callers = callers
        self._hosts = hosts
        self._clock, self._ids = ports
        self._paces = Buckets(limits.rate, 2 * limits.rate)
        self._strangers = UnknownTokens(limits.rate)
        self._in_hand = InHand(limits.in_hand, "requests of one caller")
        self._of_tenants = Buckets(TOGETHER * limits.rate, TOGETHER * 2 * limits.rate)
        self._in_hand_of_tenants = InHand(TOGETHER * limits.in_hand, "requests of the service accounts of a namespace")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        try:
            self._hosts.check(request)
            access = await self._access(request)
            caller = access.caller
            with self._in_hand.one(caller.user), self._in_hand_of_tenants.one(caller.tenant):
                # `caller` is who every message that comes of this request says it is of.
                scope["state"] = {**scope.get("state", {}), "access": access, "caller": access.actor}
                await self._app(scope, receive, _named(send, access.request))
        except Problem as problem:
            await (await on_problem(request, problem))(scope, receive, send)
        except ClientDisconnect:
            return  # nobody is there to be told

    async def _access(self, request: Request) -> Access:
        now = self._clock.now()
        tokens = self._callers.tokens
        counts = self._callers.counts
        token = _bearer(request, counts)
        # Whoever has no good token cannot be told from others at the same address, and may cost the hub a question.
        if wait := self._strangers.wait(self._hosts.address(request), *tokens.standing(token), now):
            counts.unknown(http_counts.TOO_MANY)
            raise too_much("too many requests of this address have no good token", wait)
        if not token:
            counts.unknown(http_counts.NO_TOKEN)
            title = "there is no caller: the request has no bearer token"
            if request.headers.get("x-remote-user"):
                title = f"{title}, and what it says of its user itself does not count"
            raise unauthenticated(title)
        try:
            caller = await tokens.who(token)
        except Problem as problem:
            counts.unknown(http_counts.BAD_TOKEN if problem.body.status == 401 else http_counts.HUB_AWAY)
            raise
        if wait := self._paces.wait(caller.user, now):
            raise too_much(f"{caller.user} sends more requests a second than one caller may", wait)
        if wait := self._of_tenants.wait(caller.tenant, now):
            title = f"{caller.tenant} send more requests a second than {TOGETHER} callers may"
            raise too_much(title, wait)
        return Access(self._callers, caller, token, self._ids.new())


def _bearer(request: Request, counts: HttpCounts) -> str:
    """Empty: there is none. Raises a Problem when it cannot be told which one counts."""
    given = request.headers.getlist("authorization")
    if not given:
        return ""
    scheme, _, token = given[0].partition(" ")
    if len(given) > 1 or scheme.lower() != "bearer" or len(token) > LONGEST:
        counts.unknown(http_counts.BAD_HEADER)
        raise Problem(
            401,
            "the Authorization header is not one bearer token",
            HOW,
            code="Unauthenticated",
            headers={"WWW-Authenticate": 'Bearer realm="fairway", error="invalid_request"'},
        )
    return token


def _named(send: Send, request: str) -> Send:
    """The id under which the record knows the request stands in its answer."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), (b"x-request-id", request.encode())]}
        await send(message)

    return sending
