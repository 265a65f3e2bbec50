"""A mapping of a pod whose parts may stand in several places of a manifest, as an operator puts it together."""

from collections.abc import Iterator, Mapping
from typing import Any

from fairway.wire.reasons import Code
from fairway.workloads.reading.fields import Field


class PodView:
    """`places` say the same thing; where they differ the first that says anything counts. `moved` are entries that
    stand elsewhere, and `entries` those of a list that is put together."""

    __slots__ = ("entries", "moved", "places")

    def __init__(
        self,
        *places: Field,
        moved: Mapping[str, "PodView"] | None = None,
        entries: tuple["PodView", ...] | None = None,
    ) -> None:
        self.places = places
        self.moved = moved or {}
        self.entries = entries

    def __getitem__(self, key: str) -> "PodView":
        if key in self.moved:
            return self.moved[key]
        return PodView(*(place[key] for place in self.places))

    @property
    def place(self) -> Field:
        """Where it stands, or would."""
        return next((place for place in self.places if place.given), self.places[0])

    @property
    def value(self) -> Any:
        return self.place.value

    @property
    def given(self) -> bool:
        return any(place.given for place in self.places)

    def text(self) -> str:
        """A string; anything else is noted as wrong."""
        return self.place.text()

    def mentions(self, key: str) -> bool:
        """Whether anything may be said under that name."""
        if key in self.moved:
            return True
        return any((type(place.value) is dict and key in place.value) or _odd(place) for place in self.places)

    def items(self, most: int | None = None) -> tuple["PodView", ...]:
        """The entries of a list, of which none may have more than `most` in one place. Those of several places are told
        apart by their name, as in a strategic merge."""
        if self.entries is not None:
            return self.entries
        lists = [place.items(most) for place in self.places if place.given]
        if len(lists) < 2:
            return tuple(PodView(entry) for entries in lists for entry in entries)
        found: dict[str, list[Field]] = {}
        for number, entries in enumerate(lists):
            for entry in entries:
                name = entry["name"].value if isinstance(entry.value, dict) else None
                found.setdefault(str(name or (number, entry.key)), []).append(entry)
        return tuple(PodView(*entries) for entries in found.values())

    def pairs(self) -> Iterator[tuple[str, "PodView"]]:
        """The entries of a free mapping, such as annotations, of every place."""
        for place in self.places:
            for key, field in place.pairs():
                yield key, PodView(field)

    def each(self) -> Iterator["PodView"]:
        """Every place that says something, also those that do not count."""
        return (PodView(place) for place in self.places if place.given)

    def wrong(self, text: str, remedy: str) -> None:
        self.place.wrong(text, remedy, Code.UNSAFE_POD)


def _odd(place: Field) -> bool:
    """Neither absent nor a mapping: whoever reads it has to say so."""
    return place.value is not None and type(place.value) is not dict
