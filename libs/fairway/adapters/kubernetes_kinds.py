"""Which path serves a kind: asked of the API once, and again when a path is no longer there."""

from collections.abc import Sequence
from urllib.parse import quote

import msgspec
from msgspec import Struct

from fairway.adapters.kubernetes_http import Http, Refusal, Request
from fairway.runtime.ports import ClusterRefused
from fairway.wire.reasons import Code


class NotServed(ClusterRefused):
    def __init__(self, kind: str) -> None:
        super().__init__(Code.KIND_NOT_SERVED, f"{kind} is not served here; install its operator (CRDs) first")


class Resource(Struct, frozen=True):
    """A kind as the API serves it below `base`, which is `/api/v1` or `/apis/<group>/<version>`."""

    kind: str
    api_version: str
    base: str
    plural: str
    namespaced: bool

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Without a name the collection, without a namespace that of the whole cluster."""
        parts = [self.base]
        if self.namespaced and namespace:
            parts += ["namespaces", quote(namespace, safe="")]
        parts += [quote(part, safe="") for part in (self.plural, name, subresource) if part]
        return "/".join(parts)


class _Entry(Struct):
    name: str
    kind: str
    namespaced: bool = True


class _Entries(Struct):
    resources: list[_Entry] | None = None


def split(kind: str) -> tuple[str, str]:
    """`PyTorchJob.kubeflow.org/v1` → (`PyTorchJob`, `kubeflow.org/v1`); `Pod.v1` → (`Pod`, `v1`)."""
    name, _, api_version = kind.partition(".")
    if not name or not api_version:
        raise ValueError(f"{kind!r} is not a kind; write Kind.group/version, such as Job.batch/v1 or Pod.v1")
    return name, api_version


class Kinds:
    def __init__(self, http: Http) -> None:
        self._http = http
        self._known: dict[str, dict[str, Resource]] = {}

    async def find(self, kind: str, fresh: bool = False) -> Resource:
        """NotServed when the API does not know the kind; `fresh` asks it again."""
        name, api_version = split(kind)
        known = self._known.get(api_version, {})
        if fresh or name not in known:
            known = await self._ask(api_version)
        if name not in known:
            raise NotServed(kind)
        return known[name]

    async def served(self, kinds: Sequence[str]) -> tuple[str, ...]:
        """Those of `kinds` that the API serves now, sorted; one request per group and version."""
        served = {}
        for api_version in sorted({split(kind)[1] for kind in kinds}):
            served[api_version] = await self._ask(api_version)
        return tuple(sorted(kind for kind in kinds if split(kind)[0] in served[split(kind)[1]]))

    async def _ask(self, api_version: str) -> dict[str, Resource]:
        base = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        self._known.pop(api_version, None)
        try:
            entries = msgspec.json.decode(await self._http.call(Request("GET", base)), type=_Entries)
        except Refusal as error:
            if error.status != 404:
                raise
            return {}
        except msgspec.DecodeError as error:
            raise ClusterRefused("BadDiscovery", f"{base} is not a list of resources: {error}") from error
        found = {
            entry.kind: Resource(entry.kind, api_version, base, entry.name, entry.namespaced)
            for entry in entries.resources or ()
            if "/" not in entry.name
        }
        self._known[api_version] = found
        return found
