"""The cluster port on a real Kubernetes API: JSON and msgspec over the library's client, never its typed models
(a typed pod costs 560 µs to read, a raw one 5)."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from fairway.adapters.kubernetes import kubeconfig as config
from fairway.adapters.kubernetes.admin import request_token
from fairway.adapters.kubernetes.attempt_pods import AttemptPods
from fairway.adapters.kubernetes.create import Creator
from fairway.adapters.kubernetes.decoders import ObjectFields
from fairway.adapters.kubernetes.http import JSON, MERGE, STEPS, Http, HttpRefusal, Request
from fairway.adapters.kubernetes.kinds import Kinds, NotServed
from fairway.adapters.kubernetes.namespaces import Namespaces
from fairway.adapters.kubernetes.remove import Removal, Remover
from fairway.adapters.kubernetes.responses import value
from fairway.adapters.kubernetes.watch import Reflector, Scope, WatchPace
from fairway.runtime.cluster_port import Applied, Change

if TYPE_CHECKING:
    from kubernetes_asyncio.client import ApiClient

Json = dict[str, Any]


class Options(Struct, frozen=True):
    """`kinds` are those `served` asks for, as `Kind.group/version`; `seed` spreads the waits of many processes.
    `shapes`: for a kind, the fields that its watches tell, in place of whole manifests (`decoders.ObjectFields`), but
    for those whose selector is one of `whole`. `fields`: for a kind, the field selector of its watches. Without
    `loopback` a server on this machine itself is refused."""

    kinds: tuple[str, ...] = ()
    seed: int = 0
    pace: WatchPace = WatchPace()
    shapes: dict[str, type[Struct]] = {}
    whole: tuple[str, ...] = ()
    fields: dict[str, str] = {}
    loopback: bool = True


_DEFAULT = Options()


class KubernetesCluster:
    """Open with `from_kubeconfig` or `in_cluster`; all calls and watches share one pool of connections."""

    def __init__(self, name: str, client: ApiClient, options: Options) -> None:
        self.name = name
        self._options = options
        self._http = Http(name, client, random.Random(f"{name}/{options.seed}"))
        self._kinds = Kinds(self._http)
        self._namespaces = Namespaces(name, self._http)
        self._creator = Creator(self._http, self._kinds, self._namespaces)
        self._remover = Remover(self._http, self._kinds, self._reflector)
        self._watches: set[Reflector] = set()

    @classmethod
    async def from_kubeconfig(
        cls, name: str, source: str | Path | Json, options: Options = _DEFAULT
    ) -> KubernetesCluster:
        """`source` is a file or its content. BadKubeconfig names the field that is not accepted."""
        checked = config.read(source, loopback=options.loopback)
        return cls(name, await config.connect(checked, options.loopback), options)

    async def renew(self, source: str | Path | Json) -> None:
        """Goes on with another kubeconfig for the same API: a rotated token, a new CA, another address."""
        checked = config.read(source, loopback=self._options.loopback)
        await self._http.use(await config.connect(checked, self._options.loopback))

    @classmethod
    async def in_cluster(cls, name: str, options: Options = _DEFAULT, folder: Path = config.POD) -> KubernetesCluster:
        """For a process that runs in a pod of that cluster; its token and CA lie in `folder`."""
        return cls(name, config.connect_in_cluster(folder), options)

    async def apply(self, kind: str, manifest: Json, level: str = "") -> Applied:
        return await self._creator.apply(kind, manifest, level)

    async def create(self, kind: str, manifest: Json) -> None:
        await self._creator.create(kind, manifest)

    async def review(self, kind: str, body: Json) -> Json:
        resource = await self._kinds.find(kind)
        found: Json = value(kind, await self._http.call(Request("POST", resource.path(), body=body)))
        return found

    async def drop(self, kind: str, namespace: str, name: str) -> None:
        # Else a batch Job keeps its pods, and with a finalizer itself, where nobody collects garbage.
        await self._one(kind, (namespace, name, ""), "DELETE", {"propagationPolicy": "Background"})

    async def delete(self, kind: str, namespace: str, name: str, labels: dict[str, str], wait_s: float) -> bool:
        what = Removal(kind, namespace, name, labels)
        return await self._namespaces.granted(namespace, lambda: self._remover.remove(what, wait_s))

    async def discard(self, kind: str, namespace: str, labels: dict[str, str], name: str = "") -> None:
        what = Removal(kind, namespace, name, labels)
        await self._namespaces.granted(namespace, lambda: self._remover.discard(what))

    async def mark_pods(self, namespace: str, labels: dict[str, str], notes: dict[str, str]) -> None:
        pods = AttemptPods(self._http, self._kinds, namespace, labels)
        await self._namespaces.granted(namespace, lambda: pods.mark(notes))

    async def shorten(self, namespace: str, labels: dict[str, str], grace_s: int) -> None:
        pods = AttemptPods(self._http, self._kinds, namespace, labels)
        await self._namespaces.granted(namespace, lambda: pods.shorten(grace_s))

    async def get(self, kind: str, namespace: str, name: str) -> Json | None:
        return await self._one(kind, (namespace, name, ""), "GET")

    async def patch(
        self, kind: str, namespace: str, name: str, body: Json | list[Json], subresource: str = ""
    ) -> Json | None:
        where = (namespace, name, subresource)
        return await self._namespaces.granted(namespace, lambda: self._one(kind, where, "PATCH", body))

    async def _one(
        self, kind: str, where: tuple[str, str, str], method: str, body: Json | list[Json] | None = None
    ) -> Json | None:
        """None when the object is not there. An API that does not serve the kind has none of it to read either, but
        refuses whoever wants to change one."""
        content = STEPS if isinstance(body, list) else MERGE if method == "PATCH" else JSON
        for age in (float("inf"), 0.0):
            try:
                resource = await self._kinds.find(kind, age)
                data = await self._http.call(Request(method, resource.path(*where), body=body, content=content))
                found: Json = value(f"{self.name} {method} {kind} {'/'.join(filter(None, where))}", data)
                return found
            except HttpRefusal as error:
                if error.status != 404:
                    raise
                if error.named:
                    return None
            except NotServed:
                if method != "GET":
                    raise
                return None
        return None

    async def watch(self, kind: str, selector: str = "", namespace: str = "") -> AsyncGenerator[Change, None]:
        watched = self._reflector(Scope(kind, selector, namespace, fields=self._options.fields.get(kind, "")))
        self._watches.add(watched)
        try:
            async with aclosing(watched.changes()) as changes:
                async for change in changes:
                    yield change
        finally:
            self._watches.discard(watched)

    def lacking(self) -> list[str]:
        """Which of the kinds that are watched could not be listed though the API answers, and why."""
        return sorted({f"{self.name}: {one.lacks}" for one in self._watches if one.lacks})

    def _reflector(self, scope: Scope) -> Reflector:
        whole = scope.selector in self._options.whole
        shape = ObjectFields(None if whole else self._options.shapes.get(scope.kind))
        return Reflector(self._http, self._kinds, scope, self._options.pace, shape)

    async def token(self, namespace: str, account: str, seconds: int) -> str:
        """Another token of the service account, if this one may ask for it."""
        return await request_token(self._http, namespace, account, seconds)

    async def raw(self, path: str) -> bytes:
        """What the server answers to a GET of this path, such as `/metrics`."""
        return await self._http.call(Request("GET", path))

    async def served(self) -> tuple[str, ...]:
        return await self._kinds.served(self._options.kinds)

    async def close(self) -> None:
        await self._http.close()
