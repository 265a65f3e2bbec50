"""reserver as a value: the followed cache as its view, and the one thing it asks for outside, a full report."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice

import msgspec

from fairway.domain import decision
from fairway.domain.decision import Call, Heard, Outcome, Put
from fairway.domain.job import State
from fairway.domain.preemption.claim import is_claims
from fairway.domain.reservations import Hold
from fairway.placement.room_sums import RoomSums
from fairway.reserver.decide import SERVICE, Hears, OfJobs, decide
from fairway.reserver.expiry import EXPIRE_EVERY_MS, free_claims
from fairway.reserver.node_rows import node_writes
from fairway.reserver.room_totals import RoomTotals
from fairway.reserver.taken_room import taken_from
from fairway.reserver.view import Expire, ReserverBegins
from fairway.runtime.metrics.accumulators import Sample
from fairway.runtime.ports import Bus, ReadRows, Row, Unreachable, Wanted
from fairway.runtime.record.senders import place_of, place_of_cluster, place_of_relief
from fairway.runtime.service import Consumer, Remembered, Service
from fairway.runtime.views.clusters import FleetMemory
from fairway.runtime.views.members import Facts
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet, flow, subjects
from fairway.wire import jobs as wire
from fairway.wire.preemption.evictions import Evict
from fairway.wire.preemption.evictions import Message as RelieveOrEvict

# Whoever begins knows only that all of these were reserved once: so many are looked at with one tick.
_PIECE = 1_000
# What is remembered beside the rows.
_EXPIRING = "expiring"


class ReserverMemory(FleetMemory):
    """The cache, with the reservations that may have to end by themselves; those dispatched are looked at once."""

    settings: tuple[str, ...] = ("Cluster", "Member")

    def __init__(self, catalog: Catalog) -> None:
        super().__init__()
        self._catalog = catalog
        self._expiring: dict[str, int] = {}
        self.sums: dict[str, RoomSums] = {}

    @property
    def members(self) -> Iterable[str]:
        return self._catalog.members.clusters

    @property
    def facts(self) -> Mapping[str, Facts]:
        return self._catalog.members.facts

    @property
    def left(self) -> Container[str]:
        return self._catalog.members.left

    def begin(self) -> None:
        super().begin()
        self._expiring.clear()
        self.sums.clear()

    def wants(self, heard: Sequence[Heard[object]], now: int) -> Wanted:
        wanted = super().wants(heard, now)
        if any(isinstance(one.message, Expire) for one in heard):
            due = (key for key, until in self._expiring.items() if until <= now)
            free = chain.from_iterable(keys for _, keys in free_claims(self, now))
            for key in (*islice(due, _PIECE), *islice(taken_from(self), _PIECE), *islice(free, _PIECE)):
                wanted.add(decision.JOBS, key.partition("/")[0])
        victims = (one for said in heard if isinstance(said.message, Evict) for one in said.message.victims)
        for victim in victims:
            wanted.add(decision.JOBS, victim.job)
        return wanted

    def take(self, found: ReadRows, heard: Sequence[Heard[object]], now: int) -> None:
        super().take(found, heard, now)
        if any(isinstance(one.message, Expire) for one in heard):
            for key in list(islice((key for key, until in self._expiring.items() if until <= now), _PIECE)):
                job = self.jobs.get(key.partition("/")[0])
                until = self._expiring.pop(key)
                if job is not None and job.state is State.RESERVED and job.key == key:
                    # Behind the others: those of a cluster that is away stay, and must not keep the rest unseen.
                    self._expiring[key] = until

    def _set_row(self, table: str, key: str, row: Row | None) -> None:
        super()._set_row(table, key, row)
        kind, _, cluster = table.partition("/")
        if kind == "ledger" and row is not None:
            hold = self.ledger[cluster][key]
            if hold.expires_at and not is_claims(key):
                self._expiring[key] = hold.expires_at
        elif kind == "ledger":
            self._expiring.pop(key, None)

    def remembered(self) -> Iterable[Remembered]:
        yield from super().remembered()
        yield from (Remembered(_EXPIRING, key, until) for key, until in self._expiring.items())

    def recall(self, table: str, key: str, rev: int, data: bytes) -> None:
        if table == _EXPIRING:
            self._expiring.pop(key, None)  # in the order in which they are looked at
            self._expiring[key] = msgspec.json.decode(data, type=int)
        else:
            super().recall(table, key, rev, data)

    def node_writes(self, cluster: str, changed: Mapping[str, Hold | None]) -> list[Put]:
        """Looks at the nodes that name these attempts and at those of their slots, not at the whole cluster."""
        view = self.clusters.get(cluster)
        if view is None:
            return []
        names = {slot.node for hold in changed.values() if hold for slot in hold.slots}
        names.update(name for key in changed for name in view.nodes_of(key))
        nodes = {name: node for name in sorted(names) if (node := view.by_name.get(name))}
        return node_writes(self, cluster, nodes, changed)


def _gauges(totals: RoomTotals, known: ReserverMemory, now: int) -> Iterator[Sample]:
    return totals.samples(known.clusters, known.sums, sorted(known.members), now)


def service(bus: Bus, catalog: Catalog) -> Service[ReserverMemory, Hears]:
    jobs: Consumer[OfJobs] = Consumer(*flow.consumer(SERVICE), msgspec.json.Decoder(wire.Message), place_of)
    reports: Consumer[fleet.Report] = Consumer(
        *flow.consumer(f"{SERVICE}-reports"), msgspec.json.Decoder(fleet.Report), place_of_cluster
    )

    evictions: Consumer[Evict] = Consumer(
        *flow.consumer(f"{SERVICE}-relief"), msgspec.json.Decoder(RelieveOrEvict), place_of_relief
    )

    async def act(call: Call) -> Outcome:
        try:
            await bus.tell(subjects.resync(call.cluster))
        except Unreachable as error:
            return Outcome(call, False, "", str(error))
        return Outcome(call, True)

    return Service(
        SERVICE,
        (jobs, reports, evictions),
        decide,
        lambda: ReserverMemory(catalog),
        act=act,
        ticks=((Expire(), EXPIRE_EVERY_MS),),
        begin=ReserverBegins(),
        gauges=partial(_gauges, RoomTotals()),
    )
