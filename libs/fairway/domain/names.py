"""Names that Fairway gives: derived, so that everybody who has the same parts gives the same name."""

import re
from hashlib import blake2b

# On a member copy: the uid of the hub object it stands for, to which its status is returned.
HUB_UID = "fairway.io/hub-uid"

# RFC 4648's base32, in lower case; two letters are ten bits.
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
_PAIRS = [one + two for one in _LETTERS for two in _LETTERS]
_NOT_PLAIN = re.compile(r"[^a-z0-9-]+")


def job_id(namespace: str, client: str, name: str) -> str:
    """The id of the job that a client's submission makes: at most 51 characters, fit for a label and a subject."""
    plain = _NOT_PLAIN.sub("-", name.lower()).strip("-")[:40].rstrip("-") or "job"
    digest = blake2b(f"job\x1f{namespace}\x1f{client}".encode(), digest_size=10).digest()
    bits = int.from_bytes(digest[:7]) >> 6
    return f"{plain}-{''.join([_PAIRS[bits >> at & 1023] for at in (40, 30, 20, 10, 0)])}"
