"""Where a job may run: the placement part of a PropagationPolicy, in both API groups the same."""

from msgspec import Struct

from fairway.wire.capacity import AUTO
from fairway.wire.workload import Expression, Toleration


class Affinity(Struct, frozen=True, omit_defaults=True):
    """A set of clusters: all of the fields that are set must agree. Empty selects every cluster."""

    name: str = ""  # affinityName of an ordered clusterAffinities entry
    cluster_names: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    labels: tuple[Expression, ...] = ()  # matchLabels and matchExpressions together


class Placement(Struct, frozen=True, omit_defaults=True):
    """`affinities` are tried in order: the next only when no cluster of the one before can take the job."""

    affinities: tuple[Affinity, ...] = (Affinity(),)
    tolerations: tuple[Toleration, ...] = ()  # of cluster taints
    gang: bool = True


class Selector(Struct, frozen=True, omit_defaults=True):
    """One `resourceSelectors` entry."""

    api_version: str
    kind: str
    namespace: str = ""
    name: str = ""
    labels: tuple[Expression, ...] = ()


class Policy(Struct, frozen=True, omit_defaults=True):
    """A PropagationPolicy (namespaced) or ClusterPropagationPolicy (`namespace` empty).

    `attempts` is the most attempts a job gets; `start_timeout` and `avoid` are in milliseconds. `reserve` is one of
    wire.capacity.RESERVE: how room may be held in the member, out of what the cluster can. `alone`: what the pods of
    its jobs name has to be in the member already. `companions` go along with its jobs, each by its name. `room` is on
    what its jobs run that say nothing of it themselves: batch, normal, or first the one and then the other.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    selectors: tuple[Selector, ...]
    placement: Placement = Placement()
    priority: int = 0
    attempts: int = 3
    start_timeout: int = 300_000
    avoid: int = 600_000
    version: str = ""
    reserve: str = AUTO
    alone: bool = False
    companions: tuple[Selector, ...] = ()
    room: str = ""

    @property
    def title(self) -> str:
        """`kind namespace/name`, as a person would name it in a sentence."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"
