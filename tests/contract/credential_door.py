"""A gateway that writes down which credential arrives, and commands that are run towards it."""

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

FAIRWAY = [sys.executable, "-m", "fairway.app.cli"]
TOKEN = "secret-of-the-user-0123456789"


class Door(ThreadingHTTPServer):
    """Answers every question with an empty list, or as `answer` says; `heard` are the Authorization headers."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.heard: list[str | None] = []
        self.answers: list[tuple[int, dict[str, Any], dict[str, str]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Door

    def do_GET(self) -> None:
        self.server.heard.append(self.headers.get("Authorization"))
        status, body, headers = self.server.answers.pop(0) if self.server.answers else (200, {"items": []}, {})
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *about: Any) -> None:
        pass


@contextmanager
def opened() -> Iterator[Door]:
    with Door() as found:
        threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield found
        found.shutdown()


def run(folder: Path, *words: str, **settings: str) -> tuple[int, str]:
    """A command in this folder, with nothing in the environment that would help it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FAIRWAY", "KUBE"))}
    env = {**kept, "HOME": str(folder), "PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1", **settings}
    command = [*FAIRWAY, *words] if words[0] != "kubectl" else [str(folder / "kubectl-fairway"), *words[1:]]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=60)
    said = done.stdout + done.stderr
    assert TOKEN not in said and "Traceback" not in said, said
    return done.returncode, said


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
        "apiVersion": "v1", "kind": "Config", "current-context": "c", "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {"server": server}}],
    }  # fmt: skip
    (folder / "config").write_text(json.dumps(config))
    return str(folder / "config")


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path
