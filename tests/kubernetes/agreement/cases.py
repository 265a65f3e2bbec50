"""What agreement is tried on: a few nodes with others' pods on them, and a gang."""

from typing import Any

from msgspec import Struct

Json = dict[str, Any]


class DrawnNode(Struct, frozen=True):
    """`amounts` in millicores, MiB and pieces. `away`: its kubelet was never heard of. `others` are pods that are on
    it; the first `ended` of them are done."""

    amounts: dict[str, int]
    labels: dict[str, str]
    taints: tuple[Json, ...]
    cordoned: bool
    away: bool
    others: tuple[Json, ...]
    ended: int

    @property
    def closed(self) -> bool:
        return self.cordoned or self.away


class DrawnPods(Struct, frozen=True):
    """A pod set; `spec` is that of its pods, in which a node is named by its index."""

    name: str
    count: int
    spec: Json


class Case(Struct, frozen=True):
    seed: int
    number: int
    nodes: tuple[DrawnNode, ...]
    gang: tuple[DrawnPods, ...]

    @property
    def name(self) -> str:
        return f"{self.seed}-{self.number}"

    @property
    def pods(self) -> int:
        return sum(one.count for one in self.gang)
