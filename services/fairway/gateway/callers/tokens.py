"""Authentication: whose token is it? The hub is asked (TokenReview), and what it says is kept for a short while."""

import asyncio
import base64
import binascii
import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import msgspec
import structlog
from msgspec import Struct

from fairway.domain.text.bearer_token import is_token
from fairway.gateway.callers.answer_cache import AnswerCache
from fairway.gateway.callers.caller import Caller
from fairway.gateway.callers.keys import Keys
from fairway.gateway.callers.unknown_tokens import AddressStanding, Subject
from fairway.gateway.http.problem import Problem, away
from fairway.runtime.cluster_port import Cluster, ClusterRefused
from fairway.runtime.ports import Clock, Unreachable
from fairway.wire.reasons import Code

log = structlog.get_logger()
KIND = "TokenReview.authentication.k8s.io/v1"
# The audience that a token can be made for which is good here and nowhere else.
AUDIENCE = "fairway"
OPERATOR = "operator"
HOW = (
    f"send a bearer token: kubectl create token NAME -n NAMESPACE --audience {AUDIENCE} makes one of a service account"
)
# What an API server calls whoever it does not know, where it lets them in.
_NOBODY = "system:anonymous"
_STRANGERS = "system:unauthenticated"
# Questions to the hub at once: of those that it knows, and of each sort of token that was never good. For so long one
# is waited for: less than a client waits for us.
_AT_ONCE = 8
_STRANGE_AT_ONCE = 4
_WAIT_S = 5.0
# Subjects that are remembered: as many as callers.
_MOST_SUBJECTS = 16_384


class _User(Struct):
    username: str = ""
    uid: str = ""
    groups: list[str] | None = None
    extra: dict[str, list[str] | None] | None = None


class _Status(Struct):
    authenticated: bool = False
    user: _User | None = None
    audiences: list[str] | None = None


class Hub:
    """Questions to the hub that nobody may answer but itself: without an answer there is a 503, never a yes."""

    def __init__(self, hub: Cluster, took: Callable[[float], None]) -> None:
        """`took` is told of each answer how long it was waited for (s)."""
        self._hub = hub
        self._took = took
        self._lanes = {one: asyncio.Semaphore(_STRANGE_AT_ONCE) for one in AddressStanding}
        self._lanes[AddressStanding.KNOWN] = asyncio.Semaphore(_AT_ONCE)

    async def review(
        self, kind: str, spec: dict[str, Any], status: type[Any], standing: AddressStanding = AddressStanding.KNOWN
    ) -> Any:
        """`standing` of the token that it is about: a flood of one sort does not hold up the others."""
        gate = self._lanes[standing]
        body = {"apiVersion": kind.partition(".")[2], "kind": kind.partition(".")[0], "spec": spec}
        try:
            began = time.monotonic()
            async with asyncio.timeout(_WAIT_S), gate:
                answer = await self._hub.review(kind, body)
            self._took(time.monotonic() - began)
            return msgspec.convert(answer.get("status") or {}, status)
        except (Unreachable, TimeoutError, OSError) as error:
            log.warning("the hub was not reached to ask about a caller", kind=kind, cause=str(error))
            raise away("the hub does not answer, which knows who may do what", "try again soon") from None
        except (ClusterRefused, msgspec.ValidationError, AttributeError) as error:
            log.error(
                "the hub did not say who may do what", kind=kind, cause=str(error), remedy="deploy/hub/rights.yaml"
            )
            text = "the hub does not tell the gateway who may do what"
            raise away(text, "its operator applies deploy/hub/rights.yaml to the hub") from None


class Tokens:
    """`hub` None: only the keys count."""

    def __init__(self, clock: Clock, hub: Hub | None, keys: Keys) -> None:
        self._hub = hub
        self._keys = keys
        self._kept: AnswerCache[Caller | None] = AnswerCache(clock)
        self._subjects: OrderedDict[Subject, None] = OrderedDict()

    def standing(self, token: str) -> tuple[AddressStanding, Subject | None]:
        """What is known of it without asking, and whose it claims to be."""
        # One that was good before is worth asking anew about, however much its address asks.
        if token and (self._keys.hold(token) or self._kept.known(_digest(token))):
            return AddressStanding.KNOWN, None
        if not token or self._kept.refused(_digest(token)):
            return AddressStanding.REFUSED, None
        subject = claims(token).subject
        if subject is None:
            return AddressStanding.OTHER, None
        return AddressStanding.FAMILIAR if subject in self._subjects else AddressStanding.FORMED, subject

    async def who(self, token: str, anew: bool = False) -> Caller:
        """Raises a Problem: 401 for a token that is not good, 503 when the hub does not say. `anew`: whatever it said
        before."""
        caller: Caller | None = None
        if self._keys.hold(token):
            return Caller(OPERATOR, operator=True)
        if self._hub is not None and is_token(token):
            hub = self._hub
            key = _digest(token)
            standing, subject = self.standing(token)
            caller = await self._kept.get(key, lambda: _reviewed(hub, token, standing), anew)
            if caller is not None and subject is not None:
                self._remember(subject)
        if caller is None:
            raise unauthenticated("the bearer token is not good here: wrong, expired, or made for somebody else", True)
        return caller

    def _remember(self, subject: Subject) -> None:
        self._subjects[subject] = None
        self._subjects.move_to_end(subject)
        while len(self._subjects) > _MOST_SUBJECTS:
            self._subjects.popitem(last=False)


def unauthenticated(title: str, token: bool = False) -> Problem:
    challenge = 'Bearer realm="fairway"' + (', error="invalid_token"' if token else "")
    return Problem(401, title, HOW, code=Code.UNAUTHENTICATED.value, headers={"WWW-Authenticate": challenge})


async def _reviewed(hub: Hub, token: str, standing: AddressStanding) -> Caller | None:
    """A token is good when it was made for this audience, or for the hub's own API. The likelier is asked first."""
    audiences: list[tuple[str, ...]] = [(AUDIENCE,), ()] if AUDIENCE in claims(token).audiences else [(), (AUDIENCE,)]
    for wanted in audiences:
        spec: dict[str, Any] = {"token": token, **({"audiences": list(wanted)} if wanted else {})}
        said: _Status = await hub.review(KIND, spec, _Status, standing)
        if caller := _caller(said, wanted):
            return caller
    return None


def _caller(said: _Status, wanted: tuple[str, ...]) -> Caller | None:
    user = said.user
    if not said.authenticated or user is None or not user.username:
        return None
    # A server that knows nothing of audiences says none: then the token is good for its own API, which counts too.
    if wanted and said.audiences and not set(wanted) & set(said.audiences):
        return None
    groups = tuple(user.groups or ())
    if user.username == _NOBODY or _STRANGERS in groups:
        return None
    extra = tuple(sorted((name, tuple(values or ())) for name, values in (user.extra or {}).items()))
    return Caller(user.username, user.uid, groups, extra)


class TokenClaims(Struct):
    """What a token says of itself, unproven: it counts for the order of the questions, and for nothing else."""

    aud: str | list[str] = ""
    iss: str = ""
    sub: str = ""

    @property
    def audiences(self) -> frozenset[str]:
        return frozenset([self.aud] if isinstance(self.aud, str) else self.aud)

    @property
    def subject(self) -> Subject | None:
        return (self.iss, self.sub) if self.iss and self.sub else None


def claims(token: str) -> TokenClaims:
    """Of what has another form, none."""
    parts = token.split(".")
    if len(parts) != 3:
        return TokenClaims()
    try:
        text = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        return msgspec.json.decode(text, type=TokenClaims)
    except (ValueError, binascii.Error, msgspec.DecodeError, RecursionError):
        return TokenClaims()


def _digest(token: str) -> bytes:
    return sha256(token.encode()).digest()
