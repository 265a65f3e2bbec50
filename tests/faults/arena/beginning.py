"""What a fleet is told before jobs come, and what has to be known of it until then."""

from collections.abc import Sequence
from typing import Any

import msgspec

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.adapters.nats.bus import NatsBus
from fairway.lab.kubereal.members import HUB
from fairway.lab.traces.fleet import configured, record
from fairway.wire import fleet, subjects
from tests.faults.arena.arena import Arena

_report = msgspec.json.Decoder(fleet.Report).decode


async def configure(arena: Arena, bus: NatsBus, settings: Sequence[dict[str, Any]]) -> None:
    """In the record, and on the hub, whose service would withdraw what is not there."""
    await bus.publish([configured(one) for one in settings])
    hub = await KubernetesCluster.from_kubeconfig(HUB, arena.hub_kubeconfig)
    for one in settings:
        await hub.create(f"{one['kind']}.{one['apiVersion']}", one)
    await hub.close()


async def all_reported(bus: NatsBus, clusters: set[str]) -> None:
    """Every one of these clusters has been reported."""
    waiting = {*clusters}
    async for one in record(bus, subjects.CLUSTERS, "fairway.cluster.report.>"):
        waiting.discard(_report(one.data).cluster)
        if not waiting:
            return
