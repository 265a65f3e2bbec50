"""gateway, beside its HTTP door: the hub's intake and its narrator, until cancelled."""

import asyncio

from fairway.domain.tenancy.profile import SYSTEM_NAMESPACES, SystemNamespaces
from fairway.gateway.hub.intake import Intake
from fairway.gateway.hub.job_updates import JobUpdates
from fairway.gateway.hub.pending_updates import PendingUpdates
from fairway.gateway.published_address import put_up
from fairway.gateway.submission_limiter import Limiter
from fairway.runtime.cluster_port import Cluster
from fairway.runtime.ports import World
from fairway.runtime.vital_tasks import vital


async def run_gateway(
    world: World,
    hub: Cluster | None,
    url: str = "",
    limiter: Limiter | None = None,
    namespaces: SystemNamespaces = SYSTEM_NAMESPACES,
) -> None:
    """Without a hub there is nothing to do but to be there. `url` is where others reach the gateway. Without a
    `limiter` nobody is limited."""
    if hub is None:
        await asyncio.Event().wait()
        return
    updates = PendingUpdates()
    intake = Intake(world, hub, updates, limiter or Limiter(world, dict), namespaces)
    async with asyncio.TaskGroup() as group:
        if url:
            group.create_task(vital("gateway: put_up", put_up(hub, world.clock, url)))
        group.create_task(vital("gateway: intake.run", intake.run()))
        group.create_task(vital("gateway: narrator", JobUpdates(world, hub, intake, updates).run()))
