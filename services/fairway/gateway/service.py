"""gateway, beside its HTTP door, until cancelled."""

import asyncio

from fairway.gateway.published_address import put_up
from fairway.runtime.cluster_port import Cluster
from fairway.runtime.ports import Clock
from fairway.runtime.vital_tasks import vital


async def run_gateway(hub: Cluster | None, clock: Clock, url: str = "") -> None:
    """Without a hub there is nothing to do but to be there. `url` is where others reach the gateway."""
    if hub is not None and url:
        await vital("gateway: put_up", put_up(hub, clock, url))
    await asyncio.Event().wait()
