"""Webhook configurations whose server is a process on this machine: called by URL in place of a Service."""

import base64
from collections.abc import Iterable

from msgspec import Struct

from fairway.lab.kubereal.admin import Json


class Hook(Struct, frozen=True):
    """One webhook. `resource` is the plural name."""

    name: str
    path: str
    group: str
    version: str
    resource: str
    operations: tuple[str, ...] = ("CREATE", "UPDATE")


def configuration(kind: str, name: str, port: int, ca: bytes, hooks: Iterable[Hook]) -> Json:
    """`kind` is Mutating or Validating. An empty `ca` is for operators that fill it in themselves."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [_webhook(hook, port, ca) for hook in hooks],
    }


def _webhook(hook: Hook, port: int, ca: bytes) -> Json:
    client = {"url": f"https://127.0.0.1:{port}{hook.path}"}
    if ca:
        client["caBundle"] = base64.b64encode(ca).decode()
    what = {"apiGroups": [hook.group], "apiVersions": [hook.version], "resources": [hook.resource]}
    return {
        "name": hook.name,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "clientConfig": client,
        "rules": [{**what, "operations": list(hook.operations)}],
    }
