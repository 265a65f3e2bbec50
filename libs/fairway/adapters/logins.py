"""How a process shows NATS and Valkey who it is: by files that may change while it runs."""

import asyncio
from pathlib import Path

import structlog
from msgspec import Struct

from fairway.runtime import private_files
from fairway.runtime.vital_tasks import fail

log = structlog.get_logger()
_MOST_BYTES = 4_096
# A changed file is used within two seconds.
_LOOK_S = 1.0


class Login(Struct, frozen=True):
    user: str
    password: str


class RightsRefused(BaseException):
    """A server does not let this process do what belongs to its work. It is no Exception, so that nothing takes it for
    the failure of one message: the process ends by it."""


class LoginFile:
    """`USER:PASSWORD` in one line. It is read whenever somebody logs in; while it cannot be read, as when it is being
    replaced, what it said last counts."""

    def __init__(self, path: Path) -> None:
        """ValueError says what is wrong with the file."""
        self.path = path
        self.last = self._read()
        self._told = ""

    def user(self) -> str:
        return self._now().user

    def password(self) -> str:
        return self._now().password

    def _now(self) -> Login:
        try:
            self.last = self._read()
            self._told = ""
        except ValueError as error:
            if str(error) != self._told:
                log.error("the former credential is used", cause=str(error))
            self._told = str(error)
        return self.last

    def _read(self) -> Login:
        try:
            with self.path.open("rb") as file:
                if why := private_files.against(file.fileno(), self.path):
                    raise ValueError(why)
                text = file.read(_MOST_BYTES).decode("utf-8", "replace").strip()
        except OSError as error:
            text = f"{self.path} cannot be read: {error.strerror}"
            raise ValueError(f"{text}; FAIRWAY_CREDENTIALS_DIR names the folder of credentials") from None
        user, colon, password = text.partition(":")
        if not (user and colon and password) or "\n" in text:
            raise ValueError(f"{self.path} has to hold one line, USER:PASSWORD")
        return Login(user, password)

    async def changed(self, known: Login) -> Login:
        """What the file says, as soon as that is something else."""
        while (now := self._now()) == known:
            await asyncio.sleep(_LOOK_S)
        return now


def refused(server: str, what: str) -> None:
    """Says which right is missing, and ends the process: what it cannot say or do would be lost without a word, and
    nothing that it tries again will be taken either."""
    remedy = (
        "give its user the rights of deploy/nats/services.conf and deploy/valkey/users.acl of this version, or the "
        "process the folder of its own credential (FAIRWAY_CREDENTIALS_DIR)"
    )
    log.critical("a right is missing", server=server, cause=what, remedy=remedy)
    fail("rights", RightsRefused(f"{server} refuses: {what}"))
