"""A simulated cluster with identities, and requests to it as one of them."""

import contextlib
import json
import ssl
from collections.abc import AsyncIterator
from typing import Any

import aiohttp

from fairway.lab.kubesim import KubeSim
from fairway.lab.kubesim.http.certificate import pair
from fairway.lab.kubesim.http.identities import MASTERS, Identity, Rule
from tests.support.kubesim import FixedClock, Json

OWN = Rule(("kubeflow.org",), ("pytorchjobs",), ("create", "get", "list", "watch", "delete"), ("team-a",))
SEES = Rule(("fairway.io",), ("queues",), ("list",))
FINDS = Rule(("",), ("configmaps",), ("get",), ("fairway-system",), ("fairway",))
ADMIN = Identity("token-of-admin", "admin", "1", (MASTERS,))
TENANT = Identity("token-of-team-a", "team-a", "2", ("tenants",), (OWN, SEES, FINDS))
ACCESS = "/apis/authorization.k8s.io/v1"
TOKENS = "/apis/authentication.k8s.io/v1"


@contextlib.asynccontextmanager
async def asking() -> AsyncIterator[tuple[KubeSim, str]]:
    sim = KubeSim(FixedClock())
    sim.admit("hub", (ADMIN, TENANT))
    url = await sim.start_cluster("hub", controllers=False)
    try:
        yield sim, url
    finally:
        await sim.stop()


async def send(url: str, token: str, method: str, path: str, **given: Any) -> tuple[int, Any]:
    headers = {**({"Authorization": token} if token else {}), **given.pop("headers", {})}
    trust = ssl.create_default_context(cadata=pair().certificate.decode())
    connector = aiohttp.TCPConnector(ssl=trust)
    async with (
        aiohttp.ClientSession(url, connector=connector) as client,
        client.request(method, path, headers=headers, **given) as answer,
    ):
        text = await answer.text()
        return answer.status, json.loads(text) if text.startswith("{") else text


async def review(url: str, path: str, spec: Json, token: str = "Bearer token-of-admin") -> tuple[int, Json]:
    return await send(url, token, "POST", path, json={"spec": spec})
