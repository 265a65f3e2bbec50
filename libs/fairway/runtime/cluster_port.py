"""What is needed of a Kubernetes cluster, be it the hub or a member. The real adapter, its in-memory twin and the one
over the bus pass the same tests."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol

from msgspec import Struct

from fairway.wire.spec import Companion


class ClusterRefused(Exception):
    """The cluster's API refused for good: `code` is its status reason (Forbidden, Invalid, NameConflict, ...)."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text


def check_labels(labels: Mapping[str, str]) -> None:
    """Of a deletion. Raises ValueError without any."""
    if not labels:
        raise ValueError("a deletion without labels would take anybody's object; name the job and the attempt")


class Applied(Struct, frozen=True):
    """`adopted`: the object was there already, and ours. `companions` are those that whoever applied it sent before;
    no cluster says any."""

    uid: str
    adopted: bool = False
    companions: tuple[Companion, ...] = ()


class Change(Struct, frozen=True):
    """One object as a watch tells it. `kind` is `Kind.group/version`; `synced` (alone) says that everything that
    existed at the start of the watch, or of a new list after a gap, has been told. `gone` objects no longer exist."""

    kind: str
    namespace: str = ""
    name: str = ""
    manifest: dict[str, Any] = {}
    gone: bool = False
    synced: bool = False


class Cluster(Protocol):
    """One Kubernetes API. Raises ClusterRefused, or Unreachable when the outcome is unknown."""

    name: str

    async def apply(self, kind: str, manifest: dict[str, Any], level: str = "") -> Applied:
        """Creates the object (field manager `fairway`) and its namespace, or finds it there as this attempt's. What is
        there is never changed, and ClusterRefused with a code: NameConflict of another job or of none, StaleObject of
        another attempt or on its way out, NoSeal if it says that it is this attempt's and is not. The namespace has
        its tenant's label and Pod Security `level` (empty: baseline), or is ForeignNamespace or ReservedNamespace, or
        NamespaceTerminating as long as it is on its way out."""

    async def delete(self, kind: str, namespace: str, name: str, labels: dict[str, str], wait_s: float) -> bool:
        """Foreground deletion of the object if it carries `labels`; True when it and its pods are gone. Without a name
        only pods that carry them are waited for."""

    def watch(self, kind: str, selector: str = "", namespace: str = "") -> AsyncIterator[Change]:
        """For ever, in one namespace or in all: lists, watches, and after any gap lists again (what vanished meanwhile
        is told as gone)."""

    async def get(self, kind: str, namespace: str, name: str) -> dict[str, Any] | None: ...
    async def patch(
        self, kind: str, namespace: str, name: str, body: dict[str, Any] | list[dict[str, Any]], subresource: str = ""
    ) -> dict[str, Any] | None:
        """Merge patch, or the steps of a JSON patch for a list; None when the object is not there."""

    async def create(self, kind: str, manifest: dict[str, Any]) -> None: ...
    async def review(self, kind: str, body: dict[str, Any]) -> dict[str, Any]:
        """A question about a token or a right: a create that stores nothing; the answer has its status."""

    async def discard(self, kind: str, namespace: str, labels: dict[str, str], name: str = "") -> None:
        """Deletes at once, without grace, what carries `labels`: all of it, or the object of that name."""

    async def mark_pods(self, namespace: str, labels: dict[str, str], notes: dict[str, str]) -> None:
        """Every pod that carries the labels has these annotations afterwards."""

    async def shorten(self, namespace: str, labels: dict[str, str], grace_s: int) -> None:
        """Of the pods that carry the labels, those that are on their way out with a longer grace have this one, from
        when they were asked to go."""

    async def drop(self, kind: str, namespace: str, name: str) -> None:
        """Deletes the object, if it is there, and waits for nothing: only for what Fairway alone writes."""

    async def served(self) -> tuple[str, ...]:
        """The kinds of Fairway's registry that this API serves, sorted."""

    async def close(self) -> None: ...
