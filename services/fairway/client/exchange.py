"""One request and its answer, within a time and a size: whoever is asked may answer without end, or a byte a minute."""

import threading
from http.client import HTTPMessage
from queue import Empty, SimpleQueue
from urllib.error import HTTPError
from urllib.request import OpenerDirector, Request

from msgspec import Struct

# A page of 500 jobs has half a MiB, the story of a job with hundreds of attempts some.
MOST = 64 << 20
# The gateway itself answers within 10 s, with the bus away or not; the rest is for what is on the way.
SILENT_S = 15.0
TOTAL_S = 60.0


class ResponseTooLarge(Exception):
    """The answer goes on beyond MOST."""


class Answer(Struct, frozen=True):
    status: int
    headers: HTTPMessage
    body: bytes


def exchange(opener: OpenerDirector, request: Request, seconds: float = TOTAL_S) -> Answer:
    """Raises TimeoutError, TooLarge, and what the opener raises where there is no answer."""
    found: SimpleQueue[Answer | BaseException] = SimpleQueue()

    def ask() -> None:
        try:
            found.put(_asked(opener, request))
        except BaseException as error:
            found.put(error)

    # The patience of a socket begins anew with every byte. Whoever is left behind here ends with the command.
    threading.Thread(target=ask, daemon=True).start()
    try:
        answer = found.get(timeout=seconds)
    except Empty:
        raise TimeoutError from None
    if isinstance(answer, BaseException):
        raise answer
    return answer


def _asked(opener: OpenerDirector, request: Request) -> Answer:
    try:
        answer = opener.open(request, timeout=SILENT_S)
    except HTTPError as error:
        answer = error
    with answer:
        body = answer.read(MOST + 1)
        if len(body) > MOST:
            raise ResponseTooLarge
        return Answer(answer.status, answer.headers, body)
