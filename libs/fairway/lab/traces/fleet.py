"""What a replay says to its fleet before it begins, what it knows of it, and how it follows its streams."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
import nats.errors
from msgspec import Raw

from fairway.adapters.nats.bus import NatsBus
from fairway.domain.resources import Resources
from fairway.lab.kubesim.__main__ import ClusterConfig
from fairway.lab.kubesim.fit import amounts
from fairway.lab.traces.trace import TraceJob, manifest
from fairway.runtime.ports import Delivery, Outgoing, Unreachable
from fairway.wire import fleet as said
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.envelope import Actor

# A silent stream is opened anew after this long: its reader does not survive its server.
_SILENCE_S = 3.0
# A replay plays the door of a fleet of its own.
REPLAY = Actor("replay", "replay")
_encode = msgspec.json.Encoder().encode


async def record(bus: NatsBus, stream: str, *only: str) -> AsyncIterator[Delivery]:
    """A stream from its beginning and then as it grows, for ever; over restarts of the server too."""
    after = 0
    while True:
        history = bus.history(stream, only, start=after + 1, live=True)
        try:
            while True:
                async with asyncio.timeout(_SILENCE_S):
                    delivery = await anext(history)
                if delivery.subject:
                    after = delivery.sequence
                    yield delivery
        except (TimeoutError, Unreachable, OSError, nats.errors.Error):
            await asyncio.sleep(0.1)
        finally:
            await history.aclose()


def allocatable(clusters: Sequence[ClusterConfig]) -> dict[str, dict[str, Resources]]:
    """What each node of each cluster can take, in base units."""
    return {
        cluster.name: {
            node["metadata"]["name"]: amounts(node["status"]["allocatable"])
            for group in cluster.nodes
            for node in group.nodes()
        }
        for cluster in clusters
    }


def configured(one: dict[str, Any]) -> Outgoing:
    meta = one["metadata"]
    message = said.Configured(
        kind=one["kind"], namespace=meta["namespace"], name=meta["name"], manifest=Raw(_encode(one)), who=REPLAY
    )
    name = f"replay.{one['kind']}.{meta['namespace']}.{meta['name']}"
    return Outgoing(name, subjects.config(one["kind"], meta["namespace"], meta["name"]), _encode(message))


def submission(name: str, job: TraceJob, at: int, speedup: float) -> Outgoing:
    """The job of a row as it comes to the door `at` this time, to run so many times faster than its trace says."""
    raw = Raw(_encode(manifest(job, max(1, round(job.seconds * 1000 / speedup)))))
    message = wire.Submitted(tenant=job.tenant, at=at, manifest=raw, client=job.name, source=REPLAY.via, who=REPLAY)
    return Outgoing(name, subjects.job(message.verb, job.tenant), _encode(message), "fairway.job.submitted", "/replay")
