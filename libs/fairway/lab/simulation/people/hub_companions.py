"""What jobs of the hub name: every tenant has a ConfigMap and a Secret there, and changes them now and then."""

from random import Random
from typing import Any

from fairway.lab.canary import Canary
from fairway.lab.simulation.hub.cluster import SimulatedHub
from fairway.lab.simulation.people.users import TENANTS
from fairway.workloads.companions.named import CONFIG_MAP, SECRET

Json = dict[str, Any]
# Stands in every Secret, and may stand nowhere but in clusters.
CANARY = Canary("canary of a simulated fleet, 4b1d")
NAMES = {CONFIG_MAP: "settings", SECRET: "db"}
REFS = {CONFIG_MAP: "configMapRef", SECRET: "secretRef"}


class HubCompanions:
    """What they do is drawn from a chance of its own."""

    def __init__(self, hub: SimulatedHub, seed: int) -> None:
        self._hub = hub
        self._rng = Random(f"companions {seed}")
        for tenant in TENANTS:
            for kind in NAMES:
                self._put(kind, tenant)

    def _put(self, kind: str, tenant: str) -> None:
        data = {"version": str(self._rng.randrange(10**9)), "canary": CANARY.data if kind == SECRET else "none"}
        self._hub.put(kind, {"metadata": {"name": NAMES[kind], "namespace": tenant}, "data": data})

    async def change(self) -> None:
        """Another content, or it is taken away and made anew, perhaps so that it cannot change."""
        kind = self._rng.choice(sorted(NAMES))
        tenant = self._rng.choice(TENANTS)
        found = self._hub.stored(kind, tenant, NAMES[kind])
        if found is None:
            return
        version = str(self._rng.randrange(10**9))
        fixed = bool(found.obj.get("immutable"))
        if fixed or self._rng.random() < 0.3:
            self._hub.remove(found)
            immutable = {"immutable": True} if self._rng.random() < 0.5 else {}
            meta = {"name": NAMES[kind], "namespace": tenant}
            self._hub.put(kind, {"metadata": meta, "data": {**found.obj["data"], "version": version}, **immutable})
        else:
            self._hub.edit(kind, found, lambda now: {**now, "data": {**now["data"], "version": version}})

    def named(self, manifest: Json) -> Json:
        """The same job, whose pods name one of them, or both, or none."""
        kinds = [kind for kind in sorted(NAMES) if self._rng.random() < 0.5]
        sources = [{REFS[kind]: {"name": NAMES[kind]}} for kind in kinds]
        for template in templates(manifest) if sources else ():
            template["spec"]["containers"][0]["envFrom"] = sources
        return manifest


def templates(manifest: Json) -> list[Json]:
    """Of the pods of a Job or a PyTorchJob; no workflow here names any."""
    spec = manifest["spec"]
    if "template" in spec:
        return [spec["template"]]
    return [role["template"] for role in (spec.get("pytorchReplicaSpecs") or {}).values()]
