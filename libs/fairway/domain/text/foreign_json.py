"""JSON that somebody else wrote, read so that nothing in it stops the reader. Pure.

A Kubernetes API stores ten thousand levels of nesting; a decoder gives up below a thousand, with an error that is none
of its own, and whoever follows a value level by level gives up sooner.
"""

import msgspec

from fairway.domain.text.nesting import below

# Python follows 1,000 calls, and who compares or copies a value takes up to two for a level and is some fifty calls
# down itself. Manifests may have 64 levels, their managedFields a few more.
DEEPEST = 250
# In the place of what is nested deeper: an object that holds this has far more levels than a job may have.
CUT = "(nested too deeply to be read)"
_INSTEAD = msgspec.json.encode(CUT)


def readable(data: bytes) -> bytes:
    """The same text, or one in which CUT stands for each part below DEEPEST levels."""
    parts = []
    kept = 0
    for begin, end in below(data, DEEPEST):
        parts += [data[kept:begin], _INSTEAD]
        kept = end
    return b"".join((*parts, data[kept:])) if parts else data
