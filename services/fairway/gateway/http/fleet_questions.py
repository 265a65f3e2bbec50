"""Questions about queues, quota and clusters."""

from typing import Protocol

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from fairway.domain import decision
from fairway.domain.queue_policy import QueueSpec
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.tenancy.profile import Tenancy
from fairway.domain.tenancy.submission_limits import Limits
from fairway.gateway.callers.access import access_of
from fairway.gateway.callers.redaction import Redaction
from fairway.gateway.http.answers import (
    ClusterRow,
    QueueRow,
    cluster_row,
    queue_rows,
)
from fairway.gateway.http.problem import answer
from fairway.gateway.quota_rows import QuotaRow, live_fleet, quota_rows
from fairway.gateway.reader import Reader
from fairway.runtime.ports import Wanted, World
from fairway.runtime.views.membership import Membership
from fairway.wire.capacity import ClusterInfo, Node
from fairway.workloads.settings.policy_index import PoliciesInForce

# Counting every live job costs about 10 µs each; several askers in one second share one count.
_FRESH_MS = 1_000
_info = msgspec.json.Decoder(ClusterInfo).decode
_node = msgspec.json.Decoder(Node).decode


class Configuration(Protocol):
    """What the hub has set, as far as it is shown; runtime.views.settings.Catalog is one."""

    tree: QuotaNode | None
    limits: dict[str, Limits]
    queues: dict[str, QueueSpec]
    members: Membership
    policies: PoliciesInForce

    def tenancy(self, namespace: str) -> Tenancy: ...


class QueueList(Struct, frozen=True):
    items: tuple[QueueRow, ...]


class QuotaList(Struct, frozen=True):
    items: tuple[QuotaRow, ...]


class ClusterList(Struct, frozen=True):
    """`frozen`: why no job is given up now, though clusters are silent; empty while that is not so."""

    items: tuple[ClusterRow, ...]
    frozen: str = ""


class FleetQuestions:
    def __init__(self, world: World, configuration: Configuration) -> None:
        self._world = world
        self._set = configuration
        self._rows = Reader(world.store)
        self._counted: tuple[int, QueueList] | None = None

    async def queues(self, request: Request) -> Response:
        now = self._world.clock.now()
        if self._counted is None or now - self._counted[0] >= _FRESH_MS:
            jobs = [job async for job in self._rows.live()]
            self._counted = (now, QueueList(tuple(queue_rows(jobs, self._set.queues))))
        counted = self._counted[1]
        words = await Redaction(self._rows, access_of(request)).words([row.first for row in counted.items if row.first])
        if not words:
            return answer(counted)
        rows = (msgspec.structs.replace(row, first=words.get(row.first, row.first)) for row in counted.items)
        return answer(QueueList(tuple(rows)))

    async def quota(self, request: Request) -> Response:
        found = await self._rows.read(Wanted(whole=(decision.QUOTA,)))
        usage = found.counters.get(decision.QUOTA, {})
        fleet = live_fleet(await self._clusters()) if self._set.tree is not None else None
        return answer(QuotaList(tuple(quota_rows(self._set.tree, usage, fleet))))

    async def clusters(self, request: Request) -> Response:
        frozen = await self._rows.frozen()
        rows = await self._clusters()
        if frozen is not None:
            rows = [msgspec.structs.replace(row, frozen=True) for row in rows]
        return answer(ClusterList(tuple(rows), frozen.why.text if frozen else ""))

    async def _clusters(self) -> list[ClusterRow]:
        """Those that reported, and those that the fleet was told of and that have not."""
        found = await self._rows.read(Wanted(whole=(decision.CLUSTERS,)))
        known = {name: _info(row.data) for name, row in found.whole.get(decision.CLUSTERS, {}).items()}
        for name, labels in self._set.members.clusters.items():
            known.setdefault(name, ClusterInfo(name, labels=labels))
        now = self._world.clock.now()
        return [cluster_row(known[name], await self._nodes(name), now) for name in sorted(known)]

    async def _nodes(self, cluster: str) -> list[Node]:
        table = decision.nodes(cluster)
        found = await self._rows.read(Wanted(whole=(table,)))
        return [_node(row.data) for row in found.whole.get(table, {}).values()]
