"""Which path serves a kind: asked of the API once, and again when a path is no longer there, or none was."""

import asyncio
from collections.abc import Sequence
from typing import TypeVar
from urllib.parse import quote

import msgspec
from msgspec import Struct

from fairway.adapters.kubernetes.http import Failing, Http, HttpRefusal, Request
from fairway.domain.text.decoding import decoded
from fairway.domain.text.foreign_json import readable
from fairway.runtime.cluster_port import ClusterRefused
from fairway.wire.reasons import Code

T = TypeVar("T")

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
# Who finds a kind missing asks again, but not all of them one after the other.
_YOUNG_S = 0.5
# Stands for all of them: what is known of groups comes with one question.
_ANY_GROUP = "apps/v1"


class NotServed(ClusterRefused):
    def __init__(self, kind: str) -> None:
        super().__init__(Code.KIND_NOT_SERVED, f"{kind} is not served here; install its operator (CRDs) first")


class ServedResource(Struct, frozen=True):
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


class _Gvk(Struct):
    kind: str = ""


class _Served(Struct, rename="camel"):
    resource: str
    response_kind: _Gvk | None = None
    scope: str = "Namespaced"


class _Version(Struct):
    """`freshness` Stale: the API behind it does not answer, and the resources are not known."""

    version: str
    resources: list[_Served] | None = None
    freshness: str = "Current"


class _GroupName(Struct):
    name: str = ""


class _Group(Struct):
    metadata: _GroupName
    versions: list[_Version] | None = None


class _GroupVersion(Struct, rename="camel"):
    group_version: str


class _PlainGroup(Struct):
    versions: list[_GroupVersion] | None = None


class _Groups(Struct):
    """`items` are those of aggregated discovery (Kubernetes 1.27 and later); an older API answers with another `kind`,
    and tells its `groups`."""

    kind: str = ""
    items: list[_Group] | None = None
    groups: list[_PlainGroup] | None = None


class Kinds:
    """Kinds of groups come with one question, which costs next to nothing as long as the answer is the same (ETag):
    it can be asked every second or two. Those of the core API (`v1`) do not come and go."""

    def __init__(self, http: Http) -> None:
        self._http = http
        self._known: dict[str, dict[str, ServedResource]] = {}
        self._tag = ""
        self._asked_at = float("-inf")
        self._asking = asyncio.Lock()
        self._one_by_one = False
        self._stale: set[str] = set()

    async def find(self, kind: str, age: float = float("inf")) -> ServedResource:
        """NotServed when the API does not know the kind; what is known may be `age` seconds old."""
        name, api_version = split(kind)
        known = self._known.get(api_version, {})
        if name not in known or self._age() > age:
            known = (await self._fresh([api_version], min(age, _YOUNG_S))).get(api_version, {})
        if name not in known:
            raise NotServed(kind)
        return known[name]

    async def served(self, kinds: Sequence[str]) -> tuple[str, ...]:
        """Those of `kinds` that the API serves now, sorted."""
        known = await self._fresh(sorted({split(kind)[1] for kind in kinds}), 0.0)
        return tuple(sorted(kind for kind in kinds if split(kind)[0] in known.get(split(kind)[1], {})))

    async def every(self) -> tuple[list[ServedResource], list[str]]:
        """Of the core API and of every group, in each version; and the versions whose kinds nobody tells, because the
        API behind them does not answer."""
        await self._fresh(["v1", _ANY_GROUP], 0.0)
        unknown = sorted(self._stale)
        if self._one_by_one:
            unknown = []
            for version in await self._versions():
                try:
                    self._known[version] = await self._ask(version)
                except (HttpRefusal, Failing):
                    unknown.append(version)
        return [one for found in self._known.values() for one in found.values()], unknown

    async def _versions(self) -> list[str]:
        """Those of groups, from an API without aggregated discovery."""
        data = await self._http.call(Request("GET", "/apis"))
        groups = _decoded("/apis", data, _Groups).groups or ()
        return [version.group_version for group in groups for version in group.versions or ()]

    def _age(self) -> float:
        return asyncio.get_running_loop().time() - self._asked_at

    async def _fresh(self, versions: Sequence[str], age: float) -> dict[str, dict[str, ServedResource]]:
        """Many may ask at once; the API is asked once for all who came before it was."""
        came = asyncio.get_running_loop().time()
        async with self._asking:
            if self._asked_at < came and self._age() > age and any("/" in one for one in versions):
                asked = asyncio.get_running_loop().time()
                await self._ask_groups()
                self._asked_at = asked
            for version in versions:
                if version not in self._known and ("/" not in version or self._one_by_one):
                    self._known[version] = await self._ask(version)
        return self._known

    async def _ask_groups(self) -> None:
        if not self._one_by_one:
            data, tag = await self._http.tagged(Request("GET", "/apis", accept=_AGGREGATED, known=self._tag))
            if not data:
                return
            groups = _decoded("/apis", data, _Groups)
            self._one_by_one = groups.kind != "APIGroupDiscoveryList"
            if not self._one_by_one:
                self._known = self._read(groups)
                self._tag = tag
        if self._one_by_one:
            self._known = {version: found for version, found in self._known.items() if "/" not in version}

    def _read(self, groups: _Groups) -> dict[str, dict[str, ServedResource]]:
        known = {version: found for version, found in self._known.items() if "/" not in version}
        self._stale = stale = set()
        for group in groups.items or ():
            for version in group.versions or ():
                at = f"{group.metadata.name}/{version.version}"
                if version.freshness == "Stale":
                    stale.add(at)
                    if at in self._known:
                        known[at] = self._known[at]
                        continue
                known[at] = {
                    one.response_kind.kind: ServedResource(
                        one.response_kind.kind, at, f"/apis/{at}", one.resource, one.scope == "Namespaced"
                    )
                    for one in version.resources or ()
                    if one.response_kind is not None
                }
        return known

    async def _ask(self, api_version: str) -> dict[str, ServedResource]:
        base = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        data = await self._http.found(Request("GET", base))
        entries = _Entries() if data is None else _decoded(base, data, _Entries)
        return {
            entry.kind: ServedResource(entry.kind, api_version, base, entry.name, entry.namespaced)
            for entry in entries.resources or ()
            if "/" not in entry.name
        }


def _decoded(path: str, data: bytes, shape: type[T]) -> T:
    try:
        return decoded(msgspec.json.Decoder(shape).decode, readable(data))
    except msgspec.DecodeError as error:
        raise ClusterRefused("BadDiscovery", f"{path} is not a list of what is served: {error}") from error
