"""Tenants' namespaces in a member: made with their labels, and Fairway's rights in each of them by a RoleBinding.

What was found is remembered, so that a job costs no call more. Where an account may not look at namespaces, it has the
rights of a join before this version, in every namespace at once: then nothing is asked and nothing bound.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from fairway.adapters.kubernetes.http import MERGE, METADATA, Http, HttpRefusal, Request
from fairway.adapters.kubernetes.responses import read
from fairway.domain.tenancy.member_namespace import LEVEL_LABEL, above, made, raised, refusal
from fairway.domain.tenancy.profile import HOME
from fairway.runtime.cluster_port import ClusterRefused

Json = dict[str, Any]
T = TypeVar("T")

# The account of `fairway join` in a member, and the one role that it may bind for itself (join/rights.py).
ACCOUNT = "fairway-member"
TENANT_ROLE = "fairway-tenant"
_BASE = "/api/v1/namespaces"
_RBAC = "rbac.authorization.k8s.io"
_MANAGER = {"fieldManager": "fairway"}
# A label that an administrator takes away is noticed with a job that comes this much later (s).
_KNOWN_S = 300.0
# An API server knows of a RoleBinding a moment after it was made (s).
_WAITS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
# One that was there already may have been made by another process just now; a right that is missing then is no role's.
_ANOTHERS_S = 0.1


class _Meta(Struct):
    labels: dict[str, str] | None = None


class _Namespace(Struct):
    metadata: _Meta


class _Known(Struct, frozen=True):
    """`labels` are None where the account may not look."""

    labels: dict[str, str] | None
    until: float


_namespace = msgspec.json.Decoder(_Namespace).decode


class Namespaces:
    def __init__(self, name: str, http: Http) -> None:
        self._name = name
        self._http = http
        self._known: dict[str, _Known] = {}
        self._looking: dict[str, asyncio.Lock] = {}

    async def ready(self, namespace: str, level: str) -> None:
        """The namespace is there, its tenant's, at this level or above, and Fairway has its rights in it. Raises
        ClusterRefused when it is somebody else's."""
        if self._knows(namespace, level):
            return
        async with self._looking.setdefault(namespace, asyncio.Lock()):
            if not self._knows(namespace, level):
                labels = await self._labels(namespace, level)
                self._known[namespace] = _Known(labels, asyncio.get_running_loop().time() + _KNOWN_S)

    def forget(self, namespace: str) -> None:
        """It is not as it was: the next job looks anew."""
        self._known.pop(namespace, None)

    def _knows(self, namespace: str, level: str) -> bool:
        known = self._known.get(namespace)
        if known is None or asyncio.get_running_loop().time() > known.until:
            return False
        return known.labels is None or not above(level, known.labels)

    async def _labels(self, namespace: str, level: str) -> dict[str, str] | None:
        self._check(namespace, None)
        try:
            labels = await self._there(namespace)
        except HttpRefusal as error:
            if error.status != 403:
                raise
            return None
        if labels is None:
            await self.make(namespace, level)
            labels = await self._there(namespace) or {}
        self._check(namespace, labels)
        if above(level, labels):
            labels = await self._raise(namespace, level, labels)
        await self._bind(namespace)
        return labels

    async def _there(self, namespace: str) -> dict[str, str] | None:
        """Its labels; None when there is no such namespace."""
        data = await self._http.found(Request("GET", f"{_BASE}/{namespace}", accept=METADATA))
        return None if data is None else read(self._name, data, _namespace).metadata.labels or {}

    def _check(self, namespace: str, labels: dict[str, str] | None) -> None:
        if refused := refusal(self._name, namespace, labels):
            raise ClusterRefused(*refused)

    async def make(self, namespace: str, level: str) -> None:
        """It is there afterwards, whoever made it."""
        metadata = {"name": namespace, "labels": made(namespace, level)}
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        try:
            await self._http.call(Request("POST", _BASE, _MANAGER, body, accept=METADATA))
        except HttpRefusal as error:
            if error.code != "AlreadyExists":
                raise

    async def _raise(self, namespace: str, level: str, labels: dict[str, str]) -> dict[str, str]:
        """Never lowered: pods of jobs that run may be made anew, and would be refused."""
        wanted = raised(labels, level)
        body = {"metadata": {"labels": {LEVEL_LABEL: wanted[LEVEL_LABEL]}}}
        await self._http.call(Request("PATCH", f"{_BASE}/{namespace}", _MANAGER, body, content=MERGE, accept=METADATA))
        return wanted

    async def granted(self, namespace: str, call: Callable[[], Awaitable[T]]) -> T:
        """What `call` gives. Where the right to it is missing, the RoleBinding that gives it was lost, or was made a
        moment ago: it is made again, and the call too."""
        fresh = False
        for wait in _WAITS:
            try:
                return await call()
            except HttpRefusal as error:
                if not namespace or not _lacks_right(error):
                    raise
                bound = await self._bind(namespace)
                if isinstance(bound, HttpRefusal) and not _lacks_right(bound):
                    raise bound from error  # it says what is in the way, and what to do about it
                fresh = fresh or bound is True
                if isinstance(bound, HttpRefusal) or (wait > _ANOTHERS_S and not fresh):
                    raise
            await asyncio.sleep(wait)
        return await call()

    async def _bind(self, namespace: str) -> bool | HttpRefusal:
        """True when it was made, False when it was there; why it was not: one who may make none has its rights
        otherwise, or none here."""
        try:
            path = f"/apis/{_RBAC}/v1/namespaces/{namespace}/rolebindings"
            await self._http.call(Request("POST", path, _MANAGER, binding(namespace), accept=METADATA))
        except HttpRefusal as error:
            return False if error.code == "AlreadyExists" else error
        return True


def binding(namespace: str) -> Json:
    """What gives Fairway's account its rights in a tenant's namespace."""
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": TENANT_ROLE, "namespace": namespace, "labels": {"app.kubernetes.io/name": "fairway"}},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": TENANT_ROLE},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": HOME}],
    }


def _lacks_right(error: HttpRefusal) -> bool:
    """As RBAC says it; a quota and Pod Security answer with 403, too."""
    return error.status == 403 and " cannot " in error.text and "resource" in error.text
