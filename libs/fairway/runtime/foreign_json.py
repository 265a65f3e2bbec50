"""JSON that somebody else wrote, read so that nothing in it stops the reader. Pure.

A Kubernetes API stores ten thousand levels of nesting; a decoder gives up below a thousand, with an error that is none
of its own, and whoever follows a value level by level gives up sooner.
"""

import re

import msgspec

# Python follows 1,000 calls, and who compares or copies a value takes up to two for a level and is some fifty calls
# down itself. Manifests may have 64 levels, their managedFields a few more.
DEEPEST = 250
# In the place of what is nested deeper: an object that holds this has far more levels than a job may have.
CUT = "(nested too deeply to be read)"
_INSTEAD = msgspec.json.encode(CUT)
# Strings are taken whole, for the brackets in them. Possessive: nothing is kept to go back to.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[{\]}]', re.DOTALL)


def readable(data: bytes) -> bytes:
    """The same text, or one in which CUT stands for each part below DEEPEST levels. Text with few brackets, as nearly
    all has, costs two looks at it: it cannot be nested deeper than it has brackets."""
    if data.count(b"{") + data.count(b"[") <= DEEPEST:
        return data
    parts, depth, kept = [], 0, 0
    for token in _TOKEN.finditer(data):
        sign = data[token.start()]
        if sign in b"{[":
            depth += 1
            if depth == DEEPEST + 1:
                parts += [data[kept : token.start()], _INSTEAD]
                kept = len(data)
        elif sign in b"]}":
            if depth == DEEPEST + 1:
                kept = token.end()
            depth -= 1
    return b"".join((*parts, data[kept:])) if parts else data
