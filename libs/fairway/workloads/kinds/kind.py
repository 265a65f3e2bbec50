"""A job kind as a value: where its sizes, its gang, its priority and its state stand."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from fairway.wire.capacity import PLACEHOLDERS, RESERVATIONS
from fairway.wire.workload import PodSet, Workload
from fairway.workloads.hub_status import PLAIN, Ends
from fairway.workloads.pod_security.pod import Pod
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.reading.fields import Field

Path = tuple[str | int, ...]

PENDING = "pending"
RUNNING = "running"
SUCCEEDED = "succeeded"
FAILED = "failed"
UNKNOWN = "unknown"


class Phase(Struct, frozen=True):
    """What a member cluster's status means.

    `state` is pending, running (the gang is up), succeeded, failed or unknown (says nothing either way).
    The counts are of pods, or of the kind's own units where it counts no pods (JobSet counts Jobs).
    """

    state: str
    text: str = ""
    active: int = 0
    succeeded: int = 0
    failed: int = 0


def whole_gang(manifest: Field, pods: tuple[PodSet, ...]) -> int:
    """All pods together."""
    return sum(one.count for one in pods)


@dataclass(frozen=True, slots=True)
class Kind:
    """How one kind is read. The functions take the whole object as a Field; problems are noted there.

    `pod_templates` gives every pod that the job, or its operator for it, makes of the manifest, whether it is counted
    or not; `besides` looks at what changes pods in other ways. `schedulers` are those that the kind's operator is for,
    `account` the service account that the operator's chart makes for pods that cannot do without its token.
    `label_paths` gives, for a valid manifest, the place of every mapping whose `labels` reach pods.
    `phase` takes the object too; for most kinds its `status` alone is enough.
    `drop` are fields that would remove a finished object before anybody saw it (time to live).
    `prepare` is the kind's own clean-up of a member copy. `ends` is what the hub shows when no member speaks.
    `steady`: a gang that was up and is no longer is in trouble (not where pods come and go: Spark, Argo).
    `holds` are the ways in which room can be held for its pods in a member: placeholders need pods that come, gates
    included, from templates of the manifest, and all at once.
    """

    name: str
    api_version: str
    plural: str
    pod_sets: Callable[[Field], tuple[PodSet, ...]]
    phase: Callable[[Workload, Field], Phase]
    priority: Callable[[Field], str]
    label_paths: Callable[[Mapping[str, Any]], Iterable[Path]]
    pod_templates: Callable[[Field], Iterable[Pod]]
    besides: Callable[[Field, Ruling], None] | None = None
    schedulers: tuple[str, ...] = ()
    account: str = ""
    gang: Callable[[Field, tuple[PodSet, ...]], int] = whole_gang
    suspend_path: tuple[str, ...] = ()
    managed_by: tuple[str, ...] = ()
    drop: tuple[tuple[str, ...], ...] = ()
    name_limit: int = 63
    makes_services: bool = False
    prepare: Callable[[dict[str, Any]], None] | None = None
    holds: tuple[str, ...] = (RESERVATIONS, PLACEHOLDERS)
    ends: Ends = PLAIN
    steady: bool = True

    @property
    def key(self) -> str:
        """`Kind.group/version`, such as `Job.batch/v1`."""
        return f"{self.name}.{self.api_version}"

    def set_labels(self, manifest: dict[str, Any], labels: Mapping[str, str]) -> None:
        """Put `labels` on the object and on every pod template of it, in place."""
        for path in (("metadata",), *self.label_paths(manifest)):
            holder = reach(manifest, path)
            holder["labels"] = {**(holder.get("labels") or {}), **labels}


def reach(manifest: dict[str, Any], path: Path) -> dict[str, Any]:
    """The mapping at `path`, made on the way where it is absent or null."""
    here: Any = manifest
    for key in path:
        if isinstance(key, int):
            here = here[key]
            continue
        if here.get(key) is None:
            here[key] = {}
        here = here[key]
    return here  # type: ignore[no-any-return]  # manifests are JSON: the path's end is a mapping


def first_text(*fields: Field) -> str:
    """The first non-empty string, in the order given: how every kind looks up its priority class."""
    for field in fields:
        if text := field.text():
            return text
    return ""


def condition(status: Field, kind: str) -> Field | None:
    """The entry of status.conditions of this type whose status is "True"."""
    for entry in status["conditions"].items():
        if entry["type"].value == kind and entry["status"].value in ("True", True):
            return entry
    return None


def said(entry: Field, fallback: str) -> str:
    """A condition's own words: `reason: message`."""
    words = [text for text in (entry["reason"].value, entry["message"].value) if isinstance(text, str) and text]
    return ": ".join(words)[:500] or fallback


def count(field: Field) -> int:
    """A number in a status: operators write it, so a strange one counts as 0 instead of failing the watch."""
    value = field.value
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
