"""A list, page by page, as large as an answer may be: what somebody stored of a kind hides nothing else of it."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any

import msgspec
import structlog
from msgspec import Struct

from fairway.adapters.kubernetes.decoders import Head, ListMeta, ObjectFields, Page, head, page
from fairway.adapters.kubernetes.http import METADATA_LIST, AnswerTooLarge, Http, Request
from fairway.adapters.kubernetes.responses import Unreadable
from fairway.domain.text.decoding import decoded
from fairway.domain.text.foreign_json import readable

log = structlog.get_logger()
# So much is searched for what is too deep in 50 ms, and a page that holds more in smaller pieces.
_SEARCHED = 4 * 2**20
# Of so many objects it is remembered that they were named as left out.
_NAMED = 1_000


class ListedObjects(Struct):
    """A page that was read. `left_out` are objects that are there and cannot be read."""

    metadata: ListMeta
    items: list[dict[str, Any]]
    left_out: list[tuple[str, str]]


class Pages:
    """Asks for `most` objects at once. A page that is too large, or too deep somewhere, is asked for again half as
    large, and the next ones grow again; a single object that is too large is left out, and named once."""

    def __init__(self, http: Http, shape: ObjectFields, kind: str, most: int) -> None:
        self._http = http
        self._shape = shape
        self._kind = kind
        self._size = self._most = most
        self._named: set[tuple[str, str]] = set()

    async def read(self, path: str, query: Mapping[str, str]) -> AsyncGenerator[ListedObjects, None]:
        """Raises Unreadable when what answers is no list, and what every call raises."""
        resume: dict[str, str] = {}
        while True:
            found = self._objects(*await self._page(path, {**query, **resume}))
            yield found
            if not found.metadata.resume:
                return
            resume = {"continue": found.metadata.resume}

    async def _page(self, path: str, query: dict[str, str]) -> tuple[Page, list[Head]]:
        while True:
            asked = Request("GET", path, query | {"limit": str(self._size)})
            try:
                found = self._read(await self._http.call(asked))
            except AnswerTooLarge as error:
                if self._size == 1:
                    return await self._without(asked, str(error))
                self._size //= 2
                continue
            self._size = min(self._size * 2, self._most)
            return found, []

    def _read(self, data: bytes) -> Page:
        try:
            try:
                return page(data)
            except RecursionError:
                if self._size > 1 and len(data) > _SEARCHED:
                    raise AnswerTooLarge("something in it is nested too deeply") from None
                return decoded(page, readable(data))
        except msgspec.DecodeError as error:
            raise Unreadable(f"{self._kind}: the API's answer is no list, asking again: {error}") from error

    async def _without(self, asked: Request, cause: str) -> tuple[Page, list[Head]]:
        """Which object it is, and where the list goes on behind it: its metadata tells."""
        data = await self._http.call(msgspec.structs.replace(asked, accept=METADATA_LIST))
        found = self._read(data)
        heads = [head(bytes(one)) for one in found.items or ()]
        self._name(heads, cause)
        return Page(found.metadata, []), heads

    def _objects(self, found: Page, heads: list[Head]) -> ListedObjects:
        items = []
        for raw in found.items or ():
            data = bytes(raw)
            try:
                items.append(self._shape.object(data))
            except msgspec.DecodeError as error:
                heads.append(head(data))
                self._name(heads[-1:], str(error))
        return ListedObjects(found.metadata, items, [(one.namespace, one.name) for one in heads])

    def _name(self, heads: list[Head], cause: str) -> None:
        for one in heads:
            key = (one.namespace, one.name)
            if key not in self._named and len(self._named) < _NAMED:
                self._named.add(key)
                where = {"namespace": one.namespace, "name": one.name or "(not known)"}
                log.warning("left out: it cannot be read", kind=self._kind, cause=cause, **where)
