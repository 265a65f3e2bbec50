"""A job kind: where its sizes, its gang, its priority and its state stand."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from msgspec.structs import replace

from fairway.wire.capacity import PLACEHOLDERS, RESERVATIONS
from fairway.wire.reasons import Reason
from fairway.wire.workload import PodSet, Workload
from fairway.workloads.hub_status import PLAIN, Ends
from fairway.workloads.kinds.phase import Phase
from fairway.workloads.pod_security.pod import Pod
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.reading.fields import Field
from fairway.workloads.references import Find, WrittenOut

Path = tuple[str | int, ...]


class WrappedObject(NamedTuple):
    """An object of another kind that stands whole in a manifest, at a path; `prefix` is what the names of its pod sets
    begin with there."""

    kind: "Kind"
    at: Path
    prefix: str


class Kind(ABC):
    """How one kind is read. The methods take the whole object as a Field; problems are noted there.

    `schedulers` are those that the kind's operator is for, `account` the service account that the operator's chart
    makes for pods that cannot do without its token.
    `drop` are fields that would remove a finished object before anybody saw it (time to live).
    `in_place` are the fields of the spec that its operator takes over while the job runs, without starting anything of
    it anew; `*` is any entry of a list, found by its name.
    `ends` is what the hub shows when no member speaks.
    `steady`: a gang that was up and is no longer is in trouble (not where pods come and go: Spark, Argo).
    `refers_to` are the kinds of the hub's objects in which parts of one may stand (references.py).
    `remade`: while one is being deleted its operator makes anew what was made for it, so that it has to go first.
    `brings` are the kinds of objects that have to be in a member before one is, with their plural names (in_member);
    those that are `spared` are left out where a member does not serve them.
    `holds` are the ways in which room can be held for its pods in a member: placeholders need pods that come, gates
    included, from templates of the manifest, and all at once.
    `label` is on its objects in a member, and on nothing else there, where the job's labels alone would find pods, too.
    `bare`: only what no controller owns is a job. `hub_fields` selects those of the hub's objects that may be one.
    `let_go` says where its owner holds it, and how to let it go.
    """

    name: str
    api_version: str
    plural: str
    schedulers: tuple[str, ...] = ()
    account: str = ""
    suspend_path: tuple[str, ...] = ("spec", "suspend")
    managed_by: tuple[str, ...] = ()
    drop: tuple[tuple[str, ...], ...] = ()
    name_limit: int = 63
    makes_services: bool = False
    in_place: tuple[tuple[str, ...], ...] = ()
    remade: bool = False
    refers_to: tuple[str, ...] = ()
    brings: Mapping[str, str] = MappingProxyType({})
    spared: frozenset[str] = frozenset()
    holds: tuple[str, ...] = (RESERVATIONS, PLACEHOLDERS)
    ends: Ends = PLAIN
    steady: bool = True
    label: str = ""
    bare: bool = False
    hub_fields: str = ""
    let_go: tuple[str, str] = ("spec.suspend", "set suspend to false to submit it")

    @property
    def key(self) -> str:
        """`Kind.group/version`, such as `Job.batch/v1`; `Pod.v1` of the core group."""
        return f"{self.name}.{self.api_version}"

    @abstractmethod
    def pod_sets(self, manifest: Field) -> tuple[PodSet, ...]: ...

    def gang(self, manifest: Field, pods: tuple[PodSet, ...]) -> int:
        """All pods together, where the kind knows no less."""
        return sum(one.count for one in pods)

    @abstractmethod
    def phase(self, workload: Workload, manifest: Field) -> Phase:
        """Takes the object too; for most kinds its `status` alone is enough."""

    @abstractmethod
    def priority(self, manifest: Field) -> str: ...

    def queue(self, manifest: Field) -> str:
        """The queue of a whole cluster that it is in, where its operator knows such; empty: that of everybody."""
        return ""

    @abstractmethod
    def label_paths(self, manifest: Mapping[str, Any]) -> Iterable[Path]:
        """For a valid manifest, the place of every mapping whose `labels` reach pods."""

    @abstractmethod
    def pod_templates(self, manifest: Field) -> Iterable[Pod]:
        """Every pod that the job, or its operator for it, makes of the manifest, whether it is counted or not. Of any
        manifest, valid or not."""

    def kept_from_batch(self, manifest: Field) -> Iterator[tuple[Field, str]]:
        """Where pods may ask for cpu and memory that stay so in a member, though the pods are on batch resources, each
        with what to do instead. Of a valid manifest."""
        for pod in self.pod_templates(manifest):
            if pod.template is not None:
                yield pod.template["resources"], "write them on the containers"

    def written_out(self, manifest: dict[str, Any], find: Find) -> WrittenOut:
        """The object with what it refers to copied into it. Of any manifest, valid or not; it is not changed."""
        return WrittenOut(manifest)

    def refers(self, manifest: dict[str, Any]) -> bool:
        """Whether parts of it stand elsewhere."""
        made = self.written_out(manifest, lambda reference: None)
        return bool(made.used or made.wrong)

    # Of an object of the hub, valid or not.
    def as_written(self, manifest: dict[str, Any]) -> dict[str, Any]:
        """Without what API servers write into every object of the kind."""
        return manifest

    def suspended(self, manifest: Mapping[str, Any]) -> bool:
        """Whether its owner holds it."""
        here: Any = manifest
        for step in self.suspend_path:
            here = here.get(step) if isinstance(here, dict) else None
        return bool(self.suspend_path) and here is True

    def for_the_fleet(self, manifest: Mapping[str, Any]) -> bool:
        """Whether it is meant for the fleet though no policy selects it: else it is nothing of Fairway's."""
        return True

    def runs_there(self, manifest: Mapping[str, Any]) -> bool:
        """Whether the hub runs it itself."""
        return False

    def one_of_several(self, manifest: Mapping[str, Any]) -> Reason | None:
        """Why it is no job by itself."""
        return None

    def besides(self, manifest: Field, ruling: Ruling) -> None:
        """Looks at what changes pods in other ways."""
        return

    def prepare(self, copy: dict[str, Any]) -> None:
        """The kind's own clean-up of a member copy."""
        return

    def give_way(self, pods: dict[str, Any]) -> None:
        """Of a member copy: at one of the `label_paths`, whose pods run on batch resources. What would keep the member
        from giving them their class goes."""
        return

    def in_member(self, copy: dict[str, Any], name: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Of a member copy: the object itself, and by kind the others that are part of it, each called `name`, with
        the content of each. The copy is not changed."""
        return copy, {}

    def wrapped_objects(self, manifest: dict[str, Any]) -> Iterable[WrappedObject]:
        """Of a valid manifest: the objects that its operator makes just as they stand in it."""
        return ()

    def changes_in_place(self, manifest: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
        """Of the fields that are `in_place` those that are so for this valid manifest."""
        return self.in_place

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


def prefixed(pods: PodSet, prefix: str) -> PodSet:
    return replace(pods, name=f"{prefix}{pods.name}") if prefix else pods
