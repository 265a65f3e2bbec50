"""What may stand behind `Bearer` in a header (RFC 6750)."""

import re

_FORM = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
# Tokens of service accounts have some 1,000 characters, those of identity providers with many groups some 8,000.
LONGEST = 16_384


def is_token(text: str) -> bool:
    """Anything else would mean one thing to us and another to whoever is shown it: of a token that begins with a blank
    an API server reads no token at all, and lets it in as system:anonymous; a line end begins a header of its own."""
    return len(text) <= LONGEST and _FORM.fullmatch(text) is not None
