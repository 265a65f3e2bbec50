"""Of Koordinator only what a test needs: its scheduler, a Reservation of somebody else's, the webhook of pods, or what
nodes really use, from which its manager makes batch resources."""

import json
from functools import partial

from fairway.lab.kubereal.admin import admin
from fairway.lab.kubereal.build import Tools
from fairway.lab.kubereal.certificates import pair
from fairway.lab.kubereal.control_plane import Plane
from fairway.lab.kubereal.crds import define
from fairway.lab.kubereal.operators.koordinator import scheduler_config
from fairway.lab.kubereal.operators.pod_webhook import pod_webhook
from fairway.lab.kubereal.operators.setup import Site, namespace
from fairway.lab.kubereal.operators.start import answers
from fairway.lab.kubereal.stand_ins.node_metrics import NODE_USES
from tests.kubernetes.support.fleet import Api


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


async def only_its_webhook(plane: Plane, built: Tools) -> None:
    """Pods are converted by profiles as Koordinator does it, and refused where it refuses them."""
    await define(plane, ("koordinator",), built)
    webhook = pod_webhook(Site(plane, pair()))
    async with admin(plane) as api:
        await api.apply((namespace("koordinator-system"), *webhook.objects))
    env = {"POD_NAMESPACE": "koordinator-system", "POD_NAME": "koord-manager-0", **webhook.env}
    args = ("--enable-leader-election=false", "--metrics-addr=0", "--enable-pprof=false", *webhook.flags)
    manager = await plane.program("koord-manager", [f"--kubeconfig={plane.kubeconfig}", *args], env)
    await manager.until(partial(answers, webhook.probe))


def foreign(manifest: dict[str, object] | None, name: str, node: str) -> dict[str, object]:
    """Somebody else's Reservation of the same size, on another node."""
    assert manifest is not None
    copy = json.loads(json.dumps({"spec": manifest["spec"]}))
    template = copy["spec"]["template"]
    template["metadata"] = {}
    terms = template["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    terms["nodeSelectorTerms"] = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
    return {"metadata": {"name": name, "labels": {"who": "else"}}, **copy}


def set_use(api: Api, node: str, cpu: str, memory: str) -> None:
    """What this node uses from now on beside its pods, in a member with koord-manager. Its batch resources follow in a
    few seconds; in half a minute where they change by less than a hundredth."""
    api.patch(
        f"v1/nodes/{node}", {"metadata": {"annotations": {NODE_USES: json.dumps({"cpu": cpu, "memory": memory})}}}
    )
