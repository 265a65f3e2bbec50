"""Where a page of a list goes on, when that is the name of somebody else's job: unreadable to whoever gets it."""

import binascii
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import shake_256

from fairway.gateway.http.problem import Problem

# No job id begins with it.
_MARK = "~"
_NONCE = 12
_PROOF = 16


class PageCursor:
    """Of this process: what another one sealed, or this one before it was started anew, is refused."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def close(self, text: str) -> str:
        nonce = secrets.token_bytes(_NONCE)
        plain = text.encode()
        return _MARK + urlsafe_b64encode(nonce + self._proof(nonce, plain) + self._mixed(nonce, plain)).decode()

    def open(self, given: str) -> str:
        """What was sealed, or the text itself when it is not sealed. Raises a Problem."""
        if not given.startswith(_MARK):
            return given
        try:
            data = urlsafe_b64decode(given[len(_MARK) :].encode())
        except (ValueError, binascii.Error):
            data = b""
        nonce = data[:_NONCE]
        proof = data[_NONCE : _NONCE + _PROOF]
        plain = self._mixed(nonce, data[_NONCE + _PROOF :])
        if not secrets.compare_digest(proof, self._proof(nonce, plain)):
            raise Problem(410, "this page of the list is not known here any more", "begin the list again")
        return plain.decode()

    def _mixed(self, nonce: bytes, text: bytes) -> bytes:
        stream = shake_256(b"stream" + self._secret + nonce).digest(len(text))
        return bytes(left ^ right for left, right in zip(text, stream, strict=True))

    def _proof(self, nonce: bytes, plain: bytes) -> bytes:
        return shake_256(b"proof" + self._secret + nonce + plain).digest(_PROOF)
