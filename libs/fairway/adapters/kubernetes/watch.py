"""One kind, listed and then watched for ever, through every way a watch can end.

Why not the library's Watch: it answers 410 by asking the same again, reconnects without a pause, hangs on half-open
connections, and leaves it to the caller to notice what vanished in a gap.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from sys import intern
from typing import Any

import msgspec
import structlog
from msgspec import Struct

from fairway.adapters.kubernetes.decoders import ObjectFields, WatchLine
from fairway.adapters.kubernetes.http import AnswerTooLarge, Http, HttpRefusal, NoAnswer, Request
from fairway.adapters.kubernetes.kinds import Kinds, NotServed, ServedResource
from fairway.adapters.kubernetes.list_pages import Pages
from fairway.adapters.kubernetes.responses import Status, Unreadable
from fairway.adapters.vanished_objects import Told, remember, vanished
from fairway.runtime.cluster_port import Change, ClusterRefused
from fairway.runtime.ports import Unreachable

log = structlog.get_logger()


class WatchPace(Struct, frozen=True):
    """How a watch waits, in seconds. `idle` is how long silence is trusted: whatever happens behind a connection that
    stalled is known that much later at most. A kind that is not served is asked for every `absent`. `page` objects are
    listed at once."""

    first: float = 0.2
    most: float = 10.0
    absent: float = 3.0
    idle: float = 70.0
    page: int = 500

    @property
    def server(self) -> float:
        """How long the API is asked to keep a watch open, give or take a fifth: it ends it itself, well before it would
        be mistrusted. Bookmarks alone do not tell a quiet watch from a stalled one: kube-apiserver sends none of a kind
        of which it has seen no event since it started (its cacher)."""
        return self.idle * 5 / 7


class Since(Struct, frozen=True):
    """The version at which an object is known to be there, and its uid."""

    version: str
    uid: str


class Scope(Struct, frozen=True):
    """What is watched: a kind, in one namespace or everywhere, by labels, by fields or by name. `since`: the object of
    that name is known already, so that the watch begins without a list."""

    kind: str
    selector: str = ""
    namespace: str = ""
    name: str = ""
    since: Since | None = None
    fields: str = ""

    @property
    def query(self) -> dict[str, str]:
        asked = f"metadata.name={self.name}" if self.name else self.fields
        fields = {"fieldSelector": asked} if asked else {}
        return fields | ({"labelSelector": self.selector} if self.selector else {})


class _Listing(Struct):
    """`synced` once all that is there was told; `cause` is why the list of it is not there though the API answers."""

    pages: Pages
    synced: bool = False
    cause: str = ""


class Reflector:
    """Remembers of every object told only its uid and Fairway's labels, to tell it as gone after a gap."""

    def __init__(self, http: Http, kinds: Kinds, scope: Scope, pace: WatchPace, shape: ObjectFields) -> None:
        self._http = http
        self._kinds = kinds
        self._scope = scope
        self._pace = pace
        self._shape = shape
        self._told: Told = {}
        self._version = ""
        self._listing = _Listing(Pages(http, shape, scope.kind, pace.page))
        self._failures = 0
        self._age = float("inf")  # of what is known of the kind
        if scope.since is not None:
            self._version = scope.since.version
            self._listing.synced = True
            self._told[scope.namespace, scope.name] = (scope.since.uid, {})

    @property
    def lacks(self) -> str:
        """Why the list that this watch needs is not there though the API answers; empty while nothing is amiss. An API
        that is away is another matter: it is waited for."""
        cause = self._listing.cause
        return f"{self._scope.kind} is not listed: {cause}" if cause and not self._version else ""

    async def changes(self) -> AsyncGenerator[Change, None]:
        while True:
            started = asyncio.get_running_loop().time()
            try:
                async with aclosing(self._round()) as told:
                    async for change in told:
                        self._failures = 0
                        self._age = float("inf")
                        yield change
                self._age = float("inf")
                lasted = asyncio.get_running_loop().time() - started
                self._failures = 0 if lasted > 1 else self._failures + 1
            except NotServed:
                self._failures = 0
                self._age = self._pace.absent / 2
                for change in self._nothing():
                    yield change
                await asyncio.sleep(self._pace.absent * self._http.rng.uniform(0.8, 1.2))
            except (Unreachable, ClusterRefused) as error:
                self._failed(error)
            except (KeyError, TypeError, AttributeError) as error:
                # An object without the fields that every object has: whatever answers is no Kubernetes API.
                self._version = ""
                self._failed(Unreadable(f"{self._scope.kind}: an answer that makes no sense: {error!r}"))
            await self._back_off()

    async def _round(self) -> AsyncGenerator[Change, None]:
        """Lists if need be, then watches until the watch ends."""
        resource = await self._kinds.find(self._scope.kind, self._age)
        if not self._version:
            async with aclosing(self._list(resource)) as listed:
                async for change in listed:
                    yield change
        async with aclosing(self._watch(resource)) as seen:
            async for change in seen:
                yield change

    async def _list(self, resource: ServedResource) -> AsyncGenerator[Change, None]:
        path = resource.path(self._scope.namespace)
        left = set(self._told)
        version = ""
        async with aclosing(self._listing.pages.read(path, self._scope.query)) as pages:
            async for page in pages:
                for manifest in page.items:
                    # Items of a list do not say what they are.
                    manifest.setdefault("apiVersion", resource.api_version)
                    manifest.setdefault("kind", resource.kind)
                    for change in self._seen(manifest):
                        left.discard((change.namespace, change.name))
                        yield change
                left.difference_update(page.left_out)
                version = page.metadata.version
                if not self._listing.synced:  # a list made anew changes what is known, page by page
                    self._listing.cause = "not all pages of it have been read yet"
        for key in sorted(left):
            yield self._vanished(key)
        self._version = version
        self._listing.cause = ""
        self._listing.synced = True
        yield Change(self._scope.kind, synced=True)

    async def _watch(self, resource: ServedResource) -> AsyncGenerator[Change, None]:
        query = self._scope.query | {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": str(int(self._pace.server * self._http.rng.uniform(0.8, 1.2)) or 1),
        }
        request = Request("GET", resource.path(self._scope.namespace), query)
        try:
            async with aclosing(self._http.lines(request, self._pace.idle)) as lines:
                async for raw in lines:
                    line = self._line(raw)
                    if line.type == "ERROR":
                        said = msgspec.convert(line.object, Status, strict=False)
                        raise HttpRefusal(said.code or 410, said)
                    for change in () if line.type == "BOOKMARK" else self._heard(line):
                        yield change
                    self._version = line.object["metadata"]["resourceVersion"]
        except NoAnswer:
            # Another watch may stall as well, if something in between holds back what has no end: a list has one.
            self._version = ""
            log.warning("watch fell silent, listing anew", kind=self._scope.kind, seconds=self._pace.idle)
            raise

    def _heard(self, line: WatchLine[dict[str, Any]]) -> list[Change]:
        if line.type != "DELETED":
            return self._seen(line.object)
        key = _key(line.object)
        self._told.pop(key, None)
        return [Change(self._scope.kind, *key, line.object, gone=True)]

    def _seen(self, manifest: dict[str, Any]) -> list[Change]:
        key = _key(manifest)
        change = Change(self._scope.kind, *key, manifest)
        former = remember(self._told, key, manifest["metadata"])
        return [change] if former is None else [vanished(change.kind, key, former), change]

    def _vanished(self, key: tuple[str, str]) -> Change:
        return vanished(self._scope.kind, key, self._told.pop(key))

    def _nothing(self) -> list[Change]:
        """The kind is not served: nothing of it exists."""
        changes = [self._vanished(key) for key in sorted(self._told)]
        if changes or not self._listing.synced:
            log.info("kind not served", kind=self._scope.kind)
        if not self._listing.synced:
            changes.append(Change(self._scope.kind, synced=True))
        self._listing.synced = True
        self._listing.cause = ""
        self._version = ""
        return changes

    def _line(self, data: bytes) -> WatchLine[dict[str, Any]]:
        try:
            return self._shape.line(data)
        except msgspec.DecodeError as error:
            self._version = ""
            raise Unreadable(f"{self._scope.kind}: a watch that cannot be read, listing again: {error}") from error

    def _failed(self, error: Exception) -> None:
        self._failures += 1
        self._age = 0.0
        if isinstance(error, AnswerTooLarge | Unreadable):
            self._listing.cause = str(error)
        elif isinstance(error, Unreachable):
            self._listing.cause = ""
        if isinstance(error, HttpRefusal):
            # 410: the version is too old. Whatever else is refused is asked anew from the start as well.
            self._version = ""
        # A first failure is a connection that ended; a second one in a row is news.
        if self._failures == 2 or self._failures % 30 == 0:
            log.warning("watch interrupted", kind=self._scope.kind, failures=self._failures, cause=str(error))

    async def _back_off(self) -> None:
        if self._failures:
            wait = min(self._pace.first * 2 ** min(self._failures - 1, 16), self._pace.most)
            await self._http.pause(wait * self._http.rng.uniform(0.5, 1.5))


def _key(manifest: dict[str, Any]) -> tuple[str, str]:
    metadata = manifest["metadata"]
    return intern(metadata.get("namespace") or ""), metadata["name"]
