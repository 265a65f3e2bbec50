"""Quota as an auditor adds it up: charges over the tree."""

from collections.abc import Iterator

from fairway.domain.quota_tree import QuotaNode, leaves
from fairway.domain.resources import Resources, show
from fairway.runtime.check_job import Life, Spoken, Violation, ends
from fairway.wire import jobs as wire


class Charges:
    """Charges by quota node. A service decides (`at`), commits, and only then publishes, so that what is in force when
    is known within bounds: a share is given back at its `at` at the earliest, and was charged at the latest when it was
    published, which was not before any message that stands before it in the record was decided. By these they are added
    up, giving back first: what is too much then was too much. A breach shorter than one commit, or clocks that differ,
    cannot be seen this way.

    `unsaid` is for who sees the store as well: jobs that had given back (at which ms) when it was lost. If the record
    never says so they are charged again in the next working set, and what was charged on the strength of it was not
    too much when it was decided."""

    def __init__(self, tree: QuotaNode | None, known_ms: int = 0) -> None:
        self._known_ms = known_ms
        self._trees: list[tuple[int, dict[str, Resources]]] = []
        if tree is not None:
            self.changed(tree, 0)
        self._moves: list[tuple[int, bool, int, str, tuple[str, ...], Resources]] = []
        self._charged: dict[str, tuple[tuple[str, ...], Resources]] = {}
        self._wrong: list[Violation] = []
        self._newest = 0
        self.unsaid: dict[str, int] = {}

    def changed(self, tree: QuotaNode, at: int) -> None:
        """Another tree is in force; whoever charges may go by the one before for as long as news may take."""
        self._trees.append((at, {node.path: node.max for path in leaves(tree) for node in path}))

    def _most(self, node: str, name: str, at: int) -> int | None:
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

    def follow(self, life: Life, spoken: Spoken) -> None:
        message = spoken.message
        self._newest = max(self._newest, message.at)
        # Who is blocked waits, though the word of his coming back may have been lost.
        if isinstance(message, wire.Queue | wire.Blocked | wire.Dequeued) or ends(message):
            path, charge = self._charged.pop(life.job, ((), {}))
            if charge:
                back = {name: -amount for name, amount in charge.items()}
                at = min(message.at, self.unsaid.get(life.job, message.at))
                self._moves.append((at, False, spoken.sequence, life.job, path, back))
        if isinstance(message, wire.Dequeued):
            self._charged[life.job] = (message.path, message.charge)
            self._moves.append((self._newest, True, spoken.sequence, life.job, message.path, message.charge))
            for name, amount in sorted(life.asks.items()):
                charged = message.charge.get(name, 0)
                if charged != amount:
                    text = f"it asks for {show(name, amount)} {name} and was charged {show(name, charged)}"
                    self._wrong.append(Violation(life.job, spoken.sequence, "quota", text))

    def renewed(self) -> None:
        """Another working set is in use, made of the record."""
        for job, at in self.unsaid.items():
            path, charge = self._charged.get(job, ((), {}))
            back = {name: -amount for name, amount in charge.items()}
            again = max(at, self._newest) + 1
            self._moves += [(at, False, 0, job, path, back), (again, False, 0, job, path, charge)]
        self.unsaid.clear()

    def breaches(self) -> Iterator[Violation]:
        yield from self._wrong
        if not self._trees:
            return
        used: dict[tuple[str, str], int] = {}
        nodes = {node for _, tree in self._trees for node in tree}
        for at, charges, sequence, job, path, amounts in sorted(self._moves, key=lambda move: move[:3]):
            if charges and not path:
                yield Violation(job, sequence, "quota", "it was charged to no node of the quota tree")
            for node in path:
                for name, amount in amounts.items():
                    total = used[node, name] = used.get((node, name), 0) + amount
                    most = self._most(node, name, at)
                    if charges and most is not None and amount and total > most:
                        text = f"quota {node} uses {show(name, total)} {name} of at most {show(name, most)}"
                        yield Violation(job, sequence, "quota", text)
                if charges and node not in nodes:
                    yield Violation(job, sequence, "quota", f"the quota tree has no node {node}")
