"""The hub is away while its jobs run, and while others are applied to it."""

import ssl
from pathlib import Path

import httpx
import pytest

from fairway.lab.kubereal.members import HUB
from fairway.lab.traces.trace import GPU
from tests.faults.arena.scene import FOUR, Scene, Setup, under_load

OPEN = Setup(groups=(("gateway",), ("hub",), *FOUR))
JOBS = "apis/batch/v1/namespaces/vc-0/jobs"


class Hub:
    """Its people, who reach it whatever stands between it and Fairway."""

    def __init__(self, scene: Scene) -> None:
        hub = scene.arena.kube.clusters[HUB]
        trust = ssl.create_default_context(cadata=hub.certificate.decode())
        known = {"Authorization": f"Bearer {scene.arena.token}"}
        self._client = httpx.AsyncClient(base_url=hub.url, verify=trust, headers=known)

    async def apply(self, first: int, last: int) -> None:
        for number in range(first, last):
            main = {"name": "main", "image": "x", "resources": {"limits": {GPU: "1"}}}
            pod = {"restartPolicy": "Never", "containers": [main]}
            meta = {"name": f"hub-{number}", "namespace": "vc-0"}
            spec = {"template": {"metadata": {"annotations": {"fairway.test/run-for": "2s"}}, "spec": pod}}
            job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}
            (await self._client.post(JOBS, json=job)).raise_for_status()

    async def succeeded(self) -> int:
        items = (await self._client.get(JOBS)).json()["items"]
        return sum((one.get("status") or {}).get("succeeded", 0) for one in items)

    async def close(self) -> None:
        await self._client.aclose()


@pytest.mark.slow
async def test_a_hub_that_is_away_for_a_while_shows_every_end_when_it_is_back(tmp_path: Path) -> None:
    async def cut(scene: Scene) -> None:
        hub = Hub(scene)
        (link,) = scene.arena.to(HUB)
        try:
            await hub.apply(0, 6)
            await scene.until(lambda: shown(hub, 1), "the first has ended")
            await hub.apply(6, 9)
            link.cut()
            await hub.apply(9, 12)
            await scene.flows(24)
            link.mend()
            await scene.until(lambda: shown(hub, 12), "the hub shows all ends")
        finally:
            await hub.close()

    assert (await under_load(tmp_path, cut, OPEN)).wrong == ()


async def shown(hub: Hub, count: int) -> bool:
    return await hub.succeeded() >= count
