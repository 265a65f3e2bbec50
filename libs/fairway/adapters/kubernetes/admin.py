"""What the cluster port has no word for: the objects of a join, its token, and who a cluster is."""

import base64
import random
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Self

import msgspec
from msgspec import Struct

from fairway.adapters.kubernetes.http import MERGE, METADATA_LIST, Http, HttpRefusal, Request
from fairway.adapters.kubernetes.kinds import Kinds
from fairway.adapters.kubernetes.kubeconfig import Json, connect
from fairway.adapters.kubernetes.responses import value
from fairway.runtime.cluster_port import ClusterRefused

# Its uid is as old as the cluster, and no other cluster has it.
_BIRTHMARK = "kube-system"
_MANAGER = "fairway-join"
# Objects of a page: a node that has seen many images has some 50 KiB.
_PAGE = "100"
_APPLY = "application/apply-patch+yaml"  # JSON is YAML


# Of a kind that is not there (any more), or cannot be listed by anybody, as a SubjectAccessReview.
_HOLDS_NOTHING = (404, 405)


class Unlisted(ClusterRefused):
    """Nobody can say with these credentials what is there of `kind`."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__("Unlisted", f"{kind} cannot be listed: {why}")


class Version(Struct, frozen=True):
    """`git` is the server's own word for it, such as v1.34.4+k3s1."""

    number: tuple[int, int]
    git: str


class TokenLife(Struct, frozen=True):
    """Of a token, in milliseconds since 1970, and the service account that it stands for."""

    begins: int
    ends: int
    namespace: str
    account: str


class Admin:
    """An API with credentials that may do all of this. Raises ClusterRefused and Unreachable."""

    def __init__(self, http: Http) -> None:
        self._http = http
        self._kinds = Kinds(http)

    @classmethod
    @asynccontextmanager
    async def open(cls, name: str, config: Json, loopback: bool) -> AsyncIterator[Self]:
        """`config` is a checked kubeconfig."""
        http = Http(name, await connect(config, loopback), random.Random(name))
        try:
            yield cls(http)
        finally:
            await http.close()

    async def version(self) -> Version:
        said = value("/version", await self._http.call(Request("GET", "/version")))
        # Some providers write `34+`.
        number = [int("".join(re.findall(r"[0-9]+", str(said.get(part, "")))[:1]) or 0) for part in ("major", "minor")]
        return Version((number[0], number[1]), str(said.get("gitVersion", "")))

    async def uid(self) -> str:
        found = await self.get({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _BIRTHMARK}})
        return str((found or {}).get("metadata", {}).get("uid", ""))

    async def served(self, kinds: tuple[str, ...]) -> tuple[str, ...]:
        return await self._kinds.served(kinds)

    async def get(self, manifest: Json) -> Json | None:
        path = await self._path(manifest)
        data = await self._http.found(Request("GET", path))
        return None if data is None else value(path, data)

    async def metadata(self, kind: str, selector: str = "") -> list[Json]:
        """The metadata of every object of a kind, in all namespaces."""
        path = (await self._kinds.find(kind)).path()
        query = {"labelSelector": selector} if selector else {}
        data = await self._http.call(Request("GET", path, query, accept=METADATA_LIST))
        found: list[Json] = value(path, data).get("items") or []
        return found

    async def objects(self, kind: str) -> AsyncIterator[Json]:
        """Every object of a kind, in all namespaces, page by page."""
        path = (await self._kinds.find(kind)).path()
        token = ""
        while True:
            query = {"limit": _PAGE, **({"continue": token} if token else {})}
            page = value(path, await self._http.call(Request("GET", path, query)))
            for one in page.get("items") or ():
                yield one
            token = str((page.get("metadata") or {}).get("continue") or "")
            if not token:
                return

    async def contents(self, namespace: str) -> list[tuple[str, str]]:
        """Kind and name of some objects of every kind in a namespace. Unlisted where one kind might hold what these
        credentials are not shown."""
        found = []
        resources, unknown = await self._kinds.every()
        if unknown:
            raise Unlisted(f"the kinds of {unknown[0]}", "the API behind it does not answer")
        for resource in resources:
            if not resource.namespaced:
                continue
            try:
                request = Request("GET", resource.path(namespace), {"limit": "3"}, accept=METADATA_LIST)
                items = value(request.path, await self._http.call(request)).get("items") or ()
            except HttpRefusal as error:
                if error.status not in _HOLDS_NOTHING:
                    raise Unlisted(f"{resource.kind}.{resource.api_version}", error.text) from error
                continue
            found += [(resource.kind, str(one["metadata"]["name"])) for one in items]
        return found

    async def unlabel(self, namespace: str, labels: Iterable[str]) -> None:
        body = {"metadata": {"labels": dict.fromkeys(labels)}}
        await self._http.call(Request("PATCH", f"/api/v1/namespaces/{namespace}", body=body, content=MERGE))

    async def refused(self, manifest: Json) -> str:
        """Why these credentials may not create the object, by a trial that creates nothing; empty when they may."""
        path = (await self._path(manifest)).rpartition("/")[0]
        try:
            await self._http.call(Request("POST", path, {"dryRun": "All"}, manifest))
        except HttpRefusal as error:
            return error.text
        return ""

    async def put(self, manifest: Json) -> None:
        """Makes the object be as it says here, whoever wrote it before."""
        query = {"fieldManager": _MANAGER, "force": "true"}
        await self._http.call(Request("PATCH", await self._path(manifest), query, manifest, _APPLY))

    async def remove(self, manifest: Json) -> None:
        await self._http.found(Request("DELETE", await self._path(manifest)))

    async def _path(self, manifest: Json) -> str:
        resource = await self._kinds.find(f"{manifest['kind']}.{manifest['apiVersion']}")
        metadata = manifest["metadata"]
        return resource.path(metadata.get("namespace", ""), metadata["name"])

    async def token(self, namespace: str, account: str, seconds: int) -> str:
        return await request_token(self._http, namespace, account, seconds)


async def request_token(http: Http, namespace: str, account: str, seconds: int) -> str:
    """A token of the service account; the server may make its life shorter than was asked."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": seconds}}
    said = value(path, await http.call(Request("POST", path, body=body)))
    token = (said.get("status") or {}).get("token")
    if not isinstance(token, str) or not token:
        raise ClusterRefused("NoToken", f"the API gave no token for {namespace}/{account}; is TokenRequest served?")
    return token


def life_of(token: str) -> TokenLife | None:
    """From the token itself; None when it is no service account's or has no end. Its signature is not looked at."""
    try:
        payload = token.split(".")[1]
        claims: dict[str, Any] = msgspec.json.decode(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        system, kind, namespace, account = str(claims["sub"]).split(":")
        if (system, kind) != ("system", "serviceaccount"):
            return None
        return TokenLife(int(claims["iat"]) * 1000, int(claims["exp"]) * 1000, namespace, account)
    except (IndexError, ValueError, KeyError, TypeError, msgspec.DecodeError, RecursionError):
        return None
