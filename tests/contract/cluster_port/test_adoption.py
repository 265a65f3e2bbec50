"""What is there already under the name of an attempt is taken for ours only if we made it for this attempt."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from fairway.domain.tenancy.member_namespace import made
from fairway.domain.tenancy.profile import BASELINE
from fairway.runtime.cluster_port import Cluster, ClusterRefused
from fairway.workloads.seal import SEAL
from tests.support import cluster_ports as houses
from tests.support.memory.clock import ManualClock
from tests.support.memory.cluster import MemoryCluster
from tests.support.simulated import JOB, job, simulated

SEALED = {"annotations": {SEAL: "v1 j1/1 00 aa"}}


def wanted(**annotations: str) -> dict[str, Any]:
    manifest = job("team-a")
    notes = annotations or SEALED["annotations"]
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": notes}}


@asynccontextmanager
async def in_memory() -> AsyncIterator[tuple[Cluster, Any]]:
    cluster = MemoryCluster("m1", ManualClock(), (JOB,))

    async def put(manifest: dict[str, Any], manager: str) -> None:
        made = [{"manager": manager, "fieldsV1": {}}]
        await cluster.create(JOB, {**manifest, "metadata": {**manifest["metadata"], "managedFields": made}})

    yield cluster, put
    await cluster.close()


@asynccontextmanager
async def over_http() -> AsyncIterator[tuple[Cluster, Any]]:
    async with simulated() as (cluster, behind), httpx.AsyncClient(base_url=behind.url) as client:

        async def put(manifest: dict[str, Any], manager: str) -> None:
            labels = made("team-a", BASELINE)
            await client.post("/api/v1/namespaces", json={"metadata": {"name": "team-a", "labels": labels}})
            body = {"apiVersion": "batch/v1", "kind": "Job", **manifest}
            where = "/apis/batch/v1/namespaces/team-a/jobs"
            (await client.post(where, params={"fieldManager": manager}, json=body)).raise_for_status()

        yield cluster, put


@asynccontextmanager
async def without_http() -> AsyncIterator[tuple[Cluster, Any]]:
    async with houses.house("direct") as house:

        async def put(manifest: dict[str, Any], manager: str) -> None:
            labels = made("team-a", BASELINE)
            await house.cluster.create("Namespace.v1", {"metadata": {"name": "team-a", "labels": labels}})
            by = [{"manager": manager, "fieldsV1": {}}]
            await house.cluster.create(JOB, {**manifest, "metadata": {**manifest["metadata"], "managedFields": by}})

        yield house.cluster, put


HOUSES = [in_memory, over_http, without_http]
EACH = pytest.mark.parametrize("house", HOUSES, ids=["memory", "kubernetes", "without HTTP"])
OTHERS = {
    "without a seal": (job("team-a"), "kubectl-create"),
    "without a seal, by one who calls itself fairway": (job("team-a"), "fairway"),
    "with another seal": (wanted(**{SEAL: "v1 j1/1 00 bb"}), "fairway"),
    "with a seal that was copied, by somebody else": (wanted(), "kubectl-create"),
}


@EACH
@pytest.mark.parametrize(("theirs", "manager"), OTHERS.values(), ids=list(OTHERS))
async def test_an_object_that_somebody_made_beforehand_is_not_adopted(house: Any, theirs: Any, manager: str) -> None:
    async with house() as (cluster, put):
        await put(theirs, manager)
        with pytest.raises(ClusterRefused) as refused:
            await cluster.apply(JOB, wanted())
        assert refused.value.code == "NoSeal"
        assert "somebody else made it" in refused.value.text


@EACH
async def test_the_own_object_is_adopted(house: Any) -> None:
    async with house() as (cluster, _):
        first = await cluster.apply(JOB, wanted())
        again = await cluster.apply(JOB, wanted())
        assert (again.uid, first.adopted, again.adopted) == (first.uid, False, True)
