"""Start operators in a member: their kinds first, then everything side by side, until all are ready."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from urllib.parse import urlsplit

import aiohttp

from fairway.lab.kubereal.admin import PlaneAdmin, admin
from fairway.lab.kubereal.build import Tools
from fairway.lab.kubereal.certificates import pair
from fairway.lab.kubereal.control_plane import Plane
from fairway.lab.kubereal.crds import define
from fairway.lab.kubereal.operators.appwrapper import appwrapper
from fairway.lab.kubereal.operators.argo import argo
from fairway.lab.kubereal.operators.jobset import jobset
from fairway.lab.kubereal.operators.koordinator import koordinator, koordinator_webhook
from fairway.lab.kubereal.operators.lws import lws
from fairway.lab.kubereal.operators.ray import ray
from fairway.lab.kubereal.operators.setup import Setup, Site
from fairway.lab.kubereal.operators.spark import spark, spark_webhook
from fairway.lab.kubereal.operators.trainer import trainer
from fairway.lab.kubereal.operators.training import jax, training, training_volcano
from fairway.lab.kubereal.operators.volcano import volcano

# By name. The kinds of `MODULE` and of `MODULE-VARIANT` are those of the module.
OPERATORS: Mapping[str, Callable[[Site], Setup]] = MappingProxyType(
    {
        "appwrapper": appwrapper,
        "argo": argo,
        "jax": jax,
        "jobset": jobset,
        "koordinator": koordinator,
        "koordinator-webhook": koordinator_webhook,
        "lws": lws,
        "ray": ray,
        "spark": spark,
        "spark-webhook": spark_webhook,
        "trainer": trainer,
        "training": training,
        "training-volcano": training_volcano,
        "volcano": volcano,
    }
)


async def start(plane: Plane, names: Iterable[str], tools: Tools) -> None:
    """`names` as in OPERATORS. Returns when every one of them is ready; NotUp says which is not."""
    names = tuple(names)
    site = Site(plane, pair())
    setups = [OPERATORS[name](site) for name in names]
    await define(plane, names, tools)
    async with admin(plane) as api:
        await api.apply(one for setup in setups for one in setup.objects)
        for setup in setups:
            for task in setup.tasks:
                plane.run(task())
        await asyncio.gather(*(_start(plane, api, setup) for setup in setups))


async def _start(plane: Plane, api: PlaneAdmin, setup: Setup) -> None:
    started = [(await plane.program(one.program, one.args, one.env, one.name), one.probe) for one in setup.processes]
    await asyncio.gather(*(program.until(partial(answers, probe)) for program, probe in started))
    for path in setup.present:

        async def there(path: str = path) -> bool:
            found = await api.get(path)
            return found is not None and found.get("items") != []

        await api.until(there, path)


async def answers(probe: str) -> bool:
    """Whether somebody listens there; and says 200, where that can be asked."""
    where = urlsplit(probe)
    try:
        if where.scheme == "tcp":
            _, writer = await asyncio.open_connection(where.hostname, where.port)
            writer.close()
        elif probe:
            async with aiohttp.ClientSession(trust_env=False) as session, session.get(probe) as answer:
                return answer.status == 200
    except (aiohttp.ClientError, OSError):
        return False
    return True
