"""Which clusters `fairway up --real` runs: a hub, and members that differ as real ones do."""

from msgspec import Struct

from fairway.lab.kubesim.__main__ import ClusterConfig
from fairway.lab.kubesim.nodes import NodeGroup

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


def three(nodes: int = 4) -> tuple[RealMember, ...]:
    """One where kube-scheduler places pods one by one, one where Volcano starts gangs, one under Koordinator."""
    return (
        _member("north", "A100", (8, 64, 512), nodes, ("training", "spark", "argo", "jobset", "ray")),
        _member("south", "V100", (4, 32, 256), nodes, ("volcano", "training-volcano")),
        _member("west", "T4", (2, 32, 128), nodes, ("koordinator", "training", "spark")),
    )


def _member(name: str, gpu: str, size: tuple[int, int, int], nodes: int, operators: tuple[str, ...]) -> RealMember:
    gpus, cpu, memory = size
    # The training-operator's launcher of an MPIJob asks for 5 GiB of a node's disk.
    disk = {"ephemeral-storage": "500Gi"}
    allocatable = {"cpu": str(cpu), "memory": f"{memory}Gi", "nvidia.com/gpu": str(gpus), **disk}
    group = NodeGroup(nodes, f"{name}-node", allocatable, {"nvidia.com/gpu.product": gpu})
    labels = {"gpu": gpu.lower(), "region": name}
    own = "koordinator" not in operators
    return RealMember(name, labels=labels, nodes=(group,), operators=operators, scheduler=own)
