"""admission as a value: what each message asks for is read once, before the rows it needs are fetched."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from fairway.admission.decide import decide
from fairway.admission.pending_limit import limit_of
from fairway.admission.understand import Understood, understand
from fairway.admission.view import SERVICE, ReadManifest
from fairway.domain import decision
from fairway.domain.decision import Add, Call, Heard, Outcome, Put, Step
from fairway.domain.events import another_id, name_key
from fairway.domain.tenancy.submission_limits import Allotment, Limits
from fairway.runtime.ports import Bus, ReadRows, Unreachable, Wanted
from fairway.runtime.record.manifests import manifest_of
from fairway.runtime.record.senders import place_of
from fairway.runtime.service import Consumer, Remembered, Service
from fairway.runtime.views.jobs import JobsMemory
from fairway.runtime.views.settings import Catalog
from fairway.wire import flow
from fairway.wire import jobs as wire

# What is remembered: how much each tenant has submitted of late, and which messages were counted last, with whether
# they came too fast.
_PACE = "pace"
_PACED = "paced"


class AdmissionMemory(JobsMemory[wire.Manifested]):
    settings: tuple[str, ...] = (
        "PropagationPolicy",
        "ClusterPropagationPolicy",
        "PriorityClass",
        "ElasticQuotaTree",
        "Queue",
        "TenantProfile",
        "Namespace",
        "Cluster",
        "Member",
    )

    def __init__(self, catalog: Catalog) -> None:
        super().__init__()
        self._catalog = catalog
        self.understood: dict[str, Understood] = {}
        self.clients: dict[str, tuple[str, str]] = {}
        self.names: dict[str, str] = {}
        self.pending: dict[str, int] = {}
        self.hasty: set[str] = set()
        self._pace = Allotment(1_000)
        self._paced: dict[str, None] = {}

    @property
    def limits(self) -> Mapping[str, Limits]:
        return self._catalog.limits

    def wants(self, heard: Sequence[Heard[wire.Manifested]], now: int) -> Wanted:
        self.understood = {one.id: understand(one.message, one.id, one.sequence, self._catalog) for one in heard}
        jobs = []
        clients = []
        names = []
        for one in heard:
            seen = self.understood[one.id]
            if isinstance(one.message, wire.Revise):
                jobs.append(one.message.job)
                continue
            jobs += [seen.job, another_id(seen.job, one.id, seen.digest)]
            clients.append(seen.client)
            if seen.spec is not None:
                work = seen.spec.workload
                names.append(name_key(work.namespace, work.kind, work.name))
        limited = any(limit_of(one.message, self.limits).pending for one in heard)
        whole = (decision.PENDING,) if limited else ()
        return Wanted(rows={decision.JOBS: jobs, decision.CLIENTS: clients, decision.NAMES: names}, whole=whole)

    def _count(self, heard: Sequence[Heard[wire.Manifested]], now: int) -> None:
        """Each message once, though it is decided again after a conflict."""
        for one in heard:
            rate = limit_of(one.message, self.limits).rate
            if one.id in self._paced:
                continue
            if self._pace.wait(one.message.tenant, rate, 1, now):
                self.hasty.add(one.id)
            else:
                self._pace.take(one.message.tenant, rate, 1, now)
        self._paced = dict.fromkeys(one.id for one in heard)
        self.hasty &= self._paced.keys()

    def take(self, found: ReadRows, heard: Sequence[Heard[wire.Manifested]], now: int) -> None:
        super().take(found, heard, now)
        self._count(heard, now)
        self.pending = found.counters.get(decision.PENDING, {})
        self.clients = {}
        self.names = {}
        for (table, key), row in found.rows.items():
            if table == decision.CLIENTS:
                self.clients[key] = msgspec.json.decode(row.data, type=tuple[str, str])
            elif table == decision.NAMES:
                self.names[key] = msgspec.json.decode(row.data, type=str)

    def apply(self, step: Step) -> None:
        super().apply(step)
        for write in step.writes:
            if isinstance(write, Put) and write.table == decision.CLIENTS:
                self.clients[write.key] = write.value
            elif isinstance(write, Put) and write.table == decision.NAMES:
                self.names[write.key] = write.value
            elif isinstance(write, Add) and write.table == decision.PENDING:
                self.pending[write.key] = self.pending.get(write.key, 0) + write.amount

    def remembered(self) -> Iterable[Remembered]:
        yield from (Remembered(_PACE, tenant, until) for tenant, until in self._pace.used.items())
        yield from (Remembered(_PACED, name, name in self.hasty) for name in self._paced)

    def recall(self, table: str, key: str, rev: int, data: bytes) -> None:
        if table == _PACE:
            self._pace.used[key] = msgspec.json.decode(data, type=int)
        elif table == _PACED:
            self._paced[key] = None
            self.hasty |= {key} if msgspec.json.decode(data, type=bool) else set()


def service(catalog: Catalog, bus: Bus) -> Service[AdmissionMemory, wire.Manifested]:
    """`bus` is where the manifests of jobs that are there can be read again."""

    async def act(call: Call) -> Outcome:
        try:
            return Outcome(call, True, body=ReadManifest(call.body, await manifest_of(bus, call.body)))
        except Unreachable as error:
            return Outcome(call, False, text=str(error))

    consumer: Consumer[wire.Manifested] = Consumer(
        *flow.consumer(SERVICE), msgspec.json.Decoder(wire.Manifested), place_of
    )
    return Service(SERVICE, (consumer,), decide, lambda: AdmissionMemory(catalog), act=act)
