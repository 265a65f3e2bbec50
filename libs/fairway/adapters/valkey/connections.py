"""Connections to Valkey, and what it means when it takes something from nobody, or not from this user."""

from urllib.parse import urlsplit

from redis.asyncio import BlockingConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff
from redis.credentials import CredentialProvider
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError

from fairway.adapters.logins import LoginFile, refused
from fairway.runtime.ports import Unreachable

# Of a command inside a script.
_IN_SCRIPT = "ACL failure in script"
# So long an answer is waited for.
ANSWER_S = 5


def pool(url: str, login: LoginFile | None) -> BlockingConnectionPool:
    """With a `login` user and password are those of its file, whatever the address says."""
    return BlockingConnectionPool.from_url(
        _address(url, login),
        credential_provider=_Credentials(login) if login is not None else None,
        max_connections=8,
        timeout=10,
        socket_timeout=ANSWER_S,
        socket_connect_timeout=2,
        retry=Retry(ExponentialWithJitterBackoff(cap=0.5, base=0.02), 1),
    )


def away(error: Exception) -> Unreachable:
    """Who is not let in waits, too: the file of its credential may change."""
    if isinstance(error, AuthenticationError):
        remedy = "FAIRWAY_CREDENTIALS_DIR, or FAIRWAY_REDIS_URL, has to hold a user and a password that it knows"
        return Unreachable(f"Valkey lets nobody in by this credential: {error}; {remedy}")
    return Unreachable(f"the store does not answer: {error}; waiting for it to come back")


def heed_rights(error: RedisError) -> None:
    """The process ends when its user may not do what belongs to its work."""
    if isinstance(error, NoPermissionError) or _IN_SCRIPT in str(error):
        refused("Valkey", str(error))


class _Credentials(CredentialProvider):
    """Asked whenever a connection is opened."""

    def __init__(self, login: LoginFile) -> None:
        self._login = login

    def get_credentials(self) -> tuple[str, str]:
        return self._login.user(), self._login.password()

    async def get_credentials_async(self) -> tuple[str, str]:
        return self.get_credentials()


def _address(url: str, login: LoginFile | None) -> str:
    """Without user and password, where the login says them: redis-py takes them from one place only."""
    if login is None:
        return url
    at = urlsplit(url)
    return at._replace(netloc=at.netloc.rpartition("@")[2]).geturl()
