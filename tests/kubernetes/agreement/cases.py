"""What agreement is tried on: a few nodes with others' pods on them, and a gang."""

from typing import Any

from msgspec import Struct

from fairway.domain.resources import add
from fairway.lab.kubesim import fit
from tests.kubernetes.agreement.pod_specs import quantities

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

    @property
    def within(self) -> tuple[Json, ...]:
        """Of the others those that the node has room for, in their order."""
        free = fit.amounts(quantities(self.amounts))
        found = list(self.others[: self.ended])
        for spec in self.others[self.ended :]:
            left = add(free, fit.pod_requests(spec), -1)
            if min(left.values()) >= 0:
                found.append(spec)
                free = left
        return tuple(found)


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

    @property
    def asks_nothing(self) -> bool:
        """Whether some of its pods have no requests."""
        return any(fit.pod_requests(one.spec) == {"pods": 1} for one in self.gang)
