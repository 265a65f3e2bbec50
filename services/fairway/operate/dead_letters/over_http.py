"""Dead letters as the gateway shows them to whoever asks: for who has no credential of NATS."""

from base64 import b64decode
from typing import Any

import msgspec

from fairway.client.api import Api
from fairway.client.failure import ERROR, Failure
from fairway.operate.dead_letters.show import ShownLetter
from fairway.runtime.record.kept_letters import LetterLine


def found(api: Api, service: str) -> list[LetterLine]:
    """All of them, page by page. Failure when the gateway says no."""
    letters: list[LetterLine] = []
    after = ""
    while True:
        page = api.get("/v1/dead-letters", service=service, **{"continue": after})
        letters += _read(page.get("items"), list[LetterLine])
        after = str(page.get("continue") or "")
        if not after:
            return letters


def one(api: Api, number: int) -> ShownLetter:
    said = api.get(f"/v1/dead-letters/{number}")
    line = _read(said.get("letter"), LetterLine)
    message = msgspec.json.encode(said["message"]) if "message" in said else b64decode(str(said.get("data") or ""))
    return ShownLetter(line, message, str(said.get("withheld") or ""))


def _read(part: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(part, kind)
    except msgspec.ValidationError as error:
        raise Failure(ERROR, f"the gateway's answer is not understood: {error}", "is it of this version?") from None
