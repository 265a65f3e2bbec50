"""Between the cluster port and the API of a simulated cluster: the same things in the words of each."""

from collections.abc import Iterator
from contextlib import contextmanager

from fairway.lab.kubesim.api.errors import ApiError
from fairway.lab.kubesim.api.registry import ApiResource
from fairway.lab.kubesim.api.store import StoredObject
from fairway.runtime.cluster_port import ClusterRefused
from fairway.wire.reasons import Code


@contextmanager
def refusing() -> Iterator[None]:
    """What the API refuses, as the port says it."""
    try:
        yield
    except ApiError as error:
        causes = {one.get("reason") for one in error.details.get("causes") or ()}
        code = Code.NAMESPACE_TERMINATING if Code.NAMESPACE_TERMINATING in causes else error.reason
        raise ClusterRefused(code, error.message) from error


def place_of(resource: ApiResource, namespace: str | None) -> str:
    return (namespace or "default") if resource.namespaced else ""


def is_of_kind(stored: StoredObject, kind: str) -> bool:
    return kind == f"{stored.obj['kind']}.{stored.obj['apiVersion']}"


def carries(stored: StoredObject, labels: dict[str, str]) -> bool:
    found = stored.obj["metadata"].get("labels") or {}
    return all(found.get(name) == value for name, value in labels.items())
