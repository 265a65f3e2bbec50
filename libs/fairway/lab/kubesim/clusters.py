"""Simulated clusters in this process, each on its own port of 127.0.0.1."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping, Sequence
from typing import Any

from aiohttp import web

from fairway.domain.tenancy.member_namespace import made
from fairway.domain.tenancy.profile import BASELINE
from fairway.lab.kubesim.api.api import ClusterApi, ensure_namespace
from fairway.lab.kubesim.api.builtin import EVERYTHING
from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.api.metadata import SimClock, Uids
from fairway.lab.kubesim.api.registry import Registry
from fairway.lab.kubesim.api.store import ObjectStore
from fairway.lab.kubesim.control import Control
from fairway.lab.kubesim.faults import Faults
from fairway.lab.kubesim.http import access_reviews, certificate
from fairway.lab.kubesim.http.authorization import Authorizer
from fairway.lab.kubesim.http.identities import Identity
from fairway.lab.kubesim.http.requests import MOST_BYTES, Server
from fairway.lab.kubesim.kubelet import Kubelet
from fairway.lab.kubesim.nodes import NodeGroup
from fairway.lab.kubesim.operators import OPERATORS
from fairway.lab.kubesim.operators.driver import Driver
from fairway.lab.kubesim.scheduler import Scheduler

# A job's run time when nothing says otherwise.
DEFAULT_RUN_MS = 1000


def kubeconfig(name: str, url: str, certificate: bytes, token: str) -> Json:
    """For kubectl and the client libraries; JSON is YAML."""
    trusted = base64.b64encode(certificate).decode()
    server = {"server": url, **({"certificate-authority-data": trusted} if trusted else {})}
    context = {"cluster": name, "user": name, "namespace": "default"}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": server}],
        "users": [{"name": name, "user": {"token": token} if token else {}}],
        "contexts": [{"name": name, "context": context}],
        "current-context": name,
    }


class SimCluster:
    """One cluster: `api` for reads and writes without HTTP, `control` for failures on demand. Without `identities` it
    asks nobody who they are, over plain HTTP; with them it has TLS."""

    def __init__(
        self, name: str, labels: Mapping[str, str], clock: SimClock, seed: str, identities: Sequence[Identity] = ()
    ) -> None:
        self.name = name
        self.labels = dict(labels)
        self.identities = tuple(identities)
        self.url = ""
        self.faults = Faults()
        kinds = (*EVERYTHING, *access_reviews.RESOURCES) if identities else EVERYTHING
        self.api = ClusterApi(ObjectStore(), Registry(kinds), clock, Uids(f"{seed}/{name}"))
        self.driver: Driver | None = None
        self.control = Control(self.api, self.faults, None)
        self._runner: web.ServerRunner | None = None
        ensure_namespace(self.api, "kube-system")

    def run_jobs(self, default_run_ms: int) -> None:
        """From now on pods are placed and run, and jobs have operators."""
        # Given to its tenant, as `fairway join --adopt-namespaces default` does it: people try things out there.
        ensure_namespace(self.api, "default", made("default", BASELINE))
        Scheduler(self.api.store)
        kubelet = Kubelet(self.api, self.name, default_run_ms)
        self.control = Control(self.api, self.faults, kubelet)
        self.driver = Driver(self.api, OPERATORS)

    @property
    def certificate(self) -> bytes:
        """What clients are to trust, in PEM; nothing where nobody logs in."""
        return certificate.pair().certificate if self.identities else b""

    async def serve(self, port: int) -> str:
        ensure_namespace(self.api, "default")
        server = Server(self.api, self.faults, self.control.answer, Authorizer(self.identities))
        self._runner = web.ServerRunner(
            web.Server(server.handle, request_factory=_request, access_log=None), shutdown_timeout=0.1
        )
        await self._runner.setup()
        secured = certificate.serving() if self.identities else None
        site = web.TCPSite(self._runner, "127.0.0.1", port, ssl_context=secured)
        await site.start()
        self.url = f"{'https' if secured else 'http'}://127.0.0.1:{self._runner.addresses[0][1]}"
        return self.url

    async def stop(self) -> None:
        self.faults.restore()
        self.faults.cut()
        if self.driver:
            self.driver.close()
        if self._runner:
            await self._runner.cleanup()


def _request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
    # aiohttp's own factory, with the body limit of a real API server in place of 1 MiB.
    return web.BaseRequest(
        message, payload, protocol, writer, task, asyncio.get_running_loop(), client_max_size=MOST_BYTES
    )


class KubeSim:
    """`clock.now()` gives milliseconds for timestamps; run times count on the loop's clock.

    `seed` makes uids: equal seeds give equal uids, so give each run its own where uids are remembered
    elsewhere.
    """

    def __init__(self, clock: SimClock, default_run_ms: int = DEFAULT_RUN_MS, seed: str = "kubesim") -> None:
        self._clock = clock
        self._default_run_ms = default_run_ms
        self._seed = seed
        self._known: dict[str, Sequence[Identity]] = {}
        self.clusters: dict[str, SimCluster] = {}

    def admit(self, name: str, identities: Sequence[Identity]) -> None:
        """The cluster of this name is to ask who comes, from its start on: these may."""
        self._known[name] = identities

    async def start_cluster(
        self,
        name: str,
        *,
        nodes: Sequence[NodeGroup] = (),
        labels: Mapping[str, str] | None = None,
        controllers: bool = True,
        port: int = 0,
    ) -> str:
        """Its URL. A hub is a cluster without nodes and controllers: objects lie there. Port 0 is any
        free one."""
        cluster = SimCluster(name, labels or {}, self._clock, self._seed, self._known.get(name, ()))
        if controllers:
            cluster.run_jobs(self._default_run_ms)
        for group in nodes:
            cluster.control.add_nodes(group)
        url = await cluster.serve(port)
        self.clusters[name] = cluster
        return url

    def kubeconfig(self, name: str) -> Json:
        """The user is the first of the identities."""
        cluster = self.clusters[name]
        token = cluster.identities[0].token if cluster.identities else ""
        return kubeconfig(name, cluster.url, cluster.certificate, token)

    async def stop(self) -> None:
        await asyncio.gather(*(cluster.stop() for cluster in self.clusters.values()))
        self.clusters.clear()
