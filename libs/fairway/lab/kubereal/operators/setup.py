"""What an operator needs, as values: objects to apply, processes to start, how to see that it is ready."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from msgspec import Struct

from fairway.lab.kubereal.admin import Json
from fairway.lab.kubereal.certificates import WebhookCertificate
from fairway.lab.kubereal.control_plane import Plane
from fairway.runtime import private_files

Task = Callable[[], Coroutine[Any, Any, None]]


class OperatorProcess(Struct, frozen=True):
    """`probe` is a URL that answers 200 when the process is ready, or tcp://HOST:PORT; empty where it has none."""

    program: str
    args: tuple[str, ...]
    env: dict[str, str] = {}
    probe: str = ""


class Setup(Struct, frozen=True):
    """`tasks` run in this process as long as the cluster does. `present` are API paths that lead to something when it
    is ready: an object, or a list with one in it."""

    objects: tuple[Json, ...] = ()
    processes: tuple[OperatorProcess, ...] = ()
    tasks: tuple[Task, ...] = ()
    present: tuple[str, ...] = ()


class Site(Struct, frozen=True):
    """Where an operator is to run: its cluster, and the certificate of whoever listens there."""

    plane: Plane
    pair: WebhookCertificate

    @property
    def kubeconfig(self) -> str:
        return str(self.plane.kubeconfig)

    def write(self, name: str, text: str) -> Path:
        """A file in the cluster's folder."""
        path = self.plane.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        private_files.write(path, text)
        return path

    def serving(self) -> dict[str, str]:
        """The environment of a program that looks for its certificate below the folder for temporary files."""
        home = self.plane.dir / "tmp"
        self.pair.write(home / "k8s-webhook-server" / "serving-certs")
        return {"TMPDIR": str(home)}


def namespace(name: str) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
