"""The store, looked over whenever it takes something: what a step charges is what its rows say and what the quota
tree allows, what it reserves lies on nodes that have room for it, and no node is larger than its cluster."""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.memory.working_set import StoreContents
from fairway.audit.store_drift import quota_drift
from fairway.domain import decision
from fairway.domain.batch_resources import PART_OF
from fairway.domain.decision import Add, Put, Step
from fairway.domain.job import Job
from fairway.domain.preemption.claim import is_claims
from fairway.domain.quota.charge import Share
from fairway.domain.reservations import Hold
from fairway.runtime.ports import Clock
from fairway.wire.capacity import Node

_job = msgspec.json.Decoder(Job).decode
_share = msgspec.json.Decoder(Share).decode
_hold = msgspec.json.Decoder(Hold).decode


class StoreChecks:
    """`wrong` is told of what does not hold: the rule, the job (empty: of all of them) and a sentence. `most` is what a
    node of the quota tree may be charged of a resource (None: as much as anybody likes); `sizes` is what these
    members have, whatever they say; `leases` who has each and since when (ms)."""

    def __init__(self) -> None:
        self.wrong: Callable[[str, str, str], None] = lambda rule, job, text: None
        self.most: Callable[[str, str], int | None] = lambda node, resource: None
        self.sizes: dict[str, dict[str, int]] = {}
        self.leases: dict[str, tuple[str, int]] = {}

    def compare(self, before: list[Add], step: Step) -> None:
        """Charges; `before` is what charges the rows that the step has replaced."""
        charged = [one for one in step.writes if isinstance(one, Add) and one.table == decision.QUOTA]
        made = _sums(before, (add for write in _shared(step) for add in _of(write.value).adds()))
        if _sums(charged) != made:
            self.wrong("quota", _job_of(step), f"a step charges {_sums(charged)}, and its rows make it {made}")

    def charged(self, step: Step, used: Mapping[str, int]) -> None:
        """No node of the tree above its max by what was charged just now; `used` is what there is with it."""
        for one in step.writes:
            if isinstance(one, Add) and one.table == decision.QUOTA and one.amount > 0:
                most = self.most(*one.key.split("|"))
                if most is not None and used[one.key] > most:
                    self.wrong("quota", _job_of(step), f"a step charges {one.key} to {used[one.key]} of {most}")

    def reserved(self, new: list[Put], step: Step, kept: Mapping[str, Hold]) -> None:
        """The `new` reservations lie on each node that they name, and none of these is too full by them, nor takes of
        its margin. Batch resources may become less afterwards: only who is new has to fit. Of what is `kept` for claims
        counts what is there already: nobody who is to leave for it is on the node any more."""
        puts = [write for write in step.writes if isinstance(write, Put)]
        nodes = {(write.table, write.key): write.value for write in puts if isinstance(write.value, Node)}
        for write in new:
            table = decision.nodes(write.table.partition("/")[2])
            for name, amounts in _planned(write.value).items():
                node = nodes.get((table, name))
                if node is None or node.holds.get(write.key) != amounts:
                    self.wrong("room", _job_of(step), f"{write.key} is reserved, and the row of {name} does not say so")
                elif over := [one for one in amounts if _taken(node, one, kept) > _room(node, one)]:
                    self.wrong("room", _job_of(step), f"{name} is too full with {write.key} by its own row: {over}")

    def sized(self, step: Step) -> None:
        for one in step.writes:
            size = self.sizes.get(one.table.partition("/")[2]) if isinstance(one, Put) else None
            if size is None or not isinstance(one, Put) or not isinstance(one.value, Node):
                continue
            if over := [name for name, amount in one.value.allocatable.items() if amount > _size(size, name)]:
                self.wrong("size", "", f"{one.table} has a node {one.key} with more than the whole cluster: {over}")

    def rebuilt(self, store: MemoryStore) -> None:
        rows, owed = (
            [row.data for row in store.rows.get(table, {}).values()] for table in (decision.JOBS, decision.OWED)
        )
        for one in quota_drift(rows, owed, store.counters.get(decision.QUOTA, {})):
            made, there = one.fields[""]
            self.wrong("quota", "", f"a rebuild has charged {one.key} {there}, and its rows make it {made}")


class CheckedStore(MemoryStore):
    """One client of a store that is looked over."""

    def __init__(self, books: StoreChecks, clock: Clock | None, memory: StoreContents | None = None) -> None:
        super().__init__(memory, clock)
        self.books = books

    def beside(self) -> "CheckedStore":
        return CheckedStore(self.books, self._clock, self._memory)

    def _take(self, step: Step, missed: set[tuple[str, str]]) -> bool:
        before = [add for write in _shared(step) for add in self._charged(write).adds(-1)]
        holds = [one for one in step.writes if isinstance(one, Put) and isinstance(one.value, Hold)]
        # What is kept for a claim lies where others still are.
        new = [one for one in holds if one.key not in self.rows.get(one.table, {}) and not is_claims(one.key)]
        taken = super()._take(step, missed)
        if taken:
            self.books.compare(before, step)
            self.books.charged(step, self.counters.get(decision.QUOTA, {}))
            self.books.reserved(new, step, self._kept(new))
            self.books.sized(step)
        return taken

    def _kept(self, beside: list[Put]) -> dict[str, Hold]:
        """For claims, in the clusters of these reservations."""
        rows = [one for table in {one.table for one in beside} for one in self.rows[table].items() if is_claims(one[0])]
        return {key: _hold(row.data) for key, row in rows}

    def _charged(self, write: Put) -> Share:
        """What the row is charged that this is to replace."""
        row = self.rows.get(write.table, {}).get(write.key)
        if row is None:
            return _NOTHING
        return _of(_job(row.data) if write.table == decision.JOBS else _share(row.data))

    async def lease(self, name: str, owner: str, ttl_ms: int) -> int:
        token = await super().lease(name, owner, ttl_ms)
        if token and self.books.leases.get(name, ("", 0))[0] != owner:
            self.books.leases[name] = (owner, self._now())
        return token

    async def finish_rebuild(self, epoch: str) -> None:
        await super().finish_rebuild(epoch)
        self.books.rebuilt(self)


_NOTHING = Share((), {})


def _job_of(step: Step) -> str:
    return next((write.key.partition("/")[0] for write in _shared(step)), "")


def _planned(hold: Hold) -> dict[str, dict[str, int]]:
    """By node and resource."""
    total: dict[str, dict[str, int]] = {}
    for slot in hold.slots:
        here = total.setdefault(slot.node, {})
        for name, amount in hold.requests[slot.pods].items():
            here[name] = here.get(name, 0) + amount * slot.count
    return total


def _size(size: Mapping[str, int], name: str) -> int:
    """Batch resources come and go, within what they are a part of."""
    return max(size.get(name, 0), size.get(PART_OF.get(name, name), 0))


def _room(node: Node, name: str) -> int:
    return node.allocatable.get(name, 0) - node.margin.get(name, 0)


def _taken(node: Node, name: str, kept: Mapping[str, Hold]) -> int:
    there = {*node.holds, *node.attempts}
    counted = [amounts for key, amounts in node.holds.items() if not _to_leave(kept.get(key)) & there]
    return node.used.get(name, 0) + sum(amounts.get(name, 0) for amounts in counted)


def _to_leave(kept: Hold | None) -> set[str]:
    return set(kept.leaving or ()) if kept is not None else set()


def _shared(step: Step) -> list[Put]:
    return [one for one in step.writes if isinstance(one, Put) and one.table in (decision.JOBS, decision.OWED)]


def _of(value: object) -> Share:
    if isinstance(value, Job):
        return Share(value.path, value.charge) if value.charged else _NOTHING
    return value if isinstance(value, Share) else _NOTHING


def _sums(*adds: Iterable[Add]) -> dict[str, int]:
    total: dict[str, int] = {}
    for many in adds:
        for one in many:
            total[one.key] = total.get(one.key, 0) + one.amount
    return {key: amount for key, amount in sorted(total.items()) if amount}
