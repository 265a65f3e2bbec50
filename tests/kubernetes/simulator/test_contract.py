"""The promises of the cluster port, kept by a real API server: the very tests that the simulator passes."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from itertools import count
from typing import Any

import pytest

from fairway.adapters.kubernetes.cluster import KubernetesCluster, Options
from fairway.runtime.cluster_port import Cluster, ClusterRefused
from tests.contract.cluster_port.test_cluster_port import *  # noqa: F403 - every one of them
from tests.contract.cluster_port.test_namespaces import *  # noqa: F403 - every one of them
from tests.contract.cluster_port.test_servers import *  # noqa: F403 - every one of them
from tests.contract.cluster_port.test_told_changes import *  # noqa: F403 - every one of them
from tests.contract.cluster_port.test_watch import *  # noqa: F403 - every one of them
from tests.kubernetes.support.fleet import until
from tests.kubernetes.support.own import Own, crd
from tests.kubernetes.troubles.meddler import Meddler, refusal
from tests.support.cluster_ports import ABSENT, CRD, House
from tests.support.simulated import JOB, KINDS, QUICK, job

Json = dict[str, Any]
_numbers = count()
_REFUSALS = {"503": (503, "ServiceUnavailable"), "429": (429, "TooManyRequests")}
_CRDS = "apiextensions.k8s.io/v1/customresourcedefinitions"
_PATHS = {
    "ConfigMap.v1": "v1/namespaces/{team}/configmaps",
    "Namespace.v1": "v1/namespaces",
    "CustomResourceDefinition.apiextensions.k8s.io/v1": _CRDS,
    ABSENT: "example.org/v1/namespaces/{team}/absents",
}


class Real:
    """A namespace of a real member, seen through somebody who can spoil the connection."""

    served = KINDS[:2]

    def __init__(self, own: Own, meddler: Meddler, cluster: KubernetesCluster) -> None:
        self.cluster = cluster
        self._own = own
        self._meddler = meddler
        self._api = own.api("near")
        self.team = f"team-{os.getpid()}-{next(_numbers)}"
        labels = {"fairway.io/tenant": self.team}
        self._api.create("v1/namespaces", {"metadata": {"name": self.team, "labels": labels}})

    def refuse(self, mode: str, for_ms: int = 0) -> None:
        if mode == "reset":
            self._meddler.reset = True
        else:
            code, reason = _REFUSALS[mode]
            self._meddler.fault = lambda request: (
                refusal(code, reason, Retry_After="1") if code == 429 else refusal(code, reason)
            )
        self._meddler.cut()
        if for_ms:
            asyncio.get_running_loop().call_later(for_ms / 1000, self.restore)

    def restore(self) -> None:
        self._meddler.restore()

    async def behind(self, do: str, kind: str, name: str, body: Json | None = None) -> None:
        path = _PATHS[kind].format(team=self.team)
        if do == "delete":
            self._api.delete(f"{path}/{name}")
            return
        for _ in range(100):
            with suppress(AssertionError):  # a kind that was defined a moment ago is served a moment later
                self._api.create(path, body or {})
                return
            await asyncio.sleep(0.1)
        self._api.create(path, body or {})

    async def forget(self) -> None:
        """As a server that was away while etcd was compacted."""
        self._own.kill_api("near")
        self._own.compact()
        self._own.start_api("near")


@pytest.fixture(scope="module")
def torch(own: Own) -> Iterator[None]:
    """A kind that the member does not serve before and after these tests."""
    own.api("near").create(_CRDS, crd("kubeflow.org", "PyTorchJob"))
    yield
    own.api("near").delete(f"{_CRDS}/pytorchjobs.kubeflow.org")


@pytest.fixture
async def house(own: Own, torch: None) -> AsyncIterator[House]:
    async with Meddler(own.plane("near").kubeconfig) as meddler:
        cluster = await KubernetesCluster.from_kubeconfig("m1", meddler.kubeconfig, Options(KINDS, pace=QUICK))
        one = Real(own, meddler, cluster)
        try:
            yield one
        finally:
            await cluster.close()
            for name in own.api("near").items("v1/namespaces", labelSelector="fairway.io/tenant"):
                own.api("near").delete(f"v1/namespaces/{name['metadata']['name']}")
            own.api("near").delete(f"{_CRDS}/{CRD['metadata']['name']}")


async def test_a_server_that_is_real_says_its_version(own: Own) -> None:
    assert own.api("near").get("/version")["gitVersion"].startswith("v1.34")


async def test_a_namespace_that_was_deleted_is_made_anew_with_its_labels(house: Real, own: Own) -> None:
    team = f"{house.team}-anew"
    api = own.api("near")
    await house.cluster.apply(JOB, job(team))
    api.delete(f"v1/namespaces/{team}")
    until(lambda: api.get(f"v1/namespaces/{team}") is None, "it is gone")
    await _applied(house.cluster, job(team, "again"))
    labels = (api.get(f"v1/namespaces/{team}") or {})["metadata"]["labels"]
    assert (labels["fairway.io/tenant"], labels["pod-security.kubernetes.io/enforce"]) == (team, "baseline")


async def _applied(cluster: Cluster, manifest: dict[str, Any]) -> None:
    """The API server goes on taking a namespace for terminating for a moment after it is gone."""
    async with asyncio.timeout(30):
        while True:
            try:
                await cluster.apply(JOB, manifest)
                return
            except ClusterRefused as error:
                if error.code != "NamespaceTerminating":
                    raise
            await asyncio.sleep(0.1)
