"""The jobs of a submission on their way to the gateway, as few requests: up to a hundred jobs each."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from msgspec import Struct

from fairway.adapters.system_clock import SystemIds
from fairway.cli.entries import Entry, reasons_of, refused, taken
from fairway.cli.manifests import Document
from fairway.client.api import LONGEST_S
from fairway.client.failure import ERROR, Failure
from fairway.gateway.http.answers import ReasonBody
from fairway.gateway.http.batch import MOST
from fairway.wire.reasons import Code

PATH = "/v1/jobs:batch"
# Of the 1 MiB that a body may have; a job that is larger by itself is sent alone, and refused with its size.
_MOST_BYTES = 900_000
# What a tenant's rate keeps back is sent again as often as this, and waited for so long in all: a second each mostly.
_AGAIN = 120
_IN_ALL_S = 300


class BatchApi(Protocol):
    """Of the client, what is used here."""

    def post(self, path: str, body: Any, **query: str) -> Any: ...


class Draft(Struct):
    """One job with the policies that travel with it. `client` lets it be sent again without being another job."""

    document: Document
    policies: list[dict[str, Any]]
    client: str

    @property
    def body(self) -> dict[str, Any]:
        return {"manifest": self.document.manifest, "policies": self.policies, "client": self.client}


def drafts(jobs: Sequence[tuple[Document, list[dict[str, Any]]]]) -> list[Draft]:
    ids = SystemIds()
    return [Draft(document, policies, f"cli:{ids.new()}") for document, policies in jobs]


def send(api: BatchApi, jobs: Sequence[Draft], sleep: Callable[[float], None] = time.sleep) -> list[Entry]:
    """An entry for each, in their order. Raises the client's failure when a whole request is refused."""
    return [one for piece in _pieces(jobs) for one in _send(api, piece, sleep)]


def _pieces(jobs: Sequence[Draft]) -> Iterator[list[Draft]]:
    piece = list[Draft]()
    size = 0
    for job in jobs:
        length = len(json.dumps(job.body))
        if piece and (len(piece) == MOST or size + length > _MOST_BYTES):
            yield piece
            piece = []
            size = 0
        piece.append(job)
        size += length
    if piece:
        yield piece


def _send(api: BatchApi, piece: Sequence[Draft], sleep: Callable[[float], None]) -> list[Entry]:
    found: dict[str, Entry] = {}
    left = list(piece)
    patience = _IN_ALL_S
    for turn in range(_AGAIN + 1):
        items = api.post(PATH, {"jobs": [one.body for one in left]}, wait="admitted")["items"]
        if len(items) != len(left):
            text = f"the gateway answered about {len(items)} jobs, and was asked about {len(left)}"
            raise Failure(ERROR, text, "look with `fairway get jobs` which of them are there")
        longest = min(LONGEST_S, patience)
        late = [item for item in items if turn < _AGAIN and _too_fast(item) and _wait(item) <= longest]
        found |= {one.client: _entry(one.document, item) for one, item in zip(left, items, strict=True)}
        left = [one for one, item in zip(left, items, strict=True) if item in late]
        if not left:
            break
        wait_s = max(map(_wait, late))
        patience -= wait_s
        sleep(wait_s)
    return [found[one.client] for one in piece]


def _too_fast(item: dict[str, Any]) -> bool:
    return bool(item["status"] == 429 and (item.get("problem") or {}).get("code") == Code.TOO_FAST.value)


def _wait(item: dict[str, Any]) -> int:
    return max(1, int(item.get("retry_after") or 1))


def _entry(one: Document, item: dict[str, Any]) -> Entry:
    if accepted := item.get("accepted"):
        return taken(one, accepted)
    problem = item.get("problem") or {"title": "the gateway says neither that it was accepted nor that it was not"}
    plain = ReasonBody(str(problem.get("code", "")), "", str(problem["title"]), str(problem.get("detail", "")))
    return refused(one, problem, reasons_of(problem) or (plain,))
