"""How deep a JSON text is nested, told without building anything of it: of any text, also of one that is no JSON, in
time that grows with its length."""

import re
from collections.abc import Iterator

# Strings are taken whole, for the brackets in them; one that does not end goes on to the end of the text. Possessive:
# nothing is kept to go back to.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[{\]}]', re.DOTALL)


def below(data: bytes, most: int) -> Iterator[tuple[int, int]]:
    """Where each part that is nested deeper than `most` levels begins and ends. A text with few brackets, as nearly all
    have, costs two looks at it: it cannot be nested deeper than it has brackets."""
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
