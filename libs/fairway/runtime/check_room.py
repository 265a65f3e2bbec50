"""Room and quota as an auditor adds them up: promises over nodes, charges over the tree."""

from collections.abc import Iterator, Mapping

from fairway.domain.quota_tree import QuotaNode, leaves
from fairway.domain.resources import Resources, show
from fairway.runtime.check_job import Life, Spoken, Violation, ends
from fairway.wire import jobs as wire


class Rooms:
    """Per node, the sum of what open attempts were given there. A release is said before the room is given again,
    because the reserver hears of it from the record; so the order of the record is the order to add up in."""

    def __init__(self, nodes: Mapping[str, Mapping[str, Resources]]) -> None:
        self._nodes = nodes
        self._taken: dict[tuple[str, str], Resources] = {}
        self._held: dict[str, list[tuple[tuple[str, str], Resources]]] = {}

    def follow(self, life: Life, spoken: Spoken) -> Iterator[Violation]:
        """After `life` has read the message: its room given up if it has no open attempt, or taken if it got one."""
        message = spoken.message
        if life.open is None or isinstance(message, wire.Reserved):
            for place, amounts in self._held.pop(life.job, ()):
                self._move(place, amounts, -1)
        if isinstance(message, wire.Reserved):
            yield from self._reserve(life, message, spoken.sequence)

    def _reserve(self, life: Life, message: wire.Reserved, sequence: int) -> Iterator[Violation]:
        held = self._held[life.job] = []
        for slot in message.slots:
            place = (message.cluster, slot.node)
            amounts = {name: amount * slot.count for name, amount in life.requests.get(slot.pods, {}).items()}
            self._move(place, amounts, 1)
            held.append((place, amounts))
            node = self._nodes.get(message.cluster, {}).get(slot.node)
            if node is None:
                yield Violation(life.job, sequence, "room", f"{message.cluster} has no node {slot.node}")
                continue
            for name, amount in self._taken[place].items():
                most = node.get(name, amount if name == "pods" else 0)
                if amounts.get(name) and amount > most:
                    there = f"{slot.node} of {message.cluster} has {show(name, most)} {name}"
                    text = f"{there}, but {show(name, amount)} are reserved"
                    yield Violation(life.job, sequence, "room", text)

    def _move(self, place: tuple[str, str], amounts: Resources, sign: int) -> None:
        taken = self._taken.setdefault(place, {})
        for name, amount in amounts.items():
            taken[name] = taken.get(name, 0) + sign * amount


class Charges:
    """Charges by quota node. They are added up in the order of `at`, giving back first: a service publishes after it
    committed, so a freed share may be charged again before the record says that it was freed. A breach shorter than
    one commit, or clocks that differ, cannot be seen this way."""

    def __init__(self, tree: QuotaNode | None) -> None:
        self._max = {node.path: node.max for path in leaves(tree) for node in path} if tree else None
        self._moves: list[tuple[int, bool, int, str, tuple[str, ...], Resources]] = []
        self._charged: dict[str, tuple[tuple[str, ...], Resources]] = {}
        self._wrong: list[Violation] = []

    def follow(self, life: Life, spoken: Spoken) -> None:
        message = spoken.message
        if isinstance(message, wire.Queue | wire.Dequeued) or ends(message):
            path, charge = self._charged.pop(life.job, ((), {}))
            if charge:
                back = {name: -amount for name, amount in charge.items()}
                self._moves.append((message.at, False, spoken.sequence, life.job, path, back))
        if isinstance(message, wire.Dequeued):
            self._charged[life.job] = (message.path, message.charge)
            self._moves.append((message.at, True, spoken.sequence, life.job, message.path, message.charge))
            for name, amount in sorted(life.asks.items()):
                charged = message.charge.get(name, 0)
                if charged != amount:
                    text = f"it asks for {show(name, amount)} {name} and was charged {show(name, charged)}"
                    self._wrong.append(Violation(life.job, spoken.sequence, "quota", text))

    def breaches(self) -> Iterator[Violation]:
        yield from self._wrong
        if self._max is None:
            return
        used: dict[tuple[str, str], int] = {}
        for _, charges, sequence, job, path, amounts in sorted(self._moves, key=lambda move: move[:3]):
            if charges and not path:
                yield Violation(job, sequence, "quota", "it was charged to no node of the quota tree")
            for node in path:
                for name, amount in amounts.items():
                    total = used[node, name] = used.get((node, name), 0) + amount
                    most = self._max.get(node, {}).get(name)
                    if charges and most is not None and amount and total > most:
                        text = f"quota {node} uses {show(name, total)} {name} of at most {show(name, most)}"
                        yield Violation(job, sequence, "quota", text)
                if charges and node not in self._max:
                    yield Violation(job, sequence, "quota", f"the quota tree has no node {node}")
