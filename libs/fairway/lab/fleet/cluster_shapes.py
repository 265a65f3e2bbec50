"""Member clusters of embedded fleets: how many, with which nodes."""

from fairway.domain.resources import BATCH_CPU, BATCH_MEMORY
from fairway.lab.kubesim.__main__ import ClusterConfig
from fairway.lab.kubesim.nodes import NodeGroup

# As any real node reports; the training-operator's launcher of an MPIJob asks for 5 GiB of it.
_DISK = {"ephemeral-storage": "500Gi"}
_GPUS = (("north", "A100", 8, 64, 512), ("south", "V100", 4, 32, 256), ("west", "T4", 2, 32, 128))
# Cores that online services leave of a node, in each of these; and so many GiB with each.
_IDLE_CORES = (8, 4, 16)
_GIB_A_CORE = 4


def gpu_clusters(count: int = 3, nodes: int = 4) -> tuple[ClusterConfig, ...]:
    """`count` member clusters of different GPU types in turn; each label and node label says which."""
    made = []
    for index in range(count):
        name, gpu, gpus, cpu, memory = _GPUS[index % len(_GPUS)]
        name = name if index < len(_GPUS) else f"{name}-{index // len(_GPUS) + 1}"
        idle = _IDLE_CORES[index % len(_GPUS)]
        batch = {BATCH_CPU: str(idle * 1000), BATCH_MEMORY: f"{idle * _GIB_A_CORE}Gi"}
        allocatable = {"cpu": str(cpu), "memory": f"{memory}Gi", "nvidia.com/gpu": str(gpus), **batch, **_DISK}
        group = NodeGroup(nodes, f"{name}-node", allocatable, {"nvidia.com/gpu.product": gpu})
        made.append(ClusterConfig(name, labels={"gpu": gpu.lower(), "region": name}, nodes=(group,)))
    return tuple(made)


def equal_clusters(count: int, nodes: int, gpus: int) -> tuple[ClusterConfig, ...]:
    """`count` clusters of `nodes` nodes with `gpus` GPUs each: what the replays run on."""
    allocatable = {"cpu": "96", "memory": "1024Gi", "nvidia.com/gpu": str(gpus), **_DISK}
    return tuple(
        ClusterConfig(f"c{index}", labels={"pool": "gpu"}, nodes=(NodeGroup(nodes, f"c{index}-node", allocatable),))
        for index in range(count)
    )
