"""Of Koordinator only what Reservations need: its scheduler, and a Reservation of somebody else's."""

import json

from fairway.lab.kubereal.admin import admin
from fairway.lab.kubereal.build import Tools
from fairway.lab.kubereal.control_plane import Plane
from fairway.lab.kubereal.crds import define
from fairway.lab.kubereal.operators.koordinator import scheduler_config
from fairway.lab.kubereal.operators.setup import namespace


async def only_its_scheduler(plane: Plane, built: Tools) -> None:
    """Reservations need nothing else of Koordinator."""
    await define(plane, ("koordinator",), built)
    async with admin(plane) as api:
        await api.apply((namespace("koordinator-system"),))
    config = plane.dir / "koord-scheduler.json"
    config.write_text(json.dumps(scheduler_config(str(plane.kubeconfig))))
    keys = [f"--{what}-kubeconfig={plane.kubeconfig}" for what in ("authentication", "authorization")]
    # Off in 1.6 if nothing is said: then it refuses every pod with a sidecar.
    flags = (
        "--authentication-skip-lookup=true",
        "--feature-gates=SidecarContainers=true",
        "--secure-port=0",
        "--port=0",
    )
    await plane.program("koord-scheduler", [f"--config={config}", *keys, *flags])


def foreign(manifest: dict[str, object] | None, name: str, node: str) -> dict[str, object]:
    """Somebody else's Reservation of the same size, on another node."""
    assert manifest is not None
    copy = json.loads(json.dumps({"spec": manifest["spec"]}))
    template = copy["spec"]["template"]
    template["metadata"] = {}
    terms = template["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    terms["nodeSelectorTerms"] = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
    return {"metadata": {"name": name, "labels": {"who": "else"}}, **copy}
