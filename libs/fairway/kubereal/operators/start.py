"""Start operators in a member: their kinds first, then everything side by side, until all are ready."""

import asyncio
from collections.abc import Iterable

import aiohttp

from fairway.kubereal.admin import Admin, admin
from fairway.kubereal.build import Tools
from fairway.kubereal.certificates import pair
from fairway.kubereal.crds import define
from fairway.kubereal.operators.known import OPERATORS
from fairway.kubereal.operators.setup import Process, Setup, Site
from fairway.kubereal.plane import Plane


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


async def _start(plane: Plane, api: Admin, setup: Setup) -> None:
    await asyncio.gather(*(_started(plane, one) for one in setup.processes))
    for path in setup.present:

        async def there(path: str = path) -> bool:
            return await api.get(path) is not None

        await api.until(there, path)


async def _started(plane: Plane, process: Process) -> None:
    program = await plane.program(process.program, process.args, process.env)

    async def answers() -> bool:
        if not process.probe:
            return True
        try:
            async with aiohttp.ClientSession(trust_env=False) as session, session.get(process.probe) as answer:
                return answer.status == 200
        except (aiohttp.ClientError, OSError):
            return False

    await program.until(answers)
