"""JSON that somebody else wrote, read so that nothing in it stops the reader. Pure.

A Kubernetes API stores ten thousand levels of nesting; a decoder gives up below a thousand, with an error that is none
of its own, and whoever follows a value level by level gives up sooner.
"""

import re
from collections.abc import Iterator

import msgspec

# Python follows 1,000 calls, and who compares or copies a value takes up to two for a level and is some fifty calls
# down itself. Manifests may have 64 levels, their managedFields a few more.
DEEPEST = 250
# In the place of what is nested deeper: an object that holds this has far more levels than a job may have.
CUT = "(nested too deeply to be read)"
_INSTEAD = msgspec.json.encode(CUT)

# Strings are taken whole, for the brackets in them; one that does not end goes on to the end of the text. Possessive:
# nothing is kept to go back to.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[{\]}]', re.DOTALL)


def readable(data: bytes) -> bytes:
    """The same text, or one in which CUT stands for each part below DEEPEST levels."""
    parts = []
    kept = 0
    for begin, end in below(data, DEEPEST):
        parts += [data[kept:begin], _INSTEAD]
        kept = end
    return b"".join((*parts, data[kept:])) if parts else data


def below(data: bytes, most: int) -> Iterator[tuple[int, int]]:
    """Where each part that is nested deeper than `most` levels begins and ends: of any text, in time that grows with
    its length, without building anything of it. A text with few brackets, as nearly all have, costs two looks at it: it
    cannot be nested deeper than it has brackets."""
    if data.count(b"{") + data.count(b"[") <= most:
        return
    level = 0
    begin = 0
    for token in _TOKEN.finditer(data):
        sign = data[token.start()]
        if sign in b"{[":
            level += 1
            if level == most + 1:
                begin = token.start()
        elif sign in b"]}":
            if level == most + 1:
                yield begin, token.end()
            level -= 1
    if level > most:
        yield begin, len(data)


def deeper(data: bytes, most: int) -> bool:
    """Whether a text has more levels than `most`."""
    return any(True for _ in below(data, most))
