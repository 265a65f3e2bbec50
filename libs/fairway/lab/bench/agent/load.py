"""The cluster that the agent's benchmark watches: nodes and pods of the sizes that real ones have, and what changes."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.lab.kubesim.nodes import NodeGroup
from fairway.workloads.member_copy import ATTEMPT_LABEL, JOB_LABEL, POD_SET_LABEL

Json = dict[str, Any]
NODE = "Node.v1"
POD = "Pod.v1"
SPACE = "default"
# A kubelet says at least so often how its node is, changed or not (nodeStatusReportFrequency).
HEARTBEAT_S = 300.0
_GANG = 8
_MIB = 2**20
_GPU = "nvidia.com/gpu"


def node_name(number: int) -> str:
    return f"node-{number:05}"


def node(number: int) -> Json:
    """30 labels and 25 images, ready: about 10 KB with what the server adds."""
    name = node_name(number)
    known = {
        "topology.kubernetes.io/region": "eu-1",
        "topology.kubernetes.io/zone": f"eu-1{'abc'[number % 3]}",
        "node.kubernetes.io/instance-type": "gpu-8x",
        "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
        "nvidia.com/gpu.count": "8",
    }
    found = {f"feature.node.kubernetes.io/cpu-cpuid.FEATURE{at}": "true" for at in range(27 - len(known))}
    size = {
        "cpu": "128",
        "memory": "1056270696Ki",
        "ephemeral-storage": "1855634Mi",
        "hugepages-2Mi": "0",
        _GPU: "8",
    }
    made = NodeGroup(1, "node", size, known | found).node(name)
    made["status"] |= {"images": _images(), "conditions": conditions(0)}
    return made


def _images() -> list[Json]:
    return [
        {
            "names": [
                f"registry.example.org/team/image-{at}@sha256:{at:064x}",
                f"registry.example.org/team/image-{at}:1",
            ],
            "sizeBytes": 400 * _MIB + at,
        }
        for at in range(25)
    ]


def conditions(now: int) -> list[Json]:
    """As a kubelet says them at `now` (ms)."""
    beat, began = (datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for at in (now, 0))
    rows = (
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    )
    times = {"lastHeartbeatTime": beat, "lastTransitionTime": began}
    return [{"type": one, "status": is_so, "reason": why, "message": text, **times} for one, is_so, why, text in rows]


def pod(name: str, on: str, attempt: str = "") -> Json:
    """One container with what training pods carry: about 4 KB with what the server adds. `attempt` is
    `<job>/<attempt>`; a stranger's pod has none."""
    job, _, number = attempt.partition("/")
    labels = {"app.kubernetes.io/name": "train", "app.kubernetes.io/instance": name, "team": "research"}
    labels |= {JOB_LABEL: job, ATTEMPT_LABEL: number, POD_SET_LABEL: "Worker"} if attempt else {}
    env = [{"name": f"TRAINING_SETTING_{at}", "value": f"/data/experiments/run-{at}/settings.yaml"} for at in range(12)]
    volumes: list[Json] = [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "scratch", "emptyDir": {}},
        {"name": "settings", "configMap": {"name": "settings"}},
        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "16Gi"}},
    ]
    container = {
        "name": "pytorch",
        "image": f"registry.example.org/team/train@sha256:{1:064x}",
        "env": env,
        "command": ["torchrun", "--nnodes=8", "--rdzv-backend=c10d", "train.py", "--config=/settings/train.yaml"],
        "resources": {"requests": {"cpu": "4", "memory": "32Gi"}, "limits": {_GPU: "1", "memory": "32Gi"}},
        "volumeMounts": [{"name": one["name"], "mountPath": f"/{one['name']}"} for one in volumes],
    }
    tolerations = [{"key": _GPU, "operator": "Exists", "effect": "NoSchedule"}]
    spec = {
        "nodeName": on,
        "containers": [container],
        "volumes": volumes,
        "restartPolicy": "Always",
        "tolerations": tolerations,
        "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"},
        "automountServiceAccountToken": False,
    }
    meta = {"name": name, "namespace": SPACE, "labels": labels}
    return {"metadata": meta, "spec": spec}


def standing(number: int, nodes: int) -> Json:
    """A pod that stays. Every other one is of a gang of Fairway's, spread over the nodes."""
    turn, at = divmod(number, nodes)
    attempt = f"job-{number // (2 * _GANG)}/1" if (turn + at) % 2 else ""
    return pod(f"pod-{number:06}", node_name(at), attempt) | {"status": lived("Running")}


def lived(phase: str) -> Json:
    """What a kubelet says of a pod that runs, or has succeeded."""
    runs = phase == "Running"
    since = "2026-01-01T00:00:00Z"
    ready = [{"type": one, "status": str(runs), "lastTransitionTime": since} for one in ("Ready", "ContainersReady")]
    state = {"running": {"startedAt": since}} if runs else {"terminated": {"exitCode": 0, "reason": "Completed"}}
    container = {
        "name": "pytorch",
        "image": "registry.example.org/team/train",
        "imageID": f"sha256:{1:064x}",
        "ready": runs,
        "restartCount": 0,
        "containerID": f"containerd://{1:064x}",
        "state": state,
    }
    return {"phase": phase, "startTime": since, "conditions": ready, "containerStatuses": [container]}


async def beat(cluster: KubernetesCluster, nodes: int, now: Callable[[], int]) -> None:
    """For ever: each node's status in turn, as kubelets write it that have nothing to say."""
    number = 0
    while True:
        await asyncio.sleep(HEARTBEAT_S / nodes)
        await cluster.patch(NODE, "", node_name(number), {"status": {"conditions": conditions(now())}}, "status")
        number = (number + 1) % nodes


class Churn:
    """Pods that come, run, succeed and are deleted, at `rate` events a second, whatever the answers take. Each state
    lasts about half a second. `expect(node, attempt, there)` hears of each event that changes what a node has left,
    just before it is asked for."""

    def __init__(
        self, cluster: KubernetesCluster, nodes: int, rate: float, expect: Callable[[str, str, bool], None]
    ) -> None:
        self._cluster = cluster
        self._nodes = nodes
        self._rate = rate
        self._expect = expect
        self._lag = max(1, int(rate / 8))
        self._doing: dict[int, asyncio.Task[None]] = {}
        self._begun = 0.0
        self._at = 0
        self.made = 0
        self.writes: list[float] = []  # what each took, in milliseconds

    @property
    def warm(self) -> int:
        """After so many events as many pods go as come."""
        return 12 * self._lag

    async def run(self, events: int, drain: bool = False) -> None:
        """So many more; to `drain`, only pods that came before."""
        loop = asyncio.get_running_loop()
        self._begun = self._begun or loop.time()
        came = -(-self._at // 4)
        for _ in range(events):
            await asyncio.sleep(max(0.0, self._begun + self._at / self._rate - loop.time()))
            stage = self._at % 4
            number = self._at // 4 - stage * self._lag
            self._at += 1
            if number >= 0 and not (drain and number >= came):
                self._doing[number] = asyncio.create_task(self._do(stage, number, self._doing.get(number)))

    async def drain(self) -> None:
        """Until all that came are gone."""
        await self.run(self.warm + 4, drain=True)
        await asyncio.gather(*self._doing.values())

    async def _do(self, stage: int, number: int, before: Awaitable[None] | None) -> None:
        if before is not None:
            await before
        asked = asyncio.get_running_loop().time()
        name = f"churn-{number:06}"
        on = node_name(number * 7 % self._nodes)
        if stage == 0:
            self._expect(on, f"{name}/1", True)
            await self._cluster.create(POD, pod(name, on, f"{name}/1"))
        elif stage == 3:
            await self._cluster.drop(POD, SPACE, name)
        elif stage == 1:
            await self._say(name, "Running")
        else:
            self._expect(on, f"{name}/1", False)
            await self._say(name, "Succeeded")
        self.made += 1
        self.writes.append((asyncio.get_running_loop().time() - asked) * 1000)

    async def _say(self, name: str, phase: str) -> None:
        await self._cluster.patch(POD, SPACE, name, {"status": lived(phase)}, "status")
