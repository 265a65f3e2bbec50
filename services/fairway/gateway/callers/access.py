"""Authorisation: the hub is asked, as the caller, for every thing they want (SubjectAccessReview)."""

from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import Request

from fairway.gateway.callers.answer_cache import AnswerCache
from fairway.gateway.callers.caller import JOBS, AccessQuestion, Caller
from fairway.gateway.callers.keys import Keys
from fairway.gateway.callers.tokens import Hub, Tokens
from fairway.gateway.counted.http_counts import HttpCounts
from fairway.gateway.http.problem import Problem
from fairway.runtime.cluster_port import Cluster
from fairway.runtime.ports import Clock
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code

KIND = "SubjectAccessReview.authorization.k8s.io/v1"
VIA = "http"
_encode = msgspec.json.Encoder(order="deterministic").encode
# Of so many questions one request may be the cause: a list that is longer names a namespace.
MOST_ASKED = 64


class _Status(Struct):
    allowed: bool = False
    denied: bool = False


class Callers:
    """Everybody who may come, over one hub. Without a hub only those with a key come, and they may do everything."""

    def __init__(self, clock: Clock, hub: Cluster | None, keys: Keys) -> None:
        self.counts = HttpCounts()
        self._hub = Hub(hub, self.counts.reviews.observe) if hub is not None else None
        self.tokens = Tokens(clock, self._hub, keys)
        self._kept: AnswerCache[bool] = AnswerCache(clock)

    async def may(self, caller: Caller, ask: AccessQuestion, anew: bool = False) -> bool:
        """Raises a Problem (503) when the hub does not say. `anew`: whatever it said before."""
        if caller.operator:
            return True
        if self._hub is None:
            return False
        hub = self._hub
        key = sha256(_encode((caller, ask))).digest()
        return await self._kept.get(key, lambda: _reviewed(hub, caller, ask), anew)


async def _reviewed(hub: Hub, caller: Caller, ask: AccessQuestion) -> bool:
    attributes = {"verb": ask.verb, "group": ask.group, "resource": ask.resource}
    attributes |= {"namespace": ask.namespace} if ask.namespace else {}
    attributes |= {"name": ask.name} if ask.name else {}
    spec: dict[str, Any] = {"user": caller.user, "groups": list(caller.groups), "resourceAttributes": attributes}
    spec |= {"uid": caller.uid} if caller.uid else {}
    spec |= {"extra": {name: list(values) for name, values in caller.extra}} if caller.extra else {}
    said: _Status = await hub.review(KIND, spec, _Status)
    return said.allowed and not said.denied


class Access:
    """What one caller may, for one request. `asked` counts what was asked."""

    def __init__(self, callers: Callers, caller: Caller, token: str, request: str) -> None:
        self._callers = callers
        self.caller = caller
        self._token = token
        self.request = request
        self._said: dict[AccessQuestion, bool] = {}
        self._anew = False

    async def again(self) -> "Access":
        """The same, if the hub still says that the token is good; it is asked anew for everything. Raises a Problem."""
        found = Access(self._callers, await self._callers.tokens.who(self._token, True), self._token, self.request)
        found._anew = True
        return found

    @property
    def asked(self) -> int:
        return len(self._said)

    @property
    def actor(self) -> Actor:
        return Actor(self.caller.user, VIA, self.request)

    @property
    def owner(self) -> Actor:
        """Of what is submitted now: when it starts the hub is asked what they may have sent along."""
        return Actor(self.caller.user, VIA, self.request, self.caller.groups)

    async def may(self, ask: AccessQuestion) -> bool:
        if ask not in self._said:
            if len(self._said) >= MOST_ASKED:
                text = f"this touches more than {MOST_ASKED} namespaces or kinds"
                raise Problem(400, text, "ask for less at a time: name a namespace, or send fewer documents")
            self._said[ask] = await self._callers.may(self.caller, ask, self._anew)
        return self._said[ask]

    async def need(self, ask: AccessQuestion) -> None:
        """Raises a Problem (403) that names what is missing."""
        if not await self.may(ask):
            raise self.forbidden(ask)

    def forbidden(self, ask: AccessQuestion) -> Problem:
        """What is answered to who may not; it is counted."""
        self.denied(ask)
        return forbidden(self.caller, ask)

    def denied(self, ask: AccessQuestion) -> None:
        self._callers.counts.denied(ask.verb, ask.resource)

    async def everywhere(self, verb: str) -> bool:
        """Whether they may do this with the jobs of every namespace."""
        return await self.may(AccessQuestion(verb, JOBS))

    async def jobs(self, verb: str, namespace: str) -> bool:
        """Whether they may do this with the jobs of one namespace."""
        return await self.everywhere(verb) or await self.may(AccessQuestion(verb, JOBS, namespace=namespace))


def forbidden(caller: Caller, ask: AccessQuestion) -> Problem:
    where = f" -n {ask.namespace}" if ask.namespace else ""
    check = f"kubectl auth can-i {ask.verb} {ask.title}{where}"
    detail = f"ask an administrator of the hub for a Role that allows it (deploy/hub/callers.yaml); `{check}` tells"
    return Problem(403, f"{caller.user} may not {ask}", detail, code=Code.FORBIDDEN.value)


def access_of(request: Request) -> Access:
    """Put there by the gate: there is no request without."""
    access: Access = request.state.access
    return access
