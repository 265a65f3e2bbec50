"""Which real clusters are to run, as values: a hub, and members that differ as real ones do."""

from msgspec import Struct

from fairway.lab.kubesim.__main__ import ClusterConfig

HUB = "hub"


class RealMember(ClusterConfig, frozen=True, omit_defaults=True):
    """`operators` by their names in OPERATORS; of `modules` there are only the definitions of their kinds.
    `scheduler`: whether a kube-scheduler runs; where koord-scheduler does, every pod is its own. `reserve`: how room is
    held there."""

    operators: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    scheduler: bool = True
    reserve: str = "auto"


class RealClusters(Struct, frozen=True, omit_defaults=True):
    """`kubeconfigs` is the folder to write to, `dir` where the servers keep what they have. A pod that does not say
    how long it runs runs for `default_run_ms`. `identities` is the file of those who may ask the hub."""

    clusters: tuple[RealMember, ...]
    kubeconfigs: str
    dir: str
    default_run_ms: int = 0
    identities: str = ""
