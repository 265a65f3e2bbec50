"""The openb trace as this benchmark uses it: nodes, online pods and best-effort pods, as the rows say."""

import csv
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from fairway.client.failure import USAGE, Failure

NODES = "openb_node_list_all_node.csv"
_BEST_EFFORT = "BE"


class NodeRow(Struct, frozen=True):
    name: str
    cpu_milli: int
    memory_mib: int
    gpus: int


class PodRow(Struct, frozen=True):
    """`created` and `seconds` (how long it ran) in seconds of the trace; `gpu_milli` of all GPUs together."""

    cpu_milli: int
    memory_mib: int
    gpu_milli: int
    created: int
    seconds: int


class TraceRows(Struct, frozen=True):
    """`online` pods are of the classes LS, Guaranteed and Burstable. Pods that were never scheduled are left out."""

    nodes: tuple[NodeRow, ...]
    online: tuple[PodRow, ...]
    best_effort: tuple[PodRow, ...]


def read(file: Path) -> TraceRows:
    needs = f"give a pod list of the openb trace (Alibaba cluster-trace-gpu-v2023), with {NODES} beside it"
    try:
        nodes = tuple(_node(row) for row in _rows(file.with_name(NODES)))
        ran = [row for row in _rows(file) if row["scheduled_time"]]
        end = max((int(row["deletion_time"] or 0) for row in ran), default=0)
        best_effort = tuple(_pod(row, end) for row in ran if row["qos"] == _BEST_EFFORT)
        online = tuple(_pod(row, end) for row in ran if row["qos"] != _BEST_EFFORT)
    except OSError as error:
        raise Failure(USAGE, f"{error.filename} is not there", needs) from None
    except (KeyError, ValueError) as error:
        raise Failure(USAGE, f"{file} does not read: {error!r}", needs) from None
    if not (nodes and online and best_effort):
        raise Failure(USAGE, f"{file} lacks nodes, online pods or best-effort pods", needs)
    return TraceRows(nodes, online, best_effort)


def _rows(file: Path) -> Sequence[dict[str, str]]:
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


def _node(row: dict[str, str]) -> NodeRow:
    return NodeRow(row["sn"], int(row["cpu_milli"]), int(row["memory_mib"]), int(row["gpu"] or 0))


def _pod(row: dict[str, str], end: int) -> PodRow:
    gpu_milli = int(row["num_gpu"] or 0) * int(row["gpu_milli"] or 0)
    began = int(row["scheduled_time"])
    seconds = max(1, int(row["deletion_time"] or end) - began)
    return PodRow(int(row["cpu_milli"]), int(row["memory_mib"]), gpu_milli, int(row["creation_time"]), seconds)
