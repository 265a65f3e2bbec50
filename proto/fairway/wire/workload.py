"""What a job asks of a cluster, in the words every stage shares: pod sets, the gang, where nodes may be."""

from msgspec import Struct


class Expression(Struct, frozen=True, omit_defaults=True):
    """One `matchExpressions` (or, with `field`, `matchFields`) entry of a node selector term."""

    key: str
    operator: str  # In | NotIn | Exists | DoesNotExist | Gt | Lt
    values: tuple[str, ...] = ()
    field: bool = False


class Toleration(Struct, frozen=True, omit_defaults=True):
    """A pod's toleration; an empty key with `Exists` tolerates everything."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class PodSet(Struct, frozen=True, omit_defaults=True):
    """`count` equal pods.

    `requests` of one pod in base units (cpu in millicores, bytes, pieces), with init containers, overhead and
    limits-as-requests already worked in. `node_terms` is required node affinity: any one term must match, a
    term matches when all its expressions do. `scheduler` is the one that the manifest asks for by name.
    """

    name: str
    count: int
    requests: dict[str, int]
    node_selector: dict[str, str] = {}
    node_terms: tuple[tuple[Expression, ...], ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    scheduler: str = ""


class Workload(Struct, frozen=True, omit_defaults=True):
    """What admission understood of a manifest.

    `gang_minimum` is how many pods must fit together, over all pod sets, for the job to start at all.
    `priority_class` is the name found in the kind's own lookup order, or empty for the default class.
    `wrapped_kinds` are those of the objects that stand whole in the manifest, as keys, sorted. `batch_first`: its pods
    run on batch resources where there is room for them, else on cpu and memory; `pod_sets` say on which they do now.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    pod_sets: tuple[PodSet, ...]
    gang_minimum: int
    priority_class: str = ""
    wrapped_kinds: tuple[str, ...] = ()
    batch_first: bool = False

    @property
    def key(self) -> str:
        """The key of its kind, `Kind.group/version`."""
        return f"{self.kind}.{self.api_version}"

    @property
    def served_kinds(self) -> tuple[str, ...]:
        """The keys of the kinds that its cluster has to serve."""
        return (self.key, *self.wrapped_kinds)

    @property
    def pods(self) -> int:
        return sum(pods.count for pods in self.pod_sets)
