"""Quota as an auditor adds it up: charges over the tree."""

from collections.abc import Iterator

from msgspec import Struct

from fairway.audit.attempts import Spoken, Violation
from fairway.audit.job_history import JobHistory
from fairway.domain.job import ends
from fairway.domain.quota.tree import QuotaNode, leaves
from fairway.domain.resources import Resources, show
from fairway.wire import jobs as wire


class _Move(Struct):
    """A charge, or (`at` is 0) what was charged given back."""

    sequence: int
    at: int
    job: str
    path: tuple[str, ...]
    amounts: Resources


class Charges:
    """Charges by quota node, in the order of the record: a share may be taken when the record says that it was given
    back, and not before. Then no place of the record, and no working set that is made from it, has a node over its
    max."""

    def __init__(self, tree: QuotaNode | None, known_ms: int = 0) -> None:
        self._known_ms = known_ms
        self._trees: list[tuple[int, dict[str, Resources]]] = []
        if tree is not None:
            self.changed(tree, 0)
        self._moves: list[_Move] = []
        self._charged: dict[str, _Move] = {}
        self._wrong: list[Violation] = []

    def changed(self, tree: QuotaNode, at: int) -> None:
        """Another tree is in force; whoever charges may go by the one before for as long as news may take."""
        self._trees.append((at, {node.path: node.max for path in leaves(tree) for node in path}))

    def most(self, node: str, name: str, at: int) -> int | None:
        """By all trees that may have been known at the time; None: as much as anybody likes."""
        most = 0
        for since, found in reversed(self._trees):
            if since <= at:
                if (here := found.get(node, {}).get(name)) is None:
                    return None
                most = max(most, here)
                if since <= at - self._known_ms:
                    break
        return most

    def follow(self, life: JobHistory, spoken: Spoken) -> None:
        message = spoken.message
        # Who is blocked waits, though the word of his coming back may have been lost.
        if isinstance(message, wire.Queue | wire.Blocked | wire.Dequeued) or ends(message):
            self._give_back(life.job, spoken.sequence)
        if isinstance(message, wire.Dequeued):
            made = _Move(spoken.sequence, message.at, life.job, message.path, message.charge)
            self._charged[life.job] = made
            self._moves.append(made)
            for name, amount in sorted(life.asked.total.items()):
                charged = message.charge.get(name, 0)
                if charged != amount:
                    text = f"it asks for {show(name, amount)} {name} and was charged {show(name, charged)}"
                    self._wrong.append(Violation(life.job, spoken.sequence, "quota", text))

    def _give_back(self, job: str, sequence: int) -> None:
        made = self._charged.pop(job, None)
        if made is None:
            return
        if sequence < made.sequence:
            # Given back before it was said: no place of the record has it.
            made.amounts = {}
        back = {name: -amount for name, amount in made.amounts.items()}
        self._moves.append(_Move(sequence, 0, job, made.path, back))

    def breaches(self) -> Iterator[Violation]:
        yield from self._wrong
        if not self._trees:
            return
        used: dict[tuple[str, str], int] = {}
        nodes = {node for _, tree in self._trees for node in tree}
        for move in sorted(self._moves, key=lambda move: (move.sequence, move.at)):
            if move.at and not move.path:
                yield Violation(move.job, move.sequence, "quota", "it was charged to no node of the quota tree")
            for node in move.path:
                for name, amount in move.amounts.items():
                    total = used[node, name] = used.get((node, name), 0) + amount
                    most = self.most(node, name, move.at) if move.at else None
                    if most is not None and amount and total > most:
                        text = f"quota {node} uses {show(name, total)} {name} of at most {show(name, most)}"
                        yield Violation(move.job, move.sequence, "quota", text)
                if move.at and node not in nodes:
                    yield Violation(move.job, move.sequence, "quota", f"the quota tree has no node {node}")
