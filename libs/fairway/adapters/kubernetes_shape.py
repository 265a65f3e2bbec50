"""How the answers to a list and a watch are read: whole objects, or only the fields that somebody asked for."""

from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct


class ListMeta(Struct, rename={"resume": "continue", "version": "resourceVersion"}):
    version: str = ""
    resume: str = ""


T = TypeVar("T")


class Page(Struct, Generic[T]):
    metadata: ListMeta
    items: list[T] | None = None


class Line(Struct, Generic[T]):
    type: str
    object: T


class Shape:
    """How objects are read: whole, or only the fields of a Struct, which must have `metadata` with name, namespace,
    uid, labels and resourceVersion. A pod costs 4 µs so instead of 14, and a fifth of the memory."""

    def __init__(self, fields: type[Struct] | None = None) -> None:
        shape: Any = fields or dict[str, Any]
        self._page = msgspec.json.Decoder(Page[shape])
        self._line = msgspec.json.Decoder(Line[shape])
        self._plain = msgspec.json.Decoder(Line[dict[str, Any]])
        self._plain_page = msgspec.json.Decoder(Page[dict[str, Any]])

    def page(self, data: bytes) -> Page[dict[str, Any]]:
        """One odd object must not hide the others: it is left to the reader to refuse."""
        try:
            page = self._page.decode(data)
        except msgspec.ValidationError:
            return self._plain_page.decode(data)
        return Page(page.metadata, [msgspec.to_builtins(item) for item in page.items or ()])

    def line(self, data: bytes) -> Line[dict[str, Any]]:
        """Bookmarks and errors carry no object of the kind: they are read whole."""
        try:
            line = self._line.decode(data)
        except msgspec.ValidationError:
            return self._plain.decode(data)
        return Line(line.type, msgspec.to_builtins(line.object))
