"""The kinds of operators, and Fairway's own, installed in a cluster."""

from collections.abc import Iterable
from pathlib import Path

from fairway.kubereal.admin import Admin, Json, admin
from fairway.kubereal.build import Tools
from fairway.kubereal.plane import Plane
from fairway.kubereal.slim import definitions, slimmed
from fairway.workloads.registry import KINDS

# Fairway's own kinds (policies, queues, quotas), in a checkout.
_OWN = Path(__file__).parents[3] / "deploy" / "crds"


async def define(plane: Plane, operators: Iterable[str], tools: Tools, *, hub: bool = False) -> None:
    """Installs the kinds of these operators, and waits until the API serves them.

    The kinds of an operator `training-volcano` are those of the module `training`. A hub gets the kinds of jobs alone,
    and Fairway's own.
    """
    modules = sorted({name.partition("-")[0] for name in operators})
    found = [slimmed(path) for module in modules for path in tools.crds(module)]
    if hub:
        found = [crd for crd in found if _is_job(crd)]
        found += [crd for path in sorted(_OWN.glob("*.yaml")) for crd in definitions(path)]
    if found:
        async with admin(plane) as api:
            await install(api, found)


async def install(api: Admin, crds: list[Json]) -> None:
    """Returns when the API serves every one of them. It is asked for its kinds: a list of the definitions themselves
    is half a megabyte."""
    await api.apply(crds)
    for crd in crds:
        spec = crd["spec"]
        for version in spec["versions"]:
            if version["served"]:
                await api.served(spec["names"]["kind"], f"{spec['group']}/{version['name']}")


def _is_job(crd: Json) -> bool:
    spec = crd["spec"]
    return any(f"{spec['names']['kind']}.{spec['group']}/{one['name']}" in KINDS for one in spec["versions"])
