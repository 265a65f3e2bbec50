"""The openb trace as the FGD paper's simulator uses it: its GPU nodes, and pods drawn from its list."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from msgspec import Struct

from fairway.client.failure import USAGE, Failure
from fairway.domain.resources import parse_quantity
from fairway.lab.kubesim.nodes import MOST_PODS
from fairway.lab.traces.trace import GPU, MODEL_LABEL, TraceJob
from fairway.wire.capacity import Node

NODES = "openb_node_list_gpu_node.csv"
WHOLE = "whole"
LEFT_OUT = "left-out"
# Of all GPUs, what the drawn pods ask for in the end.
ARRIVED = 1.3


class DrawnPod(Struct, frozen=True):
    """`milli` of a GPU is what the row asks for; `job` is the pod as it is placed, on whole GPUs."""

    job: TraceJob
    milli: int


def nodes(file: Path) -> list[Node]:
    """Of the list beside this pod list."""
    return [_node(row) for row in _rows(file.with_name(NODES))]


def _node(row: dict[str, str]) -> Node:
    amounts = {"cpu": f"{row['cpu_milli']}m", "memory": f"{row['memory_mib']}Mi", GPU: row["gpu"], "pods": MOST_PODS}
    allocatable = {name: parse_quantity(name, text) for name, text in amounts.items()}
    return Node(row["sn"], allocatable, {MODEL_LABEL: row["model"]})


def pods(file: Path, parts: str) -> list[DrawnPod]:
    """Every row of the list; with `parts` left out, those that ask for whole GPUs or for none."""
    found = [_pod(row) for row in _rows(file)]
    return found if parts == WHOLE else [pod for pod in found if pod.milli % 1000 == 0]


def _pod(row: dict[str, str]) -> DrawnPod:
    gpus = int(row["num_gpu"] or 0)
    requests = {"cpu": f"{row['cpu_milli']}m", "memory": f"{row['memory_mib']}Mi", **({GPU: str(gpus)} if gpus else {})}
    models = tuple(sorted(filter(None, row["gpu_spec"].split("|"))))
    job = TraceJob(row["name"], "openb", 0.0, 0.0, 1, requests, models, "Job")
    return DrawnPod(job, gpus * int(row["gpu_milli"] or 0))


def _rows(file: Path) -> list[dict[str, str]]:
    needs = f"give a pod list of the openb trace (Alibaba cluster-trace-gpu-v2023), with {NODES} beside it"
    if not file.is_file():
        raise Failure(USAGE, f"{file} is not there", needs)
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


def drawn(known: Sequence[DrawnPod], milli: int, seed: int) -> Iterator[DrawnPod]:
    """Pods by chance until they ask for so much more than all there is, which is `milli` of GPUs."""
    draw = Random(seed)
    asked = 0
    while asked < ARRIVED * milli:
        pod = draw.choice(known)
        asked += pod.milli
        yield pod


def clusters_of(known: Sequence[Node], count: int, by: str) -> dict[str, list[Node]]:
    """The nodes in so many clusters: in turn, or by the model of their GPUs, where the largest cluster is halved until
    there are enough and the two smallest are one until there are few enough."""
    if by == "round-robin":
        parts = [list(known[first::count]) for first in range(count)]
    else:
        models = sorted({node.labels[MODEL_LABEL] for node in known})
        parts = [[node for node in known if node.labels[MODEL_LABEL] == model] for model in models]
        parts.sort(key=len)
        while len(parts) != count:
            if len(parts) > count:
                parts = [parts[0] + parts[1], *parts[2:]]
            else:
                *rest, largest = parts
                half = len(largest) // 2
                parts = [*rest, largest[:half], largest[half:]]
            parts.sort(key=len)
    return {f"c{index}": part for index, part in enumerate(parts)}
