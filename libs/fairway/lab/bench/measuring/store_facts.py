"""What a store holds, so that it can be compared with what it held before."""

from collections.abc import AsyncIterator, Iterable, Mapping
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct

from fairway.domain import decision
from fairway.domain.events import name_key
from fairway.domain.job import Job
from fairway.domain.quota.charge import Share
from fairway.runtime.ports import Row, Store, Wanted
from fairway.wire.capacity import Node

_OF_JOBS = (decision.JOBS, decision.PLACED, decision.LIVE, decision.NAMES, decision.CLIENTS)
_PIECE = 500
_job = msgspec.json.Decoder(Job).decode
_node = msgspec.json.Decoder(Node).decode


class StoreFacts(Struct):
    """Rows by table and key, as digests; the use of quota by node and resource; by node what each attempt holds."""

    rows: dict[tuple[str, str], bytes]
    quota: dict[str, int]
    holds: dict[tuple[str, str], dict[str, dict[str, int]]]

    def differences(self, other: "StoreFacts") -> dict[str, int]:
        """How many rows of each table, uses of quota and nodes' holds are not the same in both."""
        tables = dict.fromkeys((*_OF_JOBS, "ledger"), 0)
        for table, _ in _unlike(self.rows, other.rows):
            tables[table.partition("/")[0]] += 1
        found = {f"{table}_differ": count for table, count in tables.items()}
        quota = len(_unlike(self.quota, other.quota))
        holds = len(_unlike(self.holds, other.holds))
        return found | {"quota_differ": quota, "holds_differ": holds}

    def forget(self, job: Job) -> None:
        """As if this job, which is in a cluster, had never come."""
        assert job.spec is not None, "it was admitted"
        work = job.spec.workload
        names = name_key(work.namespace, work.kind, work.name)
        keys = ((decision.NAMES, names), (decision.CLIENTS, job.spec.client), (decision.ledger(job.cluster), job.key))
        for row in (*((table, job.id) for table in (decision.JOBS, decision.PLACED, decision.LIVE)), *keys):
            self.rows.pop(row, None)
        for one in Share(job.path, job.charge).adds(-1):
            self.quota[one.key] = self.quota.get(one.key, 0) + one.amount
        for held in self.holds.values():
            held.pop(job.key, None)


def _unlike(mine: Mapping[Any, Any], other: Mapping[Any, Any]) -> list[Any]:
    return [key for key in mine.keys() | other.keys() if mine.get(key) != other.get(key)]


async def facts(store: Store, clusters: Iterable[str]) -> StoreFacts:
    """All that the store holds of jobs, quota and room."""
    await store.open()
    found = StoreFacts({}, {}, {})
    names = list(clusters)
    for table in (*_OF_JOBS, *map(decision.ledger, names)):
        async for key, row in _rows(store, table):
            found.rows[table, key] = blake2b(b"%d|%b" % (row.rev, row.data), digest_size=16).digest()
    for table in map(decision.nodes, names):
        async for key, row in _rows(store, table):
            found.holds[table, key] = dict(_node(row.data).holds)
    counters = (await store.read(Wanted(whole=(decision.QUOTA,)))).counters
    found.quota = dict(counters.get(decision.QUOTA, {}))
    return found


async def stored_job(store: Store, name: str) -> Job:
    return _job((await store.read(Wanted(rows={decision.JOBS: [name]}))).rows[decision.JOBS, name].data)


async def _rows(store: Store, table: str) -> AsyncIterator[tuple[str, Row]]:
    if table not in (decision.JOBS, decision.PLACED):
        for key, row in (await store.read(Wanted(whole=(table,)))).whole.get(table, {}).items():
            yield key, row
        return
    keys = await store.keys(decision.JOBS, "", _PIECE)
    while keys:
        found = await store.read(Wanted(rows={table: keys}))
        for (_, key), row in found.rows.items():
            yield key, row
        keys = await store.keys(decision.JOBS, keys[-1], _PIECE)
