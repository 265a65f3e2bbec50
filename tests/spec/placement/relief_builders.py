"""Nodes with attempts on them, and claims, for the tables of evictions."""

from collections.abc import Sequence

from fairway.lab.bench.evict.candidate_rows import CandidateRow, in_columns
from fairway.placement.cluster import ClusterView
from fairway.placement.fleet import Fleet
from fairway.placement.relief.outcome import NoRelief, Relief
from fairway.placement.relief.relieve import relieve
from fairway.wire.capacity import Node
from fairway.wire.policy import Placement
from fairway.wire.preemption.evictions import Lender, Relieve
from fairway.wire.workload import Workload
from tests.spec.placement.builders import GPU, NOW, context, node

ANY = Placement()


def full(name: str, **holds: int) -> Node:
    """A node of 8 GPUs of which attempts hold so many each; the rest is free."""
    return node(name, gpu=8, holds={f"{one}/1": {"cpu": 1_000, GPU: gpus, "pods": 1} for one, gpus in holds.items()})


def one(name: str, where: str = "c", charge: int = 0, **more: int) -> CandidateRow:
    """It may go by priority, unless a lender is said."""
    return CandidateRow(name, where, charge={GPU: charge} if charge else {}, **more)


def asked(*candidates: CandidateRow, **more: object) -> Relieve:
    fields = {"tenant": "team", "claim": 1, "until": NOW, "candidates": in_columns(candidates)} | more
    return Relieve(**fields)  # type: ignore[arg-type]  # a case names the fields it sets


def look(views: Sequence[ClusterView], when: Workload, given: Relieve, placement: Placement = ANY) -> Relief | NoRelief:
    return relieve(Fleet({view.name: view for view in views}), when, placement, context(), given)


def lend(*over: int, above: int = -1) -> tuple[Lender, ...]:
    return tuple(Lender(f"root/{at}", above, {GPU: gpus}) for at, gpus in enumerate(over))
