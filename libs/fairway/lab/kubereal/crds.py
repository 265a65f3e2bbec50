"""The kinds of operators, and Fairway's own, installed in a cluster."""

from collections.abc import Iterable

from fairway.lab.kubereal.admin import Json, PlaneAdmin, admin
from fairway.lab.kubereal.build import Tools
from fairway.lab.kubereal.control_plane import Plane
from fairway.lab.kubereal.sources.slim_definitions import slimmed
from fairway.workloads.crds import definitions
from fairway.workloads.hub.objects import WATCHED
from fairway.workloads.kinds.registry import KINDS, referred_kinds
from fairway.workloads.schedules.registry import SCHEDULES


async def define(plane: Plane, operators: Iterable[str], tools: Tools, *, hub: bool = False) -> None:
    """Installs the kinds of these operators, and waits until the API serves them.

    The kinds of an operator `training-volcano` are those of the module `training`. A hub gets the kinds of jobs, what
    these refer to, their schedules, the settings of operators that count there, and Fairway's own.
    """
    modules = sorted({name.partition("-")[0] for name in operators})
    found = [slimmed(path) for module in modules for path in tools.crds(module)]
    if hub:
        found = [crd for crd in found if _is_of_hub(crd)]
        found += definitions().values()
    if found:
        async with admin(plane) as api:
            await install(api, found)


async def install(api: PlaneAdmin, crds: list[Json]) -> None:
    """Returns when the API serves every one of them. It is asked for its kinds: a list of the definitions themselves
    is half a megabyte."""
    await api.apply(crds)
    for crd in crds:
        spec = crd["spec"]
        for version in spec["versions"]:
            if version["served"]:
                await api.served(spec["names"]["kind"], f"{spec['group']}/{version['name']}")


def _is_of_hub(crd: Json) -> bool:
    spec = crd["spec"]
    keys = {f"{spec['names']['kind']}.{spec['group']}/{one['name']}" for one in spec["versions"]}
    return not keys.isdisjoint((*KINDS, *referred_kinds(), *SCHEDULES, *WATCHED))
