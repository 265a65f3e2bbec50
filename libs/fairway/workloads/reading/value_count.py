"""How many values a document has: each costs its reader a look, however few bytes it takes. Pure."""

from typing import Any

import msgspec

_encode = msgspec.json.Encoder().encode


def values(value: Any, most: int) -> int:
    """How many single values there are, empty lists and mappings too; counted as far as one beyond `most`."""
    count = 0
    left = [value]
    while left and count <= most:
        one = left.pop()
        inner = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        count += not inner
        left.extend(inner)
    return count


def more_than(most: int, value: Any, size: int | None = None) -> bool:
    """Whether there are more than `most` of them. `size`: how many bytes of JSON it is, if that is known: a value and
    what parts it from the next take two at least, so most documents need not be walked."""
    return (len(_encode(value)) if size is None else size) > 2 * most and values(value, most) > most
