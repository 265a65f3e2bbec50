"""What is written on the hub for a schedule: its run, unless the hub's own controller has made it, and its status."""

import structlog

from fairway.hub.calls import NOT_TAKEN, THERE, Json, RunWrite
from fairway.runtime.cluster_port import Cluster, ClusterRefused

log = structlog.get_logger()


async def write_run(hub: Cluster, body: RunWrite) -> tuple[str, str]:
    """The code and the sentence of what the hub did not take: both empty when the run was made. Raises what the hub
    raises."""
    place = body.place
    for name in body.drop:
        await hub.drop(body.run, place.namespace, name)
    code = why = ""
    if body.manifest is not None:
        code, why = await _create(hub, body, body.manifest)
    if body.status and code != NOT_TAKEN:
        try:
            await hub.patch(place.kind, place.namespace, place.name, {"status": body.status}, body.part)
        except ClusterRefused as error:  # the run is what counts
            log.info("status of a schedule not taken", kind=place.kind, name=place.name, cause=str(error))
    return code, why


async def _create(hub: Cluster, body: RunWrite, manifest: Json) -> tuple[str, str]:
    try:
        await hub.create(body.run, manifest)
    except ClusterRefused as error:
        if error.code != "AlreadyExists":
            raise
        meta = manifest["metadata"]
        found = await hub.get(body.run, meta["namespace"], meta["name"])
        owners = ((found or {}).get("metadata") or {}).get("ownerReferences") or []
        if any(owner.get("uid") == body.place.uid for owner in owners):
            return THERE, "its controller has made it"
        return NOT_TAKEN, f"{meta['name']} is there already, and not this schedule's"
    return "", ""
