"""A gateway that writes down which credential arrives, and commands that are run towards it."""

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.support.commands import command

FAIRWAY = [sys.executable, "-m", "fairway.cli.main"]
TOKEN = "secret-of-the-user-0123456789"


class Door(ThreadingHTTPServer):
    """Answers every question with an empty list, with what is first in `answers`, or as `write` writes it after
    `status`, which without any it writes as well; `heard` are the Authorization headers."""

    def __init__(self, write: "Writes | None" = None, status: int | None = 200) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.write = write
        self.status = status
        self.heard: list[str | None] = []
        self.answers: list[tuple[int, dict[str, Any], dict[str, str]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Door

    def do_GET(self) -> None:
        self.server.heard.append(self.headers.get("Authorization"))
        status = self.server.status
        body = {"items": []}
        headers = {}
        if self.server.answers:
            status, body, headers = self.server.answers.pop(0)
        with suppress(OSError):  # who asked may have gone
            if status:
                self.head(status, headers)
            if self.server.write:
                self.server.write(self)
            else:
                self.wfile.write(json.dumps(body).encode())

    do_DELETE = do_POST = do_GET

    def head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *about: Any) -> None:
        pass


Writes = Callable[[Handler], None]


@contextmanager
def opened(write: Writes | None = None, status: int | None = 200) -> Iterator[Door]:
    with Door(write, status) as found:
        threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield found
        finally:
            found.shutdown()


def run(folder: Path, *words: str, **settings: str) -> tuple[int, str]:
    """A command in this folder, with nothing in the environment that would help it; `kubectl` before the others is the
    plugin."""
    plugin = words[0] == "kubectl"
    done = command(*words[plugin:], folder=folder, program="kubectl-fairway" if plugin else "fairway", **settings)
    return _judged(done.exit_code, done.stdout + done.stderr)


def process(folder: Path, *words: str, **settings: str) -> tuple[int, str]:
    """The same as a process of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FAIRWAY", "KUBE"))}
    env = {**kept, "HOME": str(folder), "PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1", **settings}
    line = [*FAIRWAY, *words] if words[0] != "kubectl" else [str(folder / "kubectl-fairway"), *words[1:]]
    done = subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=60)
    return _judged(done.returncode, done.stdout + done.stderr)


def _judged(code: int, said: str) -> tuple[int, str]:
    assert TOKEN not in said and "Traceback" not in said, said
    return code, said


def fleet(folder: Path, door: Door, token: str = TOKEN, mode: int = 0o600) -> None:
    (folder / ".fairway").mkdir(exist_ok=True)
    path = folder / ".fairway" / "fleet.json"
    path.write_text(json.dumps({"http": door.url, "token": token}))
    path.chmod(mode)


def token_file(folder: Path, text: str = TOKEN) -> str:
    (folder / "token").write_text(f"{text}\n")
    return str(folder / "token")


def kubeconfig(folder: Path, user: dict[str, Any], server: str = "https://127.0.0.1:1") -> str:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {"server": server}}],
    }
    (folder / "config").write_text(json.dumps(config))
    return str(folder / "config")


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path
