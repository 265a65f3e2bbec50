"""Commands towards what is no gateway, or a hostile one: one plain error that names the address, and an end."""

import json
import time
from pathlib import Path
from typing import Any
from urllib.request import Request, build_opener

import pytest

from fairway.cli.batches import Draft, send
from fairway.cli.manifests import Document
from fairway.client import exchange
from fairway.client.failure import ERROR, Failure
from tests.support.credential_door import Handler, Writes, opened, process, run

ROW = {"id": "a", "namespace": "n", "state": "running", "attempt": 1, "submitted_at": 1, "since": 1, "name": "x"}


def said(value: Any) -> Writes:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return lambda door: door.wfile.write(body) and None


STRANGE: dict[str, tuple[Any, tuple[str, ...]]] = {
    "items that are a number": ({"items": 5}, ("get", "jobs")),
    "a row that is a number": ({"items": [5]}, ("get", "queues")),
    "a row without its id": ({"items": [{**ROW, "id": None}]}, ("get", "jobs")),
    "a row that is empty": ({"items": [{}]}, ("get", "clusters")),
    "a list in place of an object": ([], ("queue",)),
    "nothing but brackets": (b"[" * 200_000, ("get", "jobs")),
    "objects without end": (b'{"items":' * 100_000, ("get", "quota")),
    "no JSON": (b"<html>hello", ("get", "jobs")),
    "no text": (b"\xff\xfe", ("get", "jobs")),
    "a job without an id": ({"state": "running"}, ("why", "a")),
    "a job with a number for an id": ({"id": 5, "state": "running"}, ("cancel", "a")),
    "a job in place of its story": ({"id": "a", "state": "running"}, ("story", "a")),
    "the same page for ever": ({"items": [ROW], "continue": "a"}, ("get", "jobs")),
}


@pytest.mark.parametrize(("body", "words"), STRANGE.values(), ids=list(STRANGE))
def test_a_strange_answer_is_one_plain_error(body: Any, words: tuple[str, ...], tmp_path: Path) -> None:
    with opened(said(body)) as door:
        code, text = run(tmp_path, *words, "--url", door.url)
    assert (code, door.url in text, text.count("\n")) == (ERROR, True, 1), text
    assert "is it Fairway" in text


def test_so_it_is_in_a_process_of_its_own(tmp_path: Path) -> None:
    with opened(said(b"[" * 200_000)) as door:
        code, text = process(tmp_path, "get", "jobs", "--url", door.url)
    assert (code, door.url in text, text.count("\n")) == (ERROR, True, 1), text


@pytest.mark.parametrize("body", [b"[" * 200_000, b"5", b'{"title": {}}', b'{"title": "x", "reasons": 5}'])
def test_a_strange_refusal_is_one_plain_error(body: bytes, tmp_path: Path) -> None:
    with opened(said(body), 422) as door:
        code, text = run(tmp_path, "get", "jobs", "--url", door.url)
    assert (code, text) == (4, "fairway: the gateway answered 422\n")


def test_an_answer_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "MOST", 1 << 20)

    def forever(door: Handler) -> None:
        while True:
            door.wfile.write(b" " * 65_536)

    with opened(forever) as opening, pytest.raises(exchange.ResponseTooLarge):
        exchange.exchange(build_opener(), Request(opening.url))


@pytest.mark.parametrize("status", [200, 422])
def test_an_answer_that_drips_is_given_up(status: int) -> None:
    def drip(door: Handler) -> None:
        for _ in range(200):
            door.wfile.write(b" ")
            door.wfile.flush()
            time.sleep(0.05)

    began = time.monotonic()
    with opened(drip, status) as opening:
        with pytest.raises(TimeoutError):
            exchange.exchange(build_opener(), Request(opening.url), seconds=0.3)
        assert time.monotonic() - began < 3


def test_a_batch_that_is_answered_in_part_is_one_plain_error() -> None:
    class Short:
        def post(self, path: str, body: Any, **query: str) -> Any:
            return {"items": []}

    document = Document("jobs.yaml", {"metadata": {"name": "a"}})
    with pytest.raises(Failure, match="answered about 0 jobs, and was asked about 1"):
        send(Short(), [Draft(document, [], "c")])


@pytest.mark.parametrize(("wait_s", "most_s"), [(1_000_000, 0), (31, 0), (30, 300), (-5, 300), (0, 300)])
def test_a_gateway_that_always_says_to_come_again_is_not_asked_for_ever(wait_s: int, most_s: float) -> None:
    late = {"status": 429, "problem": {"title": "too fast", "code": "TooFast"}, "retry_after": wait_s}

    class Later:
        def post(self, path: str, body: Any, **query: str) -> Any:
            return {"items": [late]}

    slept: list[float] = []
    (entry,) = send(Later(), [Draft(Document("jobs.yaml", {"metadata": {"name": "a"}}), [], "c")], slept.append)
    assert (entry.accepted, entry.reasons[0].code) == (False, "TooFast")
    assert sum(slept) <= most_s and min(slept, default=1) >= 1


def test_pages_that_come_round_again_end(tmp_path: Path) -> None:
    def turns(door: Handler) -> None:
        after = "b" if "continue=a" in door.path else "a"
        door.wfile.write(json.dumps({"items": [ROW], "continue": after}).encode())

    with opened(turns) as door:
        code, text = run(tmp_path, "get", "jobs", "--url", door.url)
    assert (code, door.url in text, "is it Fairway" in text) == (ERROR, True, True), text
