"""Many jobs are one request, and so are questions about them: a caller may ask so much a second only."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from fairway.app.client import Api
from fairway.app.manifests import read_all
from fairway.app.sending import send

PODS = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}


OWN = {"namespace": "team-a", "client": "c"}
ROW = {"namespace": "team-a", "attempt": 1, "submitted_at": 1, "since": 1}


class Gateway(ThreadingHTTPServer):
    """Accepts every job but those called `bad`; each has succeeded when it is asked for the second time. `knows`:
    whether it takes several in one request. `heard` are verbs and paths."""

    def __init__(self, knows: bool) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.knows, self.heard, self.looks = knows, [], 0
        self.sizes: list[int] = []


class Handler(BaseHTTPRequestHandler):
    server: Gateway

    def do_POST(self) -> None:
        path = unquote(urlsplit(self.path).path)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.heard.append(f"POST {path}")
        if path == "/v1/jobs":
            return self._say(202, {"job": body["manifest"]["metadata"]["name"], **OWN})
        if not self.server.knows:
            return self._say(405, {"title": "POST is not served here"})
        self.server.sizes.append(len(body["jobs"]))
        return self._say(200, {"items": [self._item(one["manifest"]["metadata"]["name"]) for one in body["jobs"]]})

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        self.server.heard.append(f"GET {url.path}")
        self.server.looks += 1
        state = "succeeded" if self.server.looks > 1 else "queued"
        if url.path != "/v1/jobs":
            return self._say(200, {"id": "a", "state": "succeeded", "attempt": 1, "cluster": "north"})
        names = parse_qs(url.query)["id"][0].split(",")
        return self._say(200, {"items": [{"id": name, "state": state, **ROW} for name in names]})

    def _item(self, name: str) -> dict[str, Any]:
        if name != "bad":
            return {"status": 202, "accepted": {"job": name, **OWN}}
        return {
            "status": 403,
            "problem": {"title": "ann may not", "status": 403, "detail": "ask for it", "code": "Forbidden"},
        }

    def _say(self, status: int, body: Any) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *about: Any) -> None:
        pass


@contextmanager
def serving(knows: bool) -> Iterator[Gateway]:
    with Gateway(knows) as found:
        threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield found
        found.shutdown()


@pytest.fixture(params=[True, False], ids=["a gateway that takes many", "one that does not"])
def gateway(request: pytest.FixtureRequest) -> Iterator[Gateway]:
    with serving(request.param) as found:
        yield found


def sent(gateway: Gateway, folder: Path, names: list[str], wait: bool = False) -> tuple[list[Any], int]:
    def job(name: str) -> dict[str, Any]:
        meta = {"name": name, "namespace": "a"}
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": {"spec": PODS}}}

    file = folder / "jobs.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [job(name) for name in names]}))
    return send(read_all([str(file)]), Api(f"http://127.0.0.1:{gateway.server_port}"), wait, "")


def test_every_job_has_its_answer_in_its_place(gateway: Gateway, tmp_path: Path) -> None:
    names = [f"job-{number}" for number in range(230)]
    entries, _ = sent(gateway, tmp_path, names)
    assert [(one.job, one.accepted) for one in entries] == [(name, True) for name in names]
    assert gateway.sizes == ([100, 100, 30] if gateway.knows else [])
    assert gateway.heard.count("POST /v1/jobs") == (0 if gateway.knows else 230)


def test_one_that_is_refused_is_said_and_the_others_are_accepted(tmp_path: Path) -> None:
    with serving(knows=True) as gateway:
        entries, _ = sent(gateway, tmp_path, ["first", "bad", "last"])
    assert [one.accepted for one in entries] == [True, False, True]
    (reason,) = entries[1].reasons
    assert (reason.code, reason.text, reason.remedy) == ("Forbidden", "ann may not", "ask for it")


def test_those_that_wait_are_asked_for_together(gateway: Gateway, tmp_path: Path) -> None:
    entries, code = sent(gateway, tmp_path, [f"job-{number}" for number in range(20)], wait=True)
    assert code == 0 and {one.state for one in entries} == {"succeeded"}
    assert gateway.heard.count("GET /v1/jobs") <= 2


def test_one_job_is_sent_as_one_job(gateway: Gateway, tmp_path: Path) -> None:
    sent(gateway, tmp_path, ["alone"])
    assert gateway.heard == ["POST /v1/jobs"]
