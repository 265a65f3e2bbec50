"""What is known of member clusters: their room by index, and the ledger of reservations beside it."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import msgspec

from fairway.domain import decision
from fairway.domain.decision import Heard, Put, Step
from fairway.domain.job import Job, State
from fairway.domain.preemption.claim import is_claims
from fairway.domain.reservations import Hold
from fairway.placement.cluster import ClusterView
from fairway.placement.fleet import Fleet
from fairway.runtime.ports import ReadRows, Row, Wanted
from fairway.runtime.service import Remembered
from fairway.runtime.views import row_cache
from fairway.runtime.views.compiled_placement import prepare
from fairway.runtime.views.jobs import JobsMemory, requests_of
from fairway.wire.capacity import ClusterInfo, Node

_info = msgspec.json.Decoder(ClusterInfo).decode
_FOLLOWED = ("nodes", "ledger", decision.CLUSTERS)
# What is remembered beside the rows.
ASSUMED = "assumed"
_DOUBTFUL = "doubtful"


# A placement that no reserver has taken up after this long is not coming; its room is counted as free again.
ASSUMED_MS = 10_000


# Of the placements that take long, the oldest are looked up, so many with each batch.
_DOUBTED = 64


# By then the reserver has usually answered. What it sent back, no change of the cache tells: the job is looked at.
_TAKEN_UP_MS = 100


class FleetMemory(JobsMemory[object]):
    """Jobs, and every cluster as the store has it, followed by change; the `assumed` placements are laid over it: those
    in flight, by key, the oldest first. Of the `ledger`, `claims` are what is kept for claims."""

    follow: tuple[str, ...] = ("",)
    gone: tuple[str, ...] = ()

    def __init__(self) -> None:
        super().__init__()
        prepare()
        self.clusters = Fleet()
        self.ledger: dict[str, dict[str, Hold]] = {}
        self.claims: dict[str, dict[str, Hold]] = {}
        self.row_revs: dict[tuple[str, str], int] = {}
        self.version = 0
        self.freed: Mapping[str, int] = {}
        self.assumed: dict[str, Job] = {}
        self._doubtful: dict[tuple[str, str], None] = {}

    def begin(self) -> None:
        super().begin()
        self.clusters.clear()
        self.ledger.clear()
        self.claims.clear()
        self.row_revs.clear()
        self.version = 0
        self.assumed.clear()
        self._doubtful.clear()

    def wants(self, heard: Sequence[Heard[object]], now: int) -> Wanted:
        wanted = super().wants(heard, now)
        wanted.since = self.version
        wanted.follow = self.follow
        wanted.gone = self.gone
        wanted.whole = (decision.FREED,)
        for table, key in self._doubtful:
            wanted.add(table, key)
        doubted = islice(self.assumed.items(), _DOUBTED)
        names = [job.id for _, job in doubted if job.at <= now - _TAKEN_UP_MS]
        if names:
            wanted.rows[decision.JOBS] = list(dict.fromkeys((*wanted.rows.get(decision.JOBS, ()), *names)))
        return wanted

    def take(self, found: ReadRows, heard: Sequence[Heard[object]], now: int) -> None:
        super().take(found, heard, now)
        self._release_taken_up()
        self.freed = found.counters.get(decision.FREED, {})
        self.version = found.version
        for table, key in self._doubtful:
            self._set_row(table, key, found.rows.get((table, key)))
        self._doubtful = {}
        for table, key, row in found.changes:
            self._set_row(table, key, row)
        self._forget_old(now)

    def _set_row(self, table: str, key: str, row: Row | None) -> None:
        kind, _, cluster = table.partition("/")
        if row is None:
            self.row_revs.pop((table, key), None)
        else:
            self.row_revs[table, key] = row.rev
        if kind == "nodes":
            self.set_node(cluster, key, row_cache.NODES.value(table, key, row.data) if row else None)
        elif kind == "ledger":
            self._set_hold(cluster, key, row_cache.HOLDS.value(table, key, row.data) if row else None)
        elif kind == decision.CLUSTERS:
            self._set_info(key, _info(row.data) if row else None)

    def cluster(self, name: str) -> ClusterView:
        """The index of a cluster; one that has not reported yet is known by name only."""
        if name not in self.clusters:
            self.clusters[name] = ClusterView(ClusterInfo(name=name))
        return self.clusters[name]

    def set_node(self, cluster: str, name: str, node: Node | None) -> None:
        if node is None and cluster not in self.clusters:
            return  # the cluster has left
        view = self.cluster(cluster)
        if node is not None and view.by_name.get(name) is node:
            return  # what was written here comes back with the changes
        if node is not None:
            view.put(node)
            for key in self.assumed.keys() & node.holds.keys():
                self._release(key)  # reserved: the row counts it from now on, here or where another scheduler chose
        elif name in view.by_name:
            view.remove(name)

    def _set_hold(self, cluster: str, key: str, hold: Hold | None) -> None:
        """A hold that came, or came and went between two looks: either way the placement is no longer in flight."""
        self._release(key)
        self._lay(self.ledger, cluster, key, hold)
        if is_claims(key):
            self._lay(self.claims, cluster, key, hold)

    @staticmethod
    def _lay(ledger: dict[str, dict[str, Hold]], cluster: str, key: str, hold: Hold | None) -> None:
        holds = ledger.setdefault(cluster, {})
        if hold is None:
            holds.pop(key, None)
        else:
            holds[key] = hold

    def _set_info(self, name: str, info: ClusterInfo | None) -> None:
        if info is None:
            self.clusters.pop(name, None)
            self.assumed = {key: job for key, job in self.assumed.items() if job.cluster != name}
        else:
            self.cluster(name).info = info

    def apply(self, step: Step) -> None:
        super().apply(step)
        for write in step.writes:
            if isinstance(write, Put):
                self._apply_put(write)

    def _apply_put(self, write: Put) -> None:
        kind, _, cluster = write.table.partition("/")
        if write.table == decision.JOBS:
            self._assume(write.value)
            return
        if kind not in _FOLLOWED:
            return
        if kind == "nodes":
            self.set_node(cluster, write.key, write.value)
        elif kind == "ledger":
            self._set_hold(cluster, write.key, write.value)
        else:
            self._set_info(write.key, write.value)
        if write.value is None:
            self.row_revs.pop((write.table, write.key), None)
        else:
            self.row_revs[write.table, write.key] = write.rev

    def refused(self, step: Step) -> None:
        for write in step.writes:
            if isinstance(write, Put) and write.table.partition("/")[0] in _FOLLOWED:
                self._doubtful[write.table, write.key] = None
            elif isinstance(write, Put) and write.table == decision.JOBS:
                self._release(write.value.key)

    def remembered(self) -> Iterable[Remembered]:
        yield from super().remembered()
        for name, view in self.clusters.items():
            yield Remembered(decision.CLUSTERS, name, view.info, self.row_revs.get((decision.CLUSTERS, name), 0))
            table = decision.nodes(name)
            for node in view.by_name.values():
                yield Remembered(table, node.name, node, self.row_revs.get((table, node.name), 0))
        for name, holds in self.ledger.items():
            table = decision.ledger(name)
            for key, hold in holds.items():
                yield Remembered(table, key, hold, self.row_revs.get((table, key), 0))
        yield from (Remembered(ASSUMED, job.id, job, job.rev) for job in self.assumed.values())
        yield from (Remembered(_DOUBTFUL, key, table) for table, key in self._doubtful)

    def recall(self, table: str, key: str, rev: int, data: bytes) -> None:
        if table == ASSUMED:
            self._assume(row_cache.JOBS.value(decision.JOBS, key, data))
        elif table == _DOUBTFUL:
            self._doubtful[msgspec.json.decode(data, type=str), key] = None
        elif table.partition("/")[0] in _FOLLOWED:
            self._set_row(table, key, Row(rev, data))
            if not rev:  # known by name only, or seen in no store
                del self.row_revs[table, key]
        else:
            super().recall(table, key, rev, data)

    def _assume(self, job: Job) -> None:
        """A job just placed takes its room at once for whoever is decided next; one that went back does not."""
        self._release(job.key)
        if job.state is State.PLACED and job.spec is not None:
            self.cluster(job.cluster).hold(job.key, job.slots, requests_of(job))
            self.assumed[job.key] = job

    def _release(self, key: str) -> None:
        job = self.assumed.pop(key, None)
        if job is not None and job.cluster in self.clusters:
            self.clusters[job.cluster].drop(key)

    def _release_taken_up(self) -> None:
        """Drops the placements of jobs that are past them: reserved, sent back, or at another attempt by now."""
        for key, placed in list(self.assumed.items()):
            job = self.jobs.get(placed.id)
            if job is not None and (job.state is not State.PLACED or job.key != key):
                self._release(key)

    def _forget_old(self, now: int) -> None:
        """Drops placements that were never taken up."""
        while self.assumed:
            key, job = next(iter(self.assumed.items()))
            if job.at + ASSUMED_MS > now:
                return
            self._release(key)
