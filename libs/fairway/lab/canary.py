"""Some bytes that nobody makes by chance, and every form in which they may be found where they should not be."""

import contextlib
import zlib
from base64 import b64encode
from collections.abc import Iterator

_ZLIB = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
# No more is unpacked of anything.
_MOST = 1 << 26


class Canary:
    """Plain, and in every form that base64 can give the bytes inside of others; once more so, because a Secret's data
    is base64 already, and JSON has base64 for bytes."""

    def __init__(self, text: str) -> None:
        self.text = text
        plain = text.encode()
        self.data = b64encode(plain).decode()
        self.forms = (plain, *_in_base64(plain), *_in_base64(b64encode(plain)))

    def is_in(self, data: bytes) -> bool:
        """As it is, or where something in it is unpacked."""
        return any(form in part for part in (data, *_unpacked(data)) for form in self.forms)


def _in_base64(plain: bytes) -> Iterator[bytes]:
    """Wherever in the coded bytes they begin: of what stands before and behind, the outer characters hold a part."""
    return (b64encode(b"x" * before + plain)[4 if before else 0 : -4] for before in range(3))


def _unpacked(data: bytes) -> Iterator[bytes]:
    """Whatever in it is compressed."""
    for head in _ZLIB:
        at = data.find(head)
        while at >= 0:
            with contextlib.suppress(zlib.error):
                yield zlib.decompressobj().decompress(data[at:], _MOST)
            at = data.find(head, at + 1)
