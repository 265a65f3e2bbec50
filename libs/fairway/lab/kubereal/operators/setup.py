"""What an operator needs, as values: objects to apply, webhooks among them, processes to start, how to see that it is
ready."""

import base64
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from fairway.lab.kubereal.admin import Json
from fairway.lab.kubereal.certificates import WebhookCertificate
from fairway.lab.kubereal.control_plane import Plane
from fairway.lab.processes.server import free_ports
from fairway.runtime import private_files

# The longest that Kubernetes allows: on a busy machine its usual ten seconds are too few.
_ANSWER_S = 30

Task = Callable[[], Coroutine[Any, Any, None]]


class OperatorProcess(Struct, frozen=True):
    """`probe` is a URL that answers 200 when the process is ready, or tcp://HOST:PORT; empty where it has none. `name`
    is the process's own where its program runs twice."""

    program: str
    args: tuple[str, ...]
    env: dict[str, str] = {}
    probe: str = ""
    name: str = ""


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


class Hook(Struct, frozen=True):
    """One webhook. `resource` is the plural name; with `label` only objects that have that label are shown to it."""

    name: str
    path: str
    group: str
    version: str
    resource: str
    operations: tuple[str, ...] = ("CREATE", "UPDATE")
    label: str = ""


class Manager(Struct, frozen=True):
    """A process whose settings are a file of kind Configuration, and the port of its webhooks."""

    process: OperatorProcess
    webhook: int


def manager(site: Site, program: str, api_version: str, **more: Json) -> Manager:
    """`more` goes into its Configuration, that of its webhooks' server too."""
    webhook, health = free_ports(2)
    config = {
        "apiVersion": api_version,
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
        "metrics": {"bindAddress": "0"},
        **more,
        "webhook": {"host": "127.0.0.1", "port": webhook, **more.get("webhook", {})},
    }
    path = site.write(f"{program}.json", msgspec.json.encode(config).decode())
    args = (f"--kubeconfig={site.kubeconfig}", f"--config={path}", "--zap-log-level=error")
    return Manager(OperatorProcess(program, args, site.serving(), f"http://127.0.0.1:{health}/readyz"), webhook)


def configuration(kind: str, name: str, port: int, ca: bytes, hooks: Iterable[Hook]) -> Json:
    """Webhooks whose server is a process on this machine, called by URL in place of a Service. `kind` is Mutating or
    Validating."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [_webhook(hook, port, ca) for hook in hooks],
    }


def _webhook(hook: Hook, port: int, ca: bytes) -> Json:
    client = {"url": f"https://127.0.0.1:{port}{hook.path}", "caBundle": base64.b64encode(ca).decode()}
    which = [{"key": hook.label, "operator": "Exists"}] if hook.label else []
    what = {"apiGroups": [hook.group], "apiVersions": [hook.version], "resources": [hook.resource]}
    return {
        "name": hook.name,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "timeoutSeconds": _ANSWER_S,
        "clientConfig": client,
        "objectSelector": {"matchExpressions": which},
        "rules": [{**what, "operations": list(hook.operations)}],
    }
