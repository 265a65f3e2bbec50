"""Keys of this gateway itself, for a fleet without a hub and for its operators: a file, one key a line."""

import hmac
from hashlib import sha256
from pathlib import Path

from fairway.domain.text.bearer_token import is_token
from fairway.runtime import private_files

SETTING = "FAIRWAY_HTTP_KEY_FILE"
# Of a key that nobody guesses, at 20 tries a second.
_LEAST = 24
_MOST_BYTES = 64 * 1024
_MAKE = f"make one with (umask 077; head -c 32 /dev/urandom | base64 > http.key), and set {SETTING} to it"


class Keys:
    """Compared in a time that does not tell which of them, or how much of one, was right."""

    def __init__(self, keys: tuple[str, ...] = ()) -> None:
        self._digests = tuple(sha256(key.encode()).digest() for key in keys)

    def __len__(self) -> int:
        return len(self._digests)

    def hold(self, token: str) -> bool:
        given = sha256(token.encode()).digest()
        found = False
        for digest in self._digests:
            found |= hmac.compare_digest(given, digest)
        return found


def read_keys(name: str) -> Keys:
    """Raises ValueError, which names the setting, the cause, and what to do. Empty: there are none."""
    return Keys(tuple(_keys(Path(name)))) if name else Keys()


def _keys(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            if why := private_files.against(file.fileno(), path):
                raise ValueError(f"{SETTING}: {why}")
            text = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ValueError(f"{SETTING}: {path} cannot be read: {error.strerror}; {_MAKE}") from None
    lines = [line.strip() for line in text.decode("latin-1").splitlines()]
    keys = [line for line in lines if line and not line.startswith("#")]
    if len(text) > _MOST_BYTES or not keys:
        raise ValueError(f"{SETTING}: {path} holds no key, or is larger than {_MOST_BYTES} bytes; {_MAKE}")
    wrong = next((number for number, key in enumerate(keys, 1) if len(key) < _LEAST or not is_token(key)), 0)
    if wrong:
        text_ = f"key {wrong} of {path} has fewer than {_LEAST} characters, or some that no bearer token has"
        raise ValueError(f"{SETTING}: {text_}; {_MAKE}")
    return keys
