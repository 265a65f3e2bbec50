"""Where the fleet is, written on its hub: who has the hub's kubeconfig finds the gateway by it."""

import structlog

from fairway.domain.tenancy.profile import HOME
from fairway.runtime.cluster_port import Cluster, ClusterRefused
from fairway.runtime.ports import Clock
from fairway.runtime.retry import until_reached

log = structlog.get_logger()
NAMESPACE = HOME
NAME = "fairway"
URL = "url"
_CONFIG = "ConfigMap.v1"
_AGAIN_S = 5.0


async def put_up(hub: Cluster, clock: Clock, url: str) -> None:
    """Writes the ConfigMap `fairway` of `fairway-system`, with its namespace; tries until the hub has answered."""
    try:
        await until_reached("gateway", clock, lambda: _write(hub, url), _AGAIN_S)
    except ClusterRefused as error:
        remedy = f"allow create and patch of ConfigMap {NAME} in {NAMESPACE}; until then use --url"
        log.warning("kubectl fairway will not find this gateway", cause=str(error), remedy=remedy)


async def _write(hub: Cluster, url: str) -> None:
    if await hub.patch(_CONFIG, NAMESPACE, NAME, {"data": {URL: url}}) is not None:
        return
    plate = {"metadata": {"name": NAME, "namespace": NAMESPACE}, "data": {URL: url}}
    try:
        await hub.create(_CONFIG, plate)
    except ClusterRefused as error:
        if error.code != "NotFound":
            raise
        await hub.create("Namespace.v1", {"metadata": {"name": NAMESPACE}})
        await hub.create(_CONFIG, plate)
