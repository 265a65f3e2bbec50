"""Fills a cluster with objects by the thousand: into its etcd, before its API server is there, which reads JSON as well
as its own protobuf. Through the API server, two writes a pod take minutes of two cores for 20,000 pods."""

import asyncio
import base64
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import aiohttp
import msgspec

from fairway.lab.kubesim.api.field_managers import entry, fields
from fairway.lab.kubesim.api.metadata import rfc3339

Json = dict[str, Any]
# Below etcd's limits: 128 operations and 1.5 MiB a transaction.
_BATCH = 64
_AT_ONCE = 4
# The API server's own name of the folder for nodes.
_FOLDERS = {"Node": "minions", "Pod": "pods/default"}
_NOW = 1_767_225_600_000


async def fill(store: str, cluster: str, kind: str, manifests: Iterable[Json], tick: Callable[[], None]) -> None:
    """All of them; `store` is etcd's address, `cluster` the prefix of the API server's keys there. RuntimeError when
    etcd refuses."""
    source = iter(_puts(cluster, kind, manifests))

    async def some(session: aiohttp.ClientSession) -> None:
        while batch := list(islice(source, _BATCH)):
            async with session.post(f"{store}/v3/kv/txn", data=msgspec.json.encode({"success": batch})) as answer:
                if answer.status != 200:
                    raise RuntimeError(f"etcd does not take {kind}s: {(await answer.text())[:500]}")
            for _ in batch:
                tick()

    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*(some(session) for _ in range(_AT_ONCE)))


def _puts(cluster: str, kind: str, manifests: Iterable[Json]) -> Iterator[Json]:
    for number, manifest in enumerate(manifests):
        key = f"/{cluster}/{_FOLDERS[kind]}/{manifest['metadata']['name']}"
        value = msgspec.json.encode(_stored(kind, number, manifest))
        yield {
            "requestPut": {"key": base64.b64encode(key.encode()).decode(), "value": base64.b64encode(value).decode()}
        }


def _stored(kind: str, number: int, manifest: Json) -> Json:
    """With what the server adds to a new object: who it is, since when, and who owns which field."""
    manager = entry("kubelet", "v1", _NOW, fields(manifest))
    uid = f"00000000-0000-{'4000' if kind == 'Node' else '4001'}-8000-{number:012x}"
    more = {"uid": uid, "creationTimestamp": rfc3339(_NOW), "managedFields": [manager]}
    return {**manifest, "apiVersion": "v1", "kind": kind, "metadata": {**manifest["metadata"], **more}}
